from headtypes.files import read_json_lines, write_json_lines
from headtypes.tasks import draw_samples
from headtypes.workflow import job

with job(snakemake) as (inputs, spec, outputs, _):
    write_json_lines(outputs.samples, draw_samples(read_json_lines(inputs.rows), **spec))
