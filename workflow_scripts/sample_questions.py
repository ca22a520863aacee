from snakemake_job import job
from headtypes.core.files import read_json_lines, write_json_lines
from headtypes.data.sampling import sample_questions

with job(snakemake) as (inputs, spec, outputs, _):
    write_json_lines(outputs.questions, sample_questions(read_json_lines(inputs.rows), **spec))
