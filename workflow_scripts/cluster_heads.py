from headtypes.clustering import cluster_heads, partition_of
from headtypes.files import write_json
from headtypes.partitions import write_partition
from headtypes.storage import read_head_features
from headtypes.workflow import job, warn

with job(snakemake) as (inputs, spec, outputs, made):
    features, shape = read_head_features(inputs.features, spec.pop("windows"))
    clustering = cluster_heads(features, **spec)
    warn(made, clustering.naming.warnings)
    write_json(outputs.naming, {**clustering.naming.as_dict(), "made": made})
    write_partition(outputs.partition, partition_of(clustering, features, shape))
