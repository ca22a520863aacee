from headtypes.files import read_json, write_csv, write_text
from headtypes.markdown import to_html
from headtypes.partitions import read_partition
from headtypes.readings import readings_page, readings_table
from headtypes.reference import load_reference
from headtypes.results import by_key, read_intervals_of
from headtypes.workflow import job

with job(snakemake) as (inputs, spec, outputs, made):
    table = readings_table(
        spec["rows"],
        spec["readings"],
        by_key(spec["partitions"], map(read_partition, inputs.partitions)),
        [read_json(path) for path in inputs.metrics],
        load_reference(inputs.reference),
        read_intervals_of(spec["rows"], inputs.scores, spec["seed"]),
    )
    page = readings_page(table)
    write_csv(outputs.csv, table)
    write_text(outputs.markdown, page)
    write_text(outputs.html, to_html(page, made))
