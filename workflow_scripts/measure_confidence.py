from headtypes.planning.job import job
from headtypes.analyses.distances.results import read_distance
from headtypes.analyses.types.confidence import head_confidence
from headtypes.analyses.types.partitions import read_partition
from headtypes.core.files import write_json
from headtypes.core.table_files import write_csv

with job(snakemake) as (inputs, spec, outputs, provenance):
    seed = spec.pop("seed")
    distance = read_distance(inputs.features, **spec.pop("features"))
    heads, clusterings = head_confidence(distance, read_partition(inputs.partition), spec, seed=seed)
    write_csv(outputs.heads, heads)
    write_json(outputs.clusterings, {**clusterings, "provenance": provenance})
