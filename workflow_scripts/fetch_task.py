from snakemake_job import job
from headtypes.core.files import write_json
from headtypes.data.fetching import fetch_task
from headtypes.data.records import write_records

with job(snakemake) as (inputs, spec, outputs, _):
    rows, record = fetch_task(**spec)
    write_records(outputs.rows, rows)
    write_json(outputs.record, record)
