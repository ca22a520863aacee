from headtypes.confidence import head_confidence
from headtypes.files import write_csv, write_json
from headtypes.partitions import read_partition
from headtypes.storage import read_distance
from headtypes.workflow import job

with job(snakemake) as (inputs, spec, outputs, made):
    distance, seed = read_distance(inputs.features, spec.pop("windows")), spec.pop("seed")
    heads, clusterings = head_confidence(distance, read_partition(inputs.partition), spec, seed=seed)
    write_csv(outputs.heads, heads)
    write_json(outputs.clusterings, {**clusterings, "made": made})
