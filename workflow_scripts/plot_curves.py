from headtypes.workflow.job import job
from headtypes.ablation.curve_files import read_curves
from headtypes.figures.curves import curves_figure
from headtypes.figures.style import save_figure
from headtypes.types.partitions import read_partition

with job(snakemake) as (inputs, spec, outputs, provenance):
    figure = curves_figure(read_curves(inputs.curves), read_partition(inputs.partition))
    save_figure(figure, outputs.pdf, outputs.png, provenance)
