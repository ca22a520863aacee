from headtypes.curve_tables import read_curves
from headtypes.figures.curves import curves_figure
from headtypes.figures.style import save_figure
from headtypes.partitions import read_partition
from headtypes.workflow import job

with job(snakemake) as (inputs, spec, outputs, made):
    figure = curves_figure(read_curves(inputs.curves), read_partition(inputs.partition))
    save_figure(figure, outputs.pdf, outputs.png, made)
