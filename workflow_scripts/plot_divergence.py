from headtypes.planning.job import job
from headtypes.analyses.divergence.results import read_projection, read_projection_fit
from headtypes.analyses.surface.results import read_surface
from headtypes.analyses.types.partitions import read_partition
from headtypes.core.style import save_figure
from headtypes.papers.clark2019.figures.figure6 import divergence_figure
from headtypes.papers.clark2019.language.best import best_heads
from headtypes.papers.clark2019.published import read_clark2019
from headtypes.papers.clark2019.statistics import behaviours_of, whole_statistics

with job(snakemake) as (inputs, spec, outputs, provenance):
    published = read_clark2019(inputs.reference)
    statistics = whole_statistics(read_surface(inputs.surface), None, published)
    behaviours = behaviours_of(published.behaviours.rules, statistics)
    partition = read_partition(inputs.partition) if inputs.partition else None
    best = best_heads(list(inputs.relations.values()), list(inputs.coreference.values()))
    figure = divergence_figure(
        read_projection(inputs.projection), read_projection_fit(inputs.fit), behaviours, partition, best
    )
    save_figure(figure, outputs.pdf, outputs.png, provenance)
