from headtypes.figures.comparison import comparison_table
from headtypes.figures.models import models_figure
from headtypes.figures.style import save_figure
from headtypes.files import write_csv
from headtypes.partitions import read_partition
from headtypes.workflow import job

with job(snakemake) as (inputs, spec, outputs, made):
    parents = dict(spec["parents"])
    partitions = dict(zip(parents, map(read_partition, inputs.partitions), strict=True))
    comparison = comparison_table(partitions, parents)
    write_csv(outputs.csv, comparison)
    save_figure(models_figure(partitions, comparison), outputs.pdf, outputs.png, made)
