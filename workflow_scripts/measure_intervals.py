from snakemake_job import job
from headtypes.analyses.ablation.intervals import condition_intervals
from headtypes.analyses.ablation.results import read_scores
from headtypes.core.table_files import write_csv

with job(snakemake) as (inputs, spec, outputs, _):
    scores = read_scores(list(inputs.scores.values()))
    write_csv(outputs.intervals, condition_intervals(scores, conditions=list(inputs.scores), **spec))
