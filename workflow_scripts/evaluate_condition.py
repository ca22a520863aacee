from headtypes.contexts import read_contexts
from headtypes.evaluation import evaluate_condition, read_parts, summary
from headtypes.files import read_json_lines, write_json
from headtypes.partitions import read_partition
from headtypes.scoring import write_scores
from headtypes.sources import read_model_record
from headtypes.windows import read_windows
from headtypes.workflow import job

with job(snakemake) as (inputs, spec, outputs, made):
    predictions, scores = evaluate_condition(
        read_json_lines(inputs.questions),
        read_windows(inputs.windows),
        read_partition(inputs.partition),
        read_model_record(inputs.model),
        read_contexts(inputs.contexts),
        read_parts(inputs.parts),
        **spec,
    )
    write_json(outputs.predictions, predictions)
    write_scores(outputs.per_question, scores, made)
    write_json(outputs.metrics, {**summary(scores), "made": made})
