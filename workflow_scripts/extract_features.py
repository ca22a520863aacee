from headtypes.workflow.job import job
from headtypes.features.extraction import write_task_features
from headtypes.models.records import read_model_record
from headtypes.tasks.records import Sample, read_records

with job(snakemake) as (inputs, spec, outputs, provenance):
    samples, model = read_records(inputs.samples, Sample), read_model_record(inputs.model)
    write_task_features(outputs.features, samples, model, inputs.parts, provenance, **spec)
