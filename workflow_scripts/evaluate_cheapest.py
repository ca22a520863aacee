from headtypes.planning.job import job
from headtypes.analyses.effects.draws import evaluate_cheapest
from headtypes.analyses.effects.results import read_subsets
from headtypes.core.table_files import write_csv
from headtypes.data.kinds.registry import read_rows
from headtypes.data.windows import read_windows
from headtypes.models.records import read_model_record

with job(snakemake) as (inputs, spec, outputs, _):
    questions, windows = read_rows(inputs.questions, spec["kind"]), read_windows(inputs.windows)
    model, subsets = read_model_record(inputs.model), read_subsets(inputs.subsets)
    write_csv(outputs.cheapest, evaluate_cheapest(questions, windows, model, subsets, **spec))
