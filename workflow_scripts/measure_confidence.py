from headtypes.workflow.job import job
from headtypes.base.files import write_json
from headtypes.base.table_files import write_csv
from headtypes.features.feature_files import read_distance
from headtypes.types.confidence import head_confidence
from headtypes.types.partitions import read_partition

with job(snakemake) as (inputs, spec, outputs, provenance):
    columns, seed = (spec.pop("distance_bins"), spec.pop("first_token", True)), spec.pop("seed")
    distance = read_distance(inputs.features, *columns)
    heads, clusterings = head_confidence(distance, read_partition(inputs.partition), spec, seed=seed)
    write_csv(outputs.heads, heads)
    write_json(outputs.clusterings, {**clusterings, "provenance": provenance})
