from headtypes.contexts import read_contexts
from headtypes.evaluation import evaluate_part
from headtypes.files import read_json_lines
from headtypes.partitions import read_partition
from headtypes.scoring import write_scores
from headtypes.sources import read_model_record
from headtypes.windows import read_windows
from headtypes.workflow import job

with job(snakemake) as (inputs, spec, outputs, made):
    found = evaluate_part(
        read_json_lines(inputs.questions),
        read_windows(inputs.windows),
        read_partition(inputs.partition),
        read_model_record(inputs.model),
        read_contexts(inputs.contexts),
        **spec,
    )
    write_scores(outputs.found, found, made)
