from headtypes.planning.job import job
from headtypes.analyses.types.partitions import read_partition
from headtypes.comparisons.models.descent import read_comparison
from headtypes.core.files import read_each
from headtypes.core.style import save_figure
from headtypes.papers.guan2020.figures.figure4 import models_figure
from headtypes.papers.guan2020.published import read_guan2020

with job(snakemake) as (inputs, spec, outputs, provenance):
    partitions = read_each(read_partition, inputs.partitions)
    published = {name: share.percent for name, share in read_guan2020(inputs.reference).shares.types.items()}
    figure = models_figure(partitions, read_comparison(inputs.comparison), published)
    save_figure(figure, outputs.pdf, outputs.png, provenance)
