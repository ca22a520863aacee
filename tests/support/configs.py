"""A configuration that uses every key, so that every key matters to some job, small edits of it, and jobs' specs."""

import copy
from pathlib import Path
from typing import Any

from headtypes.core.files import canonical_json
from headtypes.core.stage import wildcards_of
from headtypes.planning.config import read_config
from headtypes.planning.plan import RESULTS, STAGES, Plan

DELETE = object()


def full_config(folder: Path) -> dict:
    """A configuration with every key; its files, and another of each kind (`other.json`), are put into `folder`."""
    json = ("squad", "train", "made", "made_train", "other", "model/config", "other_model/config")
    treebanks = ("dev", "train", "test", "other", "stories/a", "other_stories/a")
    for name, text in {
        **{f"{name}.json": "{}" for name in json},
        **{f"{name}.conllu": "" for name in treebanks},
        **dict.fromkeys(("choices.jsonl", "other.jsonl"), "{}\n"),
        **dict.fromkeys(("pairs.tsv", "other.tsv"), "a\tb\tgold\tnumber\tx\n"),
        "texts/a.txt": "One.\n\nTwo.\n",
        "texts/b.txt": "Three.\n\nFour.\n",
        "other_texts/a.txt": "Five.\n\nSix.\n",
        "vectors.txt": "the 1 2\n",
        "other_vectors.txt": "the 2 1\n",
        **{f"{name}.py": f"class {name.title()}(HeadAnalysis): pass\n" for name in ("reach", "other")},
        "mine.csv": "layer, head, type\n0, 0, near\n0, 1, far\n",
        "other.csv": "layer, head, type\n0, 0, far\n0, 1, near\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return {
        "seed": 1,
        "tasks": {
            "squad": {
                "kind": "question_answering",
                "source": {"file": str(folder / "squad.json"), "training_file": str(folder / "train.json")},
                "samples": 10,
                "questions": 20,
            },
            "asked": {
                "source": {"hub": "some/questions", "name": "plain", "revision": "abc", "split": "validation"},
                "questions": "all",
            },
            "made": {"source": {"file": str(folder / "made.json"), "training_file": str(folder / "made_train.json")}},
            "pairs": {
                "kind": "sentence_pair",
                "source": {"file": str(folder / "pairs.tsv")},
                "columns": {"first": "a", "second": "b", "label": "gold", "id": "number"},
                "labels": {"yes": 1},
                "questions": 15,
            },
            "chosen": {
                "kind": "multiple_choice",
                "source": {"file": str(folder / "choices.jsonl")},
                "columns": {"question": "a", "choices": "b", "answer": "c", "id": "number"},
            },
            "paragraphs": {
                "kind": "text",
                "source": {"folder": str(folder / "texts")},
                "samples": 12,
                "divided_by": ["weights"],
                "max_seq_length": 64,
            },
            "bank": {
                "kind": "treebank",
                "source": {
                    "file": str(folder / "dev.conllu"),
                    "training_file": str(folder / "train.conllu"),
                    "test_file": str(folder / "test.conllu"),
                },
                "max_seq_length": 48,
            },
            "stories": {"kind": "coreference", "source": {"folder": str(folder / "stories")}, "max_seq_length": 40},
        },
        "models": {
            "base": {
                "source": {"hub": "some/model", "revision": "main", "sha256": "0" * 64, "pickle": True},
                "family": "first",
                "repeat_of": "base",
                "tasks": ["squad", "pairs"],
                "evaluate": "pairs",
                "published": {"guan2020": "pre-trained"},
            },
            "tuned+1.0": {
                "source": {"folder": str(folder / "model")},
                "parent": "base",
                "tasks": ["squad"],
                "evaluate": "squad",
                "published": {"guan2020": "squad"},
            },
            "packed": {
                "source": {"package": "json", "subfolder": "model", "gguf": "model.gguf"},
                "memory": {"gpu": 70.0, "cpu": 200.0},
                "tasks": ["asked", "chosen"],
                "evaluate": "asked",
            },
            "taught": {
                "source": {
                    "finetuned": {
                        "base": "base",
                        "task": "made",
                        "learning_rate": 1e-4,
                        "batch_size": 16,
                        "epochs": 2.5,
                        "max_seq_length": 128,
                        "freeze_embeddings": True,
                        "dropout": False,
                        "bf16": False,
                    }
                },
                "tasks": ["made"],
            },
            "kin-{seed}": {"source": {"hub": "some/kin-{seed}"}, "tasks": ["squad"], "over": {"seed": "1-2"}},
            # Each source of training data has a model that learns from it.
            "schooled": {"source": {"finetuned": {"base": "taught", "task": "asked"}}, "tasks": ["made"]},
            "trained": {
                "source": {"finetuned": {"base": "base", "task": "squad"}},
                "tasks": ["made", "paragraphs", "bank", "stories"],
            },
            "copying": {"source": {"trained": {"layers": 2}}},
        },
        "clustering": {
            "of": ["weights"],
            "methods": ["kmeans"],
            "k": [3, 4],
            "distance_bins": 16,
            "scale": False,
            "restarts": 5,
            "first_token": True,
        },
        "partitions": {"mine": {"file": str(folder / "mine.csv"), "model": "tuned+1.0", "task": "squad"}},
        "analyses": {
            "reach": {
                "file": str(folder / "reach.py"),
                "parameters": {"least": 3},
                "inputs": {"features": "results/features/{model}/{task}.h5"},
            }
        },
        "windows": {"max_seq_length": 100, "doc_stride": 20, "max_query_length": 30, "max_answer_length": 10},
        "ablation": {
            "sentences": "splitter",
            "special_tokens": "neither",
            "renormalise": False,
            "uniform_over_padding": False,
        },
        # Each leaves to `ablation` what the other says, so that one is laid over it in every key.
        "readings": {
            "segments": {"sentences": "segments", "renormalise": True},
            "padded": {"special_tokens": "inter", "uniform_over_padding": True},
        },
        "conditions": {
            "baseline": {},
            "zero-dense": {"dense": "zero", "vertical": "keep"},
            "drop-near": {"near": "drop_intra"},
            "mixed": {"dense": "uniform", "2-3": "mean"},
        },
        "controls": {"draws": 2, "questions": 5, "conditions": ["zero-dense", "mixed"]},
        "company": {"sets": 12, "per_layer": 1, "questions": 5, "operation": "zero"},
        "relations": {"least": 20},
        "coreference": {"documents": "chunks"},
        "probes": {"vectors": str(folder / "vectors.txt"), "sentences": 30, "seeds": 2, "root": "first"},
        "gradients": {"samples": 7},
        "detectors": {"models": ["tuned+1.0", "copying"]},
        "tests": {"claims": ["stated", "inferred"], "types": ["gradients", "relations"]},
        "compute": {"precision": "float32", "batch_tokens": 1024},
        "select": {
            "models": ["base", "tuned+1.0", "packed", "taught", "schooled", "trained", "copying"],
            "tasks": ["squad", "asked", "pairs", "chosen", "made", "paragraphs", "bank", "stories"],
            "conditions": ["baseline", "zero-dense", "drop-near", "mixed"],
        },
    }


def edited(config: dict, path: str, value: Any) -> dict:
    """A copy of a configuration in which the key at `path`, a/b/c, has another value, or is gone."""
    config = copy.deepcopy(config)
    *above, key = [int(part) if part.isdecimal() else part for part in path.split("/")]
    part = config
    for name in above:
        part = part[name]
    if value is DELETE:
        del part[key]
    else:
        part[key] = value
    return config


def leaves(part: Any, path: str = "") -> dict[str, Any]:
    if not isinstance(part, dict):
        return {path: part}
    return {at: value for key in part for at, value in leaves(part[key], f"{path}/{key}" if path else str(key)).items()}


def jobs_with_results(plan: Plan) -> dict[tuple, set[str]]:
    """The results of every job of a plan in which nothing is idle: (rule, its wildcards) -> paths."""
    jobs: dict[tuple, set[str]] = {}
    for result in RESULTS:
        for entry in result.of(plan) if result.of else ():
            wildcards = wildcards_of(result.path, entry)
            made = jobs.setdefault((result.rule, *wildcards.values()), set())
            made.update(path.format(**wildcards) for path in result.paths)
    return jobs


def all_specs(raw: dict) -> dict[tuple, str]:
    """The spec of every job of a configuration in which nothing is idle: (rule, its wildcards) -> canonical JSON."""
    plan = Plan(read_config(raw))
    return {job: canonical_json(STAGES[job[0]].spec(plan, *job[1:])) for job in jobs_with_results(plan)}
