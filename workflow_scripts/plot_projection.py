from headtypes.workflow.job import job
from headtypes.figures.style import save_figure
from headtypes.papers.guan2020.figure2 import projection_figure
from headtypes.types.embedding import read_embedding
from headtypes.types.partitions import read_partition

with job(snakemake) as (inputs, spec, outputs, provenance):
    figure = projection_figure(read_embedding(inputs.places), read_partition(inputs.partition))
    save_figure(figure, outputs.pdf, outputs.png, provenance)
