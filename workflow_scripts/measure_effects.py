from headtypes.planning.job import job
from headtypes.analyses.distances.columns import attention_groups
from headtypes.analyses.distances.results import read_head_features
from headtypes.analyses.effects.measure import measure_effects
from headtypes.analyses.effects.results import read_subsets
from headtypes.core.table_files import write_csv

with job(snakemake) as (inputs, spec, outputs, _):
    read = {of: read_head_features(inputs.features, **reading) for of, reading in spec.pop("features").items()}
    groups = {of: attention_groups(features) for of, (features, _) in read.items()}
    _, shape = read["weights"]
    for name, table in measure_effects(read_subsets(inputs.subsets), groups, shape, **spec)._asdict().items():
        write_csv(getattr(outputs, name), table)
