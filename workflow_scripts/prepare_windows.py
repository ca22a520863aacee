from headtypes.workflow.job import job
from headtypes.answering.examples import prepare_windows
from headtypes.models.fetching import load_tokenizer
from headtypes.models.records import read_model_record
from headtypes.tasks.kinds import read_rows
from headtypes.tasks.windows import write_windows

with job(snakemake) as (inputs, spec, outputs, provenance):
    model = read_model_record(inputs.model)
    rows, tokenizer = read_rows(inputs.questions, spec["kind"]), load_tokenizer(model)
    windows = prepare_windows(rows, tokenizer, record=model, max_length=model.max_length, **spec)
    write_windows(outputs.windows, windows, provenance)
