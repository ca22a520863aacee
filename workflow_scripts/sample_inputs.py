from headtypes.workflow.job import job
from headtypes.tasks.kinds import read_rows
from headtypes.tasks.records import write_records
from headtypes.tasks.sampling import sample_inputs

with job(snakemake) as (inputs, spec, outputs, _):
    write_records(outputs.samples, sample_inputs(read_rows(inputs.rows, spec["kind"]), **spec))
