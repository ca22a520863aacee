from headtypes.base.files import write_json, write_json_lines
from headtypes.tasks.fetching import fetch_task
from headtypes.workflow.job import job

with job(snakemake) as (inputs, spec, outputs, _):
    rows, record = fetch_task(**spec)
    write_json_lines(outputs.rows, rows)
    write_json(outputs.record, record)
