from headtypes.workflow.job import job
from headtypes.models.records import read_model_record
from headtypes.tasks.kinds import read_rows
from headtypes.training.finetuning import finetune_model

with job(snakemake) as (inputs, spec, outputs, _):
    finetune_model(read_model_record(inputs.base), read_rows(inputs.rows, spec["kind"]), outputs.folder, **spec)
