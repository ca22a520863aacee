from headtypes.files import read_json_lines
from headtypes.finetuning import finetune_model
from headtypes.sources import read_model_record
from headtypes.workflow import job

with job(snakemake) as (inputs, spec, outputs, _):
    finetune_model(read_model_record(inputs.base), read_json_lines(inputs.rows), outputs.folder, **spec)
