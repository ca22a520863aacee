from headtypes.figures.atlas import atlas_figure
from headtypes.figures.style import save_figure
from headtypes.map_storage import read_maps
from headtypes.partitions import read_partition
from headtypes.workflow import job

with job(snakemake) as (inputs, spec, outputs, made):
    save_figure(atlas_figure(read_maps(inputs.maps), read_partition(inputs.partition)), outputs.pdf, outputs.png, made)
