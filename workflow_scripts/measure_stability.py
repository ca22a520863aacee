from headtypes.files import write_json
from headtypes.partitions import read_partition
from headtypes.stability import measure_stability
from headtypes.storage import read_distance
from headtypes.workflow import job

with job(snakemake) as (inputs, spec, outputs, made):
    distance = read_distance(inputs.features, spec.pop("windows"))
    labels = read_partition(inputs.partition).table["cluster"].to_numpy()
    write_json(outputs.stability, {**measure_stability(distance, labels, **spec), "made": made})
