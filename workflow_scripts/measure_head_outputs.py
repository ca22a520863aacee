from snakemake_job import job
from headtypes.analyses.ablation.head_outputs import measure_head_outputs
from headtypes.analyses.ablation.results import write_head_outputs
from headtypes.data.records import Sample, read_records
from headtypes.models.records import read_model_record

with job(snakemake) as (inputs, spec, outputs, provenance):
    head_outputs = measure_head_outputs(read_records(inputs.samples, Sample), read_model_record(inputs.model), **spec)
    write_head_outputs(outputs.head_outputs, head_outputs, provenance)
