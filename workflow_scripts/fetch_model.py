from script_job import job
from headtypes.models.architectures import check_model
from headtypes.models.fetching import fetch_model
from headtypes.models.records import write_model_record

with job(snakemake) as (_, spec, outputs, _):
    model = fetch_model(**spec)
    check_model(model)
    write_model_record(outputs.model, model)
