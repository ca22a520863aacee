from headtypes.planning.job import job, warn
from headtypes.analyses.types.partitions import read_partition
from headtypes.core.files import numbered_rows, read_json
from headtypes.core.markdown import write_table
from headtypes.papers.guan2020.published import read_guan2020
from headtypes.papers.guan2020.shown import stability_page
from headtypes.papers.guan2020.tables import shortages, stability_table

with job(snakemake) as (inputs, spec, outputs, provenance):
    published = read_guan2020(inputs.reference)
    keys = [(row["model"], row["partition"]) for row in spec["rows"]]
    partitions = [read_partition(inputs.partitions[key]) for key in keys]
    stabilities = [read_json(inputs.stabilities[key]) for key in keys]
    rows = [
        row | {"samples": sum(1 for _ in numbered_rows(inputs.counted[row["model"], row["partition"]]))}
        for row in spec["rows"]
    ]
    table = stability_table(rows, partitions, stabilities, published)
    warn(provenance, shortages(table))
    write_table(outputs, table, stability_page(table, rows, published), provenance)
