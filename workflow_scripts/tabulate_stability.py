from headtypes.planning.job import job, warn
from headtypes.analyses.types.partitions import read_partition
from headtypes.core.files import numbered_rows, read_json, write_text
from headtypes.core.markdown import to_html
from headtypes.core.table_files import write_csv
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
    page = stability_page(table, rows, published)
    write_csv(outputs.csv, table)
    write_text(outputs.markdown, page)
    write_text(outputs.html, to_html(page, provenance))
