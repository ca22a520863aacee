from snakemake_job import job
from headtypes.analyses.ablation.importance import measure_importance
from headtypes.core.table_files import write_csv
from headtypes.data.kinds.registry import read_rows
from headtypes.data.windows import read_windows
from headtypes.models.records import read_model_record

with job(snakemake) as (inputs, spec, outputs, _):
    questions, windows = read_rows(inputs.questions, spec["kind"]), read_windows(inputs.windows)
    write_csv(outputs.importance, measure_importance(questions, windows, read_model_record(inputs.model), **spec))
