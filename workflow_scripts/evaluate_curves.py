from headtypes.ablation.curves import evaluate_curves
from headtypes.ablation.importance_files import read_importance
from headtypes.base.table_files import write_csv
from headtypes.models.records import read_model_record
from headtypes.tasks.kinds import read_rows
from headtypes.tasks.windows import read_windows
from headtypes.types.partitions import read_partition
from headtypes.workflow.job import job

with job(snakemake) as (inputs, spec, outputs, _):
    curves = evaluate_curves(
        read_rows(inputs.questions, spec["kind"]),
        read_windows(inputs.windows),
        read_partition(inputs.partition),
        read_model_record(inputs.model),
        read_importance(inputs.importance),
        **spec,
    )
    write_csv(outputs.curves, curves)
