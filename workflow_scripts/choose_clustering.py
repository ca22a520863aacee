from headtypes.workflow.job import job
from headtypes.base.table_files import write_csv
from headtypes.features.columns import FINE_BINS
from headtypes.features.feature_files import read_distance
from headtypes.types.choice import compare_clusterings

with job(snakemake) as (inputs, spec, outputs, _):
    distance = read_distance(inputs.features, FINE_BINS, spec.pop("first_token", True))
    choice = compare_clusterings(distance, **spec)
    write_csv(outputs.ways, choice.table)
    write_csv(outputs.agreement, choice.agreement)
    write_csv(outputs.best, choice.best)
