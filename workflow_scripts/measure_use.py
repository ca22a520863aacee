from headtypes.planning.job import job
from headtypes.analyses.use.finders import read_found
from headtypes.analyses.use.measure import measure_task_use, measure_use
from headtypes.core.table_files import write_parquet
from headtypes.data.kinds.registry import read_rows
from headtypes.data.windows import read_windows
from headtypes.models.records import read_model_record

with job(snakemake) as (inputs, spec, outputs, _):
    found, texts = read_found(inputs.searched, inputs.test, inputs.guesses, **spec.pop("listed"))
    model = read_model_record(inputs.model)
    if inputs.windows:
        rows, windows = read_rows(inputs.texts, spec["kind"]), read_windows(inputs.windows)
        losses = measure_task_use(found, rows, windows, model, **spec)
    else:
        losses = measure_use(found, texts, model, **spec)
    write_parquet(outputs.losses, losses)
