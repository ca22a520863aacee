from snakemake_job import job
from headtypes.analyses.distances.columns import attention_groups
from headtypes.analyses.distances.results import read_head_features
from headtypes.analyses.norms.compare import compare_divisions, shares_table
from headtypes.analyses.types.partitions import read_partition
from headtypes.core.table_files import write_csv

with job(snakemake) as (inputs, spec, outputs, _):
    read = {of: read_head_features(inputs.features, **reading) for of, reading in spec["features"].items()}
    groups, (_, shape) = {of: attention_groups(features) for of, (features, _) in read.items()}, read["weights"]
    write_csv(outputs.heads, shares_table(**groups, shape=shape))
    divisions = {
        name: {of: read_partition(inputs.partitions[partition]) for of, partition in pair.items()}
        for name, pair in spec["divisions"].items()
    }
    write_csv(outputs.types, compare_divisions(divisions))
