from headtypes.planning.job import job
from headtypes.analyses.ablation.evaluation import evaluate_part
from headtypes.analyses.ablation.head_output_files import read_head_outputs
from headtypes.analyses.types.partitions import read_partition
from headtypes.data.answering.answers import write_scores
from headtypes.data.kinds.registry import read_rows
from headtypes.data.windows import read_windows
from headtypes.models.records import read_model_record

with job(snakemake) as (inputs, spec, outputs, provenance):
    found = evaluate_part(
        read_rows(inputs.questions, spec["kind"]),
        read_windows(inputs.windows),
        read_partition(inputs.partition),
        read_model_record(inputs.model),
        read_head_outputs(inputs.head_outputs),
        **spec,
    )
    write_scores(outputs.found, found, provenance)
