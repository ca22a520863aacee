from headtypes.planning.job import job
from headtypes.analyses.distances.columns import FINE_BINS
from headtypes.analyses.distances.results import read_distance
from headtypes.analyses.types.choice import compare_clusterings
from headtypes.core.table_files import write_csv

with job(snakemake) as (inputs, spec, outputs, _):
    distance = read_distance(inputs.features, FINE_BINS, spec.pop("first_token", True), spec.pop("of", "weights"))
    choice = compare_clusterings(distance, **spec)
    write_csv(outputs.ways, choice.table)
    write_csv(outputs.agreement, choice.agreement)
    write_csv(outputs.best, choice.best)
