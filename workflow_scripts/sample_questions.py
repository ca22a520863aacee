from headtypes.workflow.job import job
from headtypes.base.files import read_json_lines, write_json_lines
from headtypes.tasks.sampling import sample_questions

with job(snakemake) as (inputs, spec, outputs, _):
    write_json_lines(outputs.questions, sample_questions(read_json_lines(inputs.rows), **spec))
