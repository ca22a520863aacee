from headtypes.workflow.job import job
from headtypes.export.reach import measure_reach
from headtypes.export.reach_files import write_reach
from headtypes.models.records import read_model_record
from headtypes.tasks.records import Sample, read_records

with job(snakemake) as (inputs, spec, outputs, provenance):
    reach = measure_reach(read_records(inputs.samples, Sample), read_model_record(inputs.model), **spec)
    write_reach(outputs.reach, reach, provenance)
