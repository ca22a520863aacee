from headtypes.workflow.job import job
from headtypes.features.divergence_files import read_plane
from headtypes.figures.style import save_figure
from headtypes.joined.figure import joined_figure
from headtypes.joined.table import read_joined
from headtypes.types.partitions import read_partition

with job(snakemake) as (inputs, spec, outputs, provenance):
    planes = dict(zip(spec["planes"], map(read_plane, inputs.planes), strict=True))
    figure = joined_figure(read_joined(inputs.joined), read_partition(inputs.partition), planes)
    save_figure(figure, outputs.pdf, outputs.png, provenance)
