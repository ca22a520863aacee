from headtypes.models.architectures import check_model
from headtypes.models.fetching import fetch_model
from headtypes.models.records import write_model_record
from headtypes.workflow.job import job

with job(snakemake) as (inputs, spec, outputs, _):
    model = fetch_model(**spec, finetuned=inputs.finetuned)
    check_model(model)
    write_model_record(outputs.model, model)
