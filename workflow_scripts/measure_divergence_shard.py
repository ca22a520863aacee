from headtypes.workflow.job import job
from headtypes.features.divergence import measure_divergence
from headtypes.features.divergence_files import write_divergence
from headtypes.models.records import read_model_record
from headtypes.tasks.records import Sample, read_records

with job(snakemake) as (inputs, spec, outputs, provenance):
    divergence = measure_divergence(read_records(inputs.samples, Sample), read_model_record(inputs.model), **spec)
    write_divergence(outputs.divergence, divergence, provenance)
