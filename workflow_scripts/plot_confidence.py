from headtypes.planning.job import job
from headtypes.analyses.types.confidence_figure import confidence_figure
from headtypes.analyses.types.partitions import read_partition
from headtypes.core.style import save_figure
from headtypes.core.table_files import read_csv

with job(snakemake) as (inputs, spec, outputs, provenance):
    confidence = read_csv(
        inputs.heads, "is not a table of heads' confidence", ["keeps_type_samples", "keeps_type_seeds"]
    )
    figure = confidence_figure(confidence, read_partition(inputs.partition))
    save_figure(figure, outputs.pdf, outputs.png, provenance)
