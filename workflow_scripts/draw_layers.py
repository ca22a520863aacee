from headtypes.figures.layers import layers_figure
from headtypes.figures.style import save_figure
from headtypes.partitions import read_partition
from headtypes.workflow import job

with job(snakemake) as (inputs, spec, outputs, made):
    save_figure(layers_figure(read_partition(inputs.partition)), outputs.pdf, outputs.png, made)
