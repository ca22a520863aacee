from snakemake_job import job
from headtypes.data.kinds.registry import read_rows
from headtypes.data.records import write_records
from headtypes.data.sampling import sample_inputs

with job(snakemake) as (inputs, spec, outputs, _):
    write_records(outputs.samples, sample_inputs(read_rows(inputs.rows, spec["kind"]), **spec))
