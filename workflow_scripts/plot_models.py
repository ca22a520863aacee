from headtypes.base.files import write_csv
from headtypes.figures.style import save_figure
from headtypes.papers.guan2020.descent import comparison_table
from headtypes.papers.guan2020.figure4 import models_figure
from headtypes.types.partitions import read_partition
from headtypes.workflow.job import job

with job(snakemake) as (inputs, spec, outputs, provenance):
    parents = dict(spec["parents"])
    partitions = dict(zip(parents, map(read_partition, inputs.partitions), strict=True))
    comparison = comparison_table(partitions, parents)
    write_csv(outputs.csv, comparison)
    save_figure(models_figure(partitions, comparison), outputs.pdf, outputs.png, provenance)
