from headtypes.planning.job import job
from headtypes.analyses.types.partitions import read_partition
from headtypes.core.style import save_figure
from headtypes.papers.guan2020.figures.figures_by_type import layers_figure

with job(snakemake) as (inputs, spec, outputs, provenance):
    save_figure(layers_figure(read_partition(inputs.partition)), outputs.pdf, outputs.png, provenance)
