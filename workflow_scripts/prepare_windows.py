from headtypes.files import read_json_lines
from headtypes.sources import load_tokenizer, read_model_record
from headtypes.windows import build_windows, write_windows
from headtypes.workflow import job

with job(snakemake) as (inputs, spec, outputs, made):
    model = read_model_record(inputs.model)
    questions = read_json_lines(inputs.questions)
    windows = build_windows(questions, load_tokenizer(model), limit=model["limit"], **spec)
    write_windows(outputs.windows, windows, made)
