from script_job import job
from headtypes.models.fetching import fetch_model
from headtypes.models.records import write_model_record
from headtypes.training.copying import train_model

with job(snakemake) as (_, spec, outputs, provenance):
    train_model(outputs.folder, **spec)
    write_model_record(outputs.model, fetch_model(provenance["wildcards"]["model"], {"folder": outputs.folder}))
