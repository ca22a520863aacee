from headtypes.base.files import read_json_lines
from headtypes.models.records import read_model_record
from headtypes.training.finetuning import finetune_model
from headtypes.workflow.job import job

with job(snakemake) as (inputs, spec, outputs, _):
    finetune_model(read_model_record(inputs.base), read_json_lines(inputs.rows), outputs.folder, **spec)
