from snakemake_job import job
from headtypes.analyses.ablation.curves_figure import curves_figure
from headtypes.analyses.ablation.results import read_curves
from headtypes.analyses.types.partitions import read_partition
from headtypes.core.style import save_figure

with job(snakemake) as (inputs, spec, outputs, provenance):
    figure = curves_figure(read_curves(inputs.curves), read_partition(inputs.partition))
    save_figure(figure, outputs.pdf, outputs.png, provenance)
