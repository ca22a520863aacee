from headtypes.files import write_json
from headtypes.sources import fetch_model
from headtypes.workflow import job

with job(snakemake) as (inputs, spec, outputs, _):
    write_json(outputs.model, fetch_model(**spec))
