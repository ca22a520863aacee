from headtypes.ablation.head_outputs import measure_head_outputs, write_contexts
from headtypes.models.records import read_model_record
from headtypes.tasks.records import Sample, read_records
from headtypes.workflow.job import job

with job(snakemake) as (inputs, spec, outputs, provenance):
    contexts = measure_head_outputs(read_records(inputs.samples, Sample), read_model_record(inputs.model), **spec)
    write_contexts(outputs.contexts, contexts, provenance)
