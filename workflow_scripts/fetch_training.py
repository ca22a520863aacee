from headtypes.workflow.job import job
from headtypes.base.files import write_json
from headtypes.tasks.fetching import fetch_task
from headtypes.tasks.records import write_records

with job(snakemake) as (inputs, spec, outputs, _):
    rows, record = fetch_task(**spec)
    write_records(outputs.rows, rows)
    write_json(outputs.record, record)
