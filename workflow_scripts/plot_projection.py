from headtypes.planning.job import job
from headtypes.analyses.types.embedding import read_embedding
from headtypes.analyses.types.partitions import read_partition
from headtypes.core.style import save_figure
from headtypes.papers.guan2020.figures.figures_by_type import projection_figure

with job(snakemake) as (inputs, spec, outputs, provenance):
    figure = projection_figure(read_embedding(inputs.places), read_partition(inputs.partition))
    save_figure(figure, outputs.pdf, outputs.png, provenance)
