from headtypes.workflow.job import job
from headtypes.figures.style import save_figure
from headtypes.papers.guan2020.figure4 import models_figure
from headtypes.types.descent import read_comparison
from headtypes.types.partitions import read_partition

with job(snakemake) as (inputs, spec, outputs, provenance):
    partitions = dict(zip(spec["models"], map(read_partition, inputs.partitions), strict=True))
    figure = models_figure(partitions, read_comparison(inputs.comparison))
    save_figure(figure, outputs.pdf, outputs.png, provenance)
