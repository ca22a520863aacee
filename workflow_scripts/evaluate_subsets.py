from headtypes.planning.job import job
from headtypes.analyses.ablation.results import write_scores
from headtypes.analyses.effects.draws import evaluate_subsets
from headtypes.data.kinds.registry import read_rows
from headtypes.data.windows import read_windows
from headtypes.models.records import read_model_record

with job(snakemake) as (inputs, spec, outputs, provenance):
    questions, windows = read_rows(inputs.questions, spec["kind"]), read_windows(inputs.windows)
    scores = evaluate_subsets(questions, windows, read_model_record(inputs.model), **spec)
    write_scores(outputs.subsets, scores, provenance)
