from script_job import job
from headtypes.data.kinds.registry import read_rows
from headtypes.models.fetching import fetch_model
from headtypes.models.records import read_model_record, write_model_record
from headtypes.training.finetuning import finetune_model

with job(snakemake) as (inputs, spec, outputs, provenance):
    finetune_model(read_model_record(inputs.base), read_rows(inputs.rows, spec["kind"]), outputs.folder, **spec)
    write_model_record(outputs.model, fetch_model(provenance["wildcards"]["model"], {"folder": outputs.folder}))
