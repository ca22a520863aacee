from script_job import job
from headtypes.analyses.divergence.results import read_projection
from headtypes.analyses.registry import ANALYSES
from headtypes.analyses.types.partitions import read_partition
from headtypes.comparisons.types.figure import compared_types_figure
from headtypes.comparisons.types.table import compare_files, read_compared_types
from headtypes.core.files import read_each
from headtypes.core.style import save_figure
from headtypes.core.table_files import write_csv

with job(snakemake) as (inputs, spec, outputs, provenance):
    files = {analysis.name: inputs[analysis.name] for analysis in ANALYSES if analysis.is_compared}
    partition = read_partition(inputs.partition)
    left_out = [
        (spec["left_out"][condition], controls, inputs.scores[condition], inputs.baseline)
        for condition, controls in inputs.controls.items()
    ]
    write_csv(outputs.compared_types, compare_files(partition, files, left_out=left_out, seed=spec["seed"]))
    projections = read_each(read_projection, inputs.projections)
    figure = compared_types_figure(read_compared_types(outputs.compared_types), partition, projections)
    save_figure(figure, outputs.pdf, outputs.png, provenance)
