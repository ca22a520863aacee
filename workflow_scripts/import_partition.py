from script_job import job
from headtypes.analyses.distances.results import read_head_features
from headtypes.analyses.types.clustering import import_partition
from headtypes.analyses.types.partitions import write_partition

with job(snakemake) as (inputs, spec, outputs, _):
    features, shape = read_head_features(inputs.features, **spec)
    write_partition(outputs.partition, import_partition(inputs.table, features, shape))
