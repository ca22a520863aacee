"""Of the attention that `mass_...` takes, how much `drop_...` takes as well?

    PYTHONPATH=workflow_scripts python mass_overlap.py RESULTS > mass_overlap.csv

RESULTS: of a run with mass.yaml. One draw for each condition that drops attention in config.yaml, on 40 questions.
"""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import yaml

from headtypes.analyses.ablation.controls import same_mass
from headtypes.analyses.ablation.evaluation import Settings, evaluate_all, read_answered
from headtypes.attention import ablate
from headtypes.attention.operations import operations_by_head
from headtypes.data.windows import draw_part

RESULTS, KIND = Path(sys.argv[1]), "question_answering"
FILES = {
    "model": "sources/models/local.json",
    "partition": "partitions/local/squad_local-kmeans-k4.csv",
    "windows": "windows/local/squad_local.h5",
}
taken_of_all, as_much = [], ablate._as_much


def counted(attention, dropped, candidates, order):
    """`ablate._as_much`, and the sums of what is dropped and taken, of what is taken, and of all."""
    taken = as_much(attention, dropped, candidates, order)
    taken_of_all.append([float(part.sum()) for part in (taken * dropped, taken, attention)])
    return taken


ablate._as_much = counted
inputs = SimpleNamespace(**{name: RESULTS / path for name, path in FILES.items()})
rows, windows, partition, record = read_answered(RESULTS / "questions/squad_local.jsonl", inputs, KIND)
rows, windows = draw_part(rows, windows, 40, 1)
settings = Settings(kind=KIND, precision="float32", batch_tokens=4096, max_answer_length=30)
table = []
for condition, operations in yaml.safe_load(Path("config.yaml").read_text())["conditions"].items():
    if condition.startswith("drop_"):
        taken_of_all.clear()
        by_head = same_mass(operations_by_head(partition.type_of, operations, condition), 3)
        evaluate_all(rows, windows, record, [by_head], None, settings, condition)
        same, taken, every = np.sum(taken_of_all, axis=0)
        table.append([condition, len(rows), 100 * same / taken, 100 * taken / every])
columns = ["condition", "questions", "same_percent", "taken_percent"]
pd.DataFrame(table, columns=columns).round(1).to_csv(sys.stdout, index=False)
