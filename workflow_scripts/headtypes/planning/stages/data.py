"""Where data come from, for tasks and for training alike, and how samples of them are encoded."""

from typing import Literal

from headtypes.core.seeds import derive_seed
from headtypes.data.kinds.registry import KINDS
from headtypes.planning.plan import Plan
from headtypes.planning.stages.stage import given


def encoding_of(plan: Plan, task: str) -> dict:
    """How samples of a task are encoded: its kind and, where the kind has this key, the most tokens of a sample."""
    entry = plan.config.tasks[task]
    kind = KINDS[entry.kind]
    return {"kind": kind.name, **{key: entry.max_seq_length for key in kind.keys if key == "max_seq_length"}}


def source_of(plan: Plan, task: str, part: Literal["evaluated", "training", "test"]) -> dict:
    """Where a part of a task's data comes from, and which columns hold what; only a file can have a part for tests."""
    entry = plan.config.tasks[task]
    source, training = entry.source, part == "training"
    if source.hub is not None:
        split = source.training_split if training else source.split
        where = {"hub": source.hub, "name": source.name, "revision": source.revision, "split": split}
    elif source.file is not None:
        files = {"evaluated": source.file, "training": source.training_file, "test": source.test_file}
        where = {"file": files[part]}
    elif source.folder is not None:
        where = {"folder": source.folder}
    else:
        size, split = (source.training_size, "train") if training else (source.size, "dev")
        seed = derive_seed(plan.config.seed, "world")
        where = {"world": source.world, "seed": seed, "split": split, "size": size}
    named = KINDS[entry.kind].columns if source.world is None else ()
    columns = {key: value for key, value in given(entry.columns).items() if key in named} or None
    if columns is not None and entry.labels:
        columns["labels"] = entry.labels
    return {"task": task, "kind": entry.kind, "source": where, "columns": columns}


def words_of(plan: Plan, task: str) -> dict:
    """How a task's words are read by a model, and the arithmetic."""
    lengths = {"max_seq_length": plan.config.tasks[task].max_seq_length, "pieces": plan.config.words.pieces}
    return {"task": task, **lengths, **given(plan.config.compute)}
