from headtypes.workflow.job import job
from headtypes.ablation.controls import evaluate_controls
from headtypes.ablation.head_output_files import read_head_outputs
from headtypes.answering.answers import write_scores
from headtypes.models.records import read_model_record
from headtypes.tasks.kinds import read_rows
from headtypes.tasks.windows import read_windows
from headtypes.types.partitions import read_partition

with job(snakemake) as (inputs, spec, outputs, provenance):
    scores = evaluate_controls(
        read_rows(inputs.questions, spec["kind"]),
        read_windows(inputs.windows),
        read_partition(inputs.partition),
        read_model_record(inputs.model),
        read_head_outputs(inputs.head_outputs),
        **spec,
    )
    write_scores(outputs.scores, scores, provenance)
