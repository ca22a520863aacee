from headtypes.base.files import read_json_lines, write_json_lines
from headtypes.tasks.fetching import sample_inputs
from headtypes.workflow.job import job

with job(snakemake) as (inputs, spec, outputs, _):
    write_json_lines(outputs.samples, sample_inputs(read_json_lines(inputs.rows), **spec))
