from snakemake_job import job, warn
from headtypes.analyses.gradients.measure import measure_answer_gradients, measure_text_gradients
from headtypes.core.table_files import write_csv
from headtypes.data.kinds.registry import read_rows
from headtypes.data.records import Sample, read_records
from headtypes.data.windows import read_windows
from headtypes.models.records import read_model_record

with job(snakemake) as (inputs, spec, outputs, provenance):
    model = read_model_record(inputs.model)
    if inputs.windows:
        rows, windows = read_rows(inputs.texts, spec["kind"]), read_windows(inputs.windows)
        gradients = measure_answer_gradients(rows, windows, model, **spec)
    else:
        gradients = measure_text_gradients(read_records(inputs.texts, Sample), model, **spec)
    warn(provenance, gradients.warnings)
    write_csv(outputs.gradients, gradients.table())
