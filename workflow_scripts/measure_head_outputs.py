from headtypes.workflow.job import job
from headtypes.ablation.head_output_files import write_head_outputs
from headtypes.ablation.head_outputs import measure_head_outputs
from headtypes.models.records import read_model_record
from headtypes.tasks.records import Sample, read_records

with job(snakemake) as (inputs, spec, outputs, provenance):
    head_outputs = measure_head_outputs(read_records(inputs.samples, Sample), read_model_record(inputs.model), **spec)
    write_head_outputs(outputs.head_outputs, head_outputs, provenance)
