from headtypes.planning.job import job
from headtypes.analyses.divergence.results import read_projection
from headtypes.analyses.types.partitions import read_partition
from headtypes.comparisons.types.figure import compared_types_figure
from headtypes.comparisons.types.table import read_compared_types
from headtypes.core.files import read_each
from headtypes.core.style import save_figure

with job(snakemake) as (inputs, spec, outputs, provenance):
    projections = read_each(read_projection, inputs.projections)
    figure = compared_types_figure(
        read_compared_types(inputs.compared_types), read_partition(inputs.partition), projections
    )
    save_figure(figure, outputs.pdf, outputs.png, provenance)
