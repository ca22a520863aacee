from headtypes.planning.job import job, warn
from headtypes.analyses.outputs.measure import measure_outputs
from headtypes.analyses.outputs.results import write_outputs
from headtypes.data.records import Sample, read_records
from headtypes.models.records import read_model_record

with job(snakemake) as (inputs, spec, outputs, provenance):
    written = measure_outputs(read_records(inputs.samples, Sample), read_model_record(inputs.model), **spec)
    warn(provenance, written.warnings)
    write_outputs(outputs.outputs, written, provenance)
