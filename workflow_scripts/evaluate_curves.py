from snakemake_job import job
from headtypes.analyses.ablation.curves import evaluate_curves
from headtypes.analyses.ablation.results import read_importance
from headtypes.analyses.types.partitions import read_partition
from headtypes.core.table_files import write_csv
from headtypes.data.kinds.registry import read_rows
from headtypes.data.windows import read_windows
from headtypes.models.records import read_model_record

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
