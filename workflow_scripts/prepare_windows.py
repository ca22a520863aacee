from snakemake_job import job
from headtypes.data.encoding import prepare_windows
from headtypes.data.kinds.registry import read_rows
from headtypes.data.windows import write_windows
from headtypes.models.fetching import load_tokenizer
from headtypes.models.records import read_model_record

with job(snakemake) as (inputs, spec, outputs, provenance):
    model = read_model_record(inputs.model)
    rows, tokenizer = read_rows(inputs.questions, spec["kind"]), load_tokenizer(model)
    windows = prepare_windows(rows, tokenizer, record=model, max_length=model.max_length, **spec)
    write_windows(outputs.windows, windows, provenance)
