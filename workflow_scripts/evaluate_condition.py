from snakemake_job import job
from headtypes.analyses.ablation.evaluation import evaluate_condition
from headtypes.analyses.ablation.results import read_head_outputs, write_scores
from headtypes.analyses.types.partitions import read_partition
from headtypes.core.files import write_json
from headtypes.data.kinds.registry import KINDS, read_rows
from headtypes.data.windows import read_windows
from headtypes.models.records import read_model_record

with job(snakemake) as (inputs, spec, outputs, provenance):
    read = (
        read_rows(inputs.questions, spec["kind"]),
        read_windows(inputs.windows),
        read_partition(inputs.partition),
        read_model_record(inputs.model),
        read_head_outputs(inputs.head_outputs),
    )
    predictions, scores = evaluate_condition(*read, **spec)
    write_json(outputs.predictions, predictions)
    write_scores(outputs.per_question, scores, provenance)
    write_json(outputs.metrics, {**KINDS[spec["kind"]].mean_scores(scores), "provenance": provenance})
