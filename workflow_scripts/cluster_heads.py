from headtypes.planning.job import job, warn
from headtypes.analyses.distances.results import read_head_features
from headtypes.analyses.types.clustering import cluster_heads, partition_of
from headtypes.analyses.types.partitions import write_partition
from headtypes.core.files import write_json

with job(snakemake) as (inputs, spec, outputs, provenance):
    features, shape = read_head_features(inputs.features, **spec.pop("features"))
    clustering = cluster_heads(features, **spec)
    warn(provenance, clustering.naming.warnings)
    write_json(outputs.naming, {**clustering.naming.as_dict(), "provenance": provenance})
    write_partition(outputs.partition, partition_of(clustering, features, shape))
