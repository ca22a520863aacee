from headtypes.curves import evaluate_curves
from headtypes.files import read_json_lines, write_csv
from headtypes.importance import read_importance
from headtypes.partitions import read_partition
from headtypes.sources import read_model_record
from headtypes.windows import read_windows
from headtypes.workflow import job

with job(snakemake) as (inputs, spec, outputs, _):
    curves = evaluate_curves(
        read_json_lines(inputs.questions),
        read_windows(inputs.windows),
        read_partition(inputs.partition),
        read_model_record(inputs.model),
        read_importance(inputs.importance),
        **spec,
    )
    write_csv(outputs.curves, curves)
