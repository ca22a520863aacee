from headtypes.planning.job import job
from headtypes.analyses.types.partitions import read_partition
from headtypes.core.files import read_each, read_json
from headtypes.core.markdown import write_table
from headtypes.papers.guan2020.published import read_guan2020
from headtypes.papers.guan2020.readings import readings_page, readings_table
from headtypes.papers.guan2020.results import read_intervals_of

with job(snakemake) as (inputs, spec, outputs, provenance):
    table = readings_table(
        spec["rows"],
        spec["readings"],
        read_each(read_partition, inputs.partitions),
        [read_json(inputs.metrics[row["model"], row["partition"], row["condition"]]) for row in spec["rows"]],
        read_guan2020(inputs.reference),
        read_intervals_of(inputs.scores, spec["seed"]),
    )
    write_table(outputs, table, readings_page(table), provenance)
