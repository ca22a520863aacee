from headtypes.workflow.job import job, warn
from headtypes.base.table_files import write_csv
from headtypes.features.gradients import measure_answer_gradients, measure_text_gradients
from headtypes.models.records import read_model_record
from headtypes.tasks.kinds import read_rows
from headtypes.tasks.records import Sample, read_records
from headtypes.tasks.windows import read_windows

with job(snakemake) as (inputs, spec, outputs, provenance):
    model = read_model_record(inputs.model)
    if inputs.windows:
        rows, windows = read_rows(inputs.texts, spec["kind"]), read_windows(inputs.windows)
        gradients = measure_answer_gradients(rows, windows, model, **spec)
    else:
        gradients = measure_text_gradients(read_records(inputs.texts, Sample), model, **spec)
    warn(provenance, gradients.warnings)
    write_csv(outputs.gradients, gradients.table())
