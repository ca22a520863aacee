from headtypes.planning.job import job
from headtypes.analyses.ablation.intervals import condition_intervals
from headtypes.analyses.ablation.results import read_scores
from headtypes.core.table_files import write_csv

with job(snakemake) as (inputs, spec, outputs, _):
    write_csv(outputs.intervals, condition_intervals(read_scores(inputs.scores), **spec))
