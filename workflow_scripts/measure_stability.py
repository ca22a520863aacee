from headtypes.planning.job import job
from headtypes.analyses.distances.results import read_distance
from headtypes.analyses.types.partitions import read_partition
from headtypes.analyses.types.stability import measure_stability, own_cluster_share
from headtypes.core.files import write_json

with job(snakemake) as (inputs, spec, outputs, provenance):
    distance = read_distance(inputs.features, **spec.pop("features"))
    labels = read_partition(inputs.partition).table["cluster"].to_numpy()
    stability = {**measure_stability(distance, labels, **spec), "own_cluster": own_cluster_share(distance, labels)}
    write_json(outputs.stability, {**stability, "provenance": provenance})
