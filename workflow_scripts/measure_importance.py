from headtypes.workflow.job import job
from headtypes.ablation.importance import measure_importance
from headtypes.base.table_files import write_csv
from headtypes.models.records import read_model_record
from headtypes.tasks.kinds import read_rows
from headtypes.tasks.windows import read_windows

with job(snakemake) as (inputs, spec, outputs, _):
    questions, windows = read_rows(inputs.questions, spec["kind"]), read_windows(inputs.windows)
    write_csv(outputs.importance, measure_importance(questions, windows, read_model_record(inputs.model), **spec))
