from headtypes.base.files import read_json_lines
from headtypes.models.fetching import load_tokenizer
from headtypes.models.records import read_model_record
from headtypes.tasks.pairs import prepare_windows
from headtypes.tasks.windows import write_windows
from headtypes.workflow.job import job

with job(snakemake) as (inputs, spec, outputs, provenance):
    model = read_model_record(inputs.model)
    windows = prepare_windows(
        read_json_lines(inputs.questions), load_tokenizer(model), max_length=model.max_length, **spec
    )
    write_windows(outputs.windows, windows, provenance)
