from headtypes.files import read_json, write_csv, write_text
from headtypes.markdown import to_html
from headtypes.partitions import read_partition
from headtypes.reference import load_reference
from headtypes.tables import stability_page, stability_table
from headtypes.workflow import job

with job(snakemake) as (inputs, spec, outputs, made):
    reference = load_reference(inputs.reference)
    partitions = [read_partition(path) for path in inputs.partitions]
    stabilities = [read_json(path) for path in inputs.stabilities]
    table = stability_table(spec["rows"], partitions, stabilities, reference)
    page = stability_page(table, reference)
    write_csv(outputs.csv, table)
    write_text(outputs.markdown, page)
    write_text(outputs.html, to_html(page, made))
