"""Parts of specs that several analyses have: how a model reads the samples or words of a task."""

from headtypes.core.stage import Plan, given
from headtypes.data.stage import encoding_of


def share_of(questions: int | str, rows: int) -> float:
    """The share of the rows that is read if this many questions are drawn; 1 for "all"."""
    return 1 if questions == "all" else min(1, questions / max(rows, 1))


def samples_of(plan: Plan, task: str) -> dict:
    """How a task's samples are read by a model, and the arithmetic."""
    return {"task": task, **encoding_of(plan, task), **given(plan.config.compute)}


def norms_of(plan: Plan, task: str) -> dict:
    """Whether norms are read beside weights; nothing where they are not."""
    return {"norms": True} if "norms" in plan.divided_by(task) else {}


def words_of(plan: Plan, task: str) -> dict:
    """How a task's words are read by a model, and the arithmetic."""
    return {"task": task, "max_seq_length": plan.config.tasks[task].max_seq_length, **given(plan.config.compute)}
