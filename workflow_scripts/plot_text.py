from script_job import job
from headtypes.analyses.divergence.projection import project_heads
from headtypes.analyses.divergence.results import Divergence
from headtypes.analyses.gradients.results import read_gradients
from headtypes.analyses.outputs.results import Outputs
from headtypes.analyses.outputs.tables import heads_table, layers_table, outputs_figure
from headtypes.analyses.surface.results import Surface
from headtypes.analyses.types.partitions import read_partition
from headtypes.core.files import write_json
from headtypes.core.hdf5_files import read_arrays
from headtypes.core.style import save_figure
from headtypes.core.table_files import write_csv
from headtypes.papers.clark2019.claims.statistics import behaviours_of, published_statistics, whole_statistics
from headtypes.papers.clark2019.figures.by_layer import entropy_figure, gradient_figure, surface_figure
from headtypes.papers.clark2019.figures.example_files import Examples
from headtypes.papers.clark2019.figures.figure6 import divergence_figure, phenomena_of_heads
from headtypes.papers.clark2019.figures.lines import examples_figure
from headtypes.papers.clark2019.published import Clark2019

with job(snakemake) as (inputs, spec, outputs, provenance):
    projection, fit = project_heads(read_arrays(inputs.divergence, Divergence), **spec["projection"])
    write_csv(outputs.projection, projection)
    write_json(outputs.fit, {**fit, "provenance": provenance})
    written = read_arrays(inputs.outputs, Outputs)
    heads, layers = heads_table(written, **spec["outputs"]), layers_table(written)
    write_csv(outputs.heads, heads)
    write_csv(outputs.layers, layers)
    published, surface = Clark2019.read(inputs.reference), read_arrays(inputs.surface, Surface)
    ours = whole_statistics(surface, None, published)
    theirs = published_statistics(published) if spec["beside"] else None
    save_figure(examples_figure(read_arrays(inputs.examples, Examples)), outputs.pdf_1, outputs.png_1, provenance)
    save_figure(surface_figure(ours, theirs), outputs.pdf_2, outputs.png_2, provenance)
    if inputs.gradients:
        figure = gradient_figure(read_gradients(inputs.gradients))
        save_figure(figure, outputs.pdf_3, outputs.png_3, provenance)
    save_figure(entropy_figure(ours, theirs), outputs.pdf_4, outputs.png_4, provenance)
    distances = divergence_figure(
        projection,
        fit,
        behaviours_of(published.behaviours, ours),
        read_partition(inputs.partition) if inputs.partition else None,
        phenomena_of_heads(list(inputs.relations.values()), list(inputs.coreference.values())),
    )
    save_figure(distances, outputs.pdf_6, outputs.png_6, provenance)
    save_figure(outputs_figure(heads, layers), outputs.pdf_outputs, outputs.png_outputs, provenance)
