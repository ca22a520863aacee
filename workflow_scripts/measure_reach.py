from headtypes.planning.job import job
from headtypes.analyses.reach.measure import measure_reach
from headtypes.analyses.reach.results import write_reach
from headtypes.data.records import Sample, read_records
from headtypes.models.records import read_model_record

with job(snakemake) as (inputs, spec, outputs, provenance):
    reach = measure_reach(read_records(inputs.samples, Sample), read_model_record(inputs.model), **spec)
    write_reach(outputs.reach, reach, provenance)
