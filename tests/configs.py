"""A configuration that uses every key, and small edits of it."""

import copy
from pathlib import Path
from typing import Any

DELETE = object()


def full_config(folder: Path) -> dict:
    """A configuration with every key that a user can write; the files it names are put into `folder`."""
    (folder / "model").mkdir(exist_ok=True)
    (folder / "model" / "config.json").write_text("{}")
    (folder / "squad.json").write_text("{}")
    (folder / "train.json").write_text("{}")
    (folder / "pairs.tsv").write_text("a\tb\n")
    (folder / "mine.csv").write_text("layer, head, type\n0, 0, near\n0, 1, far\n")
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
                "source": {
                    "hub": "some/questions",
                    "name": "plain",
                    "revision": "abc",
                    "split": "validation",
                    "training_split": "train",
                },
                "questions": "all",
            },
            "made": {"source": {"world": "question_answering", "size": 50, "training_size": 60}},
            "pairs": {
                "kind": "sentence_pair",
                "source": {"file": str(folder / "pairs.tsv")},
                "columns": {"first": "a", "second": "b", "label": "gold", "id": "number"},
            },
        },
        "models": {
            "base": {
                "source": {"hub": "some/model", "revision": "main", "sha256": "0" * 64},
                "tasks": ["squad", "pairs"],
                "published": "pre-trained",
            },
            "tuned+1.0": {
                "source": {"folder": str(folder / "model")},
                "parent": "base",
                "tasks": ["squad"],
                "evaluate": "squad",
                "published": "squad",
            },
            "packed": {"source": {"package": "json", "subfolder": "model"}, "tasks": ["asked"]},
            "taught": {
                "source": {
                    "finetuned": {
                        "base": "base",
                        "task": "made",
                        "learning_rate": 1e-4,
                        "batch_size": 16,
                        "epochs": 2.5,
                        "warmup_share": 0.2,
                        "max_length": 128,
                        "freeze_embeddings": True,
                        "bf16": False,
                    }
                },
                "tasks": ["made"],
            },
        },
        "clustering": {"methods": ["kmeans"], "k": [3, 4], "windows": 16, "scale": False, "restarts": 5},
        "stability": {"models": 4},
        "partitions": {"mine": {"file": str(folder / "mine.csv"), "model": "tuned+1.0", "task": "squad"}},
        "windows": {"tokens": 100, "advance": 20, "question_tokens": 30, "answer_tokens": 10},
        "ablation": {"sentences": "splitter", "special_tokens": "neither", "renormalise": False},
        "conditions": {
            "baseline": {},
            "zero-dense": {"dense": "zero", "vertical": "keep"},
            "drop-near": {"near": "drop_intra"},
        },
        "compute": {"precision": "float32", "batch_tokens": 1024},
        "select": {
            "models": ["base", "tuned+1.0", "packed", "taught"],
            "tasks": ["squad", "asked", "pairs", "made"],
            "partitions": ["squad-kmeans-k3", "squad-kmeans-k4", "pairs-kmeans-k4", "asked-kmeans-k4", "mine"],
            "conditions": ["baseline", "zero-dense", "drop-near"],
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
    """The path and value of everything in a configuration that is no mapping."""
    if not isinstance(part, dict):
        return {path: part}
    return {at: value for key in part for at, value in leaves(part[key], f"{path}/{key}" if path else str(key)).items()}
