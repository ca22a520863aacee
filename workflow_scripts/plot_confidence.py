from headtypes.base.table_files import read_csv
from headtypes.figures.confidence import confidence_figure
from headtypes.figures.style import save_figure
from headtypes.types.partitions import read_partition
from headtypes.workflow.job import job

with job(snakemake) as (inputs, spec, outputs, provenance):
    confidence = read_csv(
        inputs.heads, "is not a table of heads' confidence", ["keeps_type_samples", "keeps_type_seeds"]
    )
    figure = confidence_figure(confidence, read_partition(inputs.partition))
    save_figure(figure, outputs.pdf, outputs.png, provenance)
