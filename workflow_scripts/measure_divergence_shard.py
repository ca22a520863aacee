from headtypes.planning.job import job
from headtypes.analyses.divergence.measure import measure_divergence
from headtypes.analyses.divergence.results import write_divergence
from headtypes.data.records import Sample, read_records
from headtypes.models.records import read_model_record

with job(snakemake) as (inputs, spec, outputs, provenance):
    divergence = measure_divergence(read_records(inputs.samples, Sample), read_model_record(inputs.model), **spec)
    write_divergence(outputs.divergence, divergence, provenance)
