from headtypes.planning.job import job
from headtypes.analyses.divergence.results import read_plane
from headtypes.analyses.types.partitions import read_partition
from headtypes.comparisons.types.figure import joined_figure
from headtypes.comparisons.types.table import read_joined
from headtypes.core.files import read_each
from headtypes.core.style import save_figure

with job(snakemake) as (inputs, spec, outputs, provenance):
    planes = read_each(read_plane, inputs.planes)
    figure = joined_figure(read_joined(inputs.joined), read_partition(inputs.partition), planes)
    save_figure(figure, outputs.pdf, outputs.png, provenance)
