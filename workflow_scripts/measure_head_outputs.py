from headtypes.ablation.head_outputs import measure_head_outputs, write_head_outputs
from headtypes.base.files import read_json_lines
from headtypes.models.records import read_model_record
from headtypes.workflow.job import job

with job(snakemake) as (inputs, spec, outputs, provenance):
    head_outputs = measure_head_outputs(read_json_lines(inputs.samples), read_model_record(inputs.model), **spec)
    write_head_outputs(outputs.head_outputs, head_outputs, provenance)
