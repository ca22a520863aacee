from headtypes.files import read_json_lines
from headtypes.pairs import prepare_windows
from headtypes.sources import load_tokenizer, read_model_record
from headtypes.windows import write_windows
from headtypes.workflow import job

with job(snakemake) as (inputs, spec, outputs, made):
    model = read_model_record(inputs.model)
    windows = prepare_windows(read_json_lines(inputs.questions), load_tokenizer(model), limit=model["limit"], **spec)
    write_windows(outputs.windows, windows, made)
