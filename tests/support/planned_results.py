"""Results as jobs of a plan would leave them, with their records, in the working directory."""

import json
from collections.abc import Iterable
from pathlib import Path

from headtypes.core.files import canonical_json, write_text
from headtypes.planning.code import code_hash, loaded_modules
from headtypes.planning.plan import STAGES, Plan
from headtypes.planning.provenance import provenance_of, record, verified
from headtypes.training.stage import SAVED

TEXT, WEIGHTS = "Fernweh zinnober", "Gewicht zinnober"
SAMPLES, FEATURES = "results/samples/qa.jsonl", "results/features/bert/qa.h5"
TABLE, TUNED = "results/partitions/bert/qa-kmeans-k4.csv", "results/models/tuned"


def config(data: str = "qa.json", samples: int = 5) -> dict:
    return {
        "tasks": {"qa": {"source": {"file": data, "training_file": data}, "samples": samples}},
        "models": {
            "bert": {"source": {"hub": "some/bert"}, "tasks": ["qa"]},
            "tuned": {"source": {"finetuned": {"base": "bert", "task": "qa"}}, "tasks": ["qa"]},
        },
        "conditions": {},
    }


def make(plan: Plan, data: str = "qa.json") -> None:
    rows, model = "results/sources/tasks/qa.jsonl", "results/sources/models/bert.json"
    _job(plan, "fetch_task", {"task": "qa"}, [data], [rows, "results/sources/tasks/qa.json"])
    _job(plan, "sample_inputs", {"task": "qa"}, [rows], [SAMPLES])
    _job(plan, "fetch_model", {"model": "bert"}, [], [model])
    _job(plan, "finetune_model", {"model": "tuned"}, [model], [TUNED, *(f"{TUNED}/{name}" for name in SAVED)])
    _job(plan, "extract_features", {"model": "bert", "task": "qa"}, [model, SAMPLES], [FEATURES])
    of = {"model": "bert", "partition": "qa-kmeans-k4"}
    _job(plan, "cluster_heads", of, [FEATURES], [TABLE])


def _job(plan: Plan, rule: str, wildcards: dict[str, str], inputs: Iterable[str], outputs: list[str]) -> None:
    for path in outputs:
        if path == TUNED:
            Path(path).mkdir(parents=True)
        elif path.startswith(TUNED):
            write_text(path, WEIGHTS)
        elif path.endswith(".json"):
            write_text(path, json.dumps({"hub": "some/bert", "revision": "ab" * 20, "weights": {"a": "1" * 64}}))
        else:
            write_text(path, TEXT if path.endswith(".jsonl") else f"{path}\n")
    spec = json.loads(canonical_json(STAGES[rule].spec(plan, **wildcards)))
    code = code_hash(loaded_modules(STAGES[rule].calls, spec))
    record(provenance_of(rule, wildcards, spec, code, inputs), verified(inputs), outputs, threads=1)
    assert all(Path(path).exists() for path in outputs)
