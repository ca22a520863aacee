from headtypes.brought_partition import import_partition
from headtypes.partitions import write_partition
from headtypes.storage import read_head_features
from headtypes.workflow import job

with job(snakemake) as (inputs, spec, outputs, _):
    features, shape = read_head_features(inputs.features, **spec)
    write_partition(outputs.partition, import_partition(inputs.brought, features, shape))
