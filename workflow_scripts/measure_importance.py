from headtypes.files import read_json_lines, write_csv
from headtypes.importance import measure_importance
from headtypes.sources import read_model_record
from headtypes.windows import read_windows
from headtypes.workflow import job

with job(snakemake) as (inputs, spec, outputs, _):
    questions, windows = read_json_lines(inputs.questions), read_windows(inputs.windows)
    write_csv(outputs.importance, measure_importance(questions, windows, read_model_record(inputs.model), **spec))
