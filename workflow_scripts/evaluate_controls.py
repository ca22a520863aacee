from snakemake_job import job
from headtypes.analyses.ablation.controls import evaluate_controls
from headtypes.analyses.ablation.results import read_head_outputs, write_scores
from headtypes.analyses.types.partitions import read_partition
from headtypes.core.table_files import read_parquet
from headtypes.data.kinds.registry import read_rows
from headtypes.data.windows import read_windows
from headtypes.models.records import read_model_record

with job(snakemake) as (inputs, spec, outputs, provenance):
    scores = evaluate_controls(
        read_rows(inputs.questions, spec["kind"]),
        read_windows(inputs.windows),
        read_partition(inputs.partition),
        read_model_record(inputs.model),
        read_parquet(inputs.scores, "holds no scores", ["id"]),
        read_head_outputs(inputs.head_outputs),
        **spec,
    )
    write_scores(outputs.scores, scores, provenance)
