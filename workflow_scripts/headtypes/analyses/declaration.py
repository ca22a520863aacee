"""Declarations of an analysis, once, in the `analysis.py` of its folder: its results, and what of them is shown where.

A module with declarations loads neither NumPy nor pandas, since whatever plans jobs reads it; functions in it import
what they need themselves.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from headtypes.core.files import StrPath
from headtypes.core.results import Result
from headtypes.core.stage import Plan, Stage, given
from headtypes.data.stage import encoding_of

# The files of a result, by model and by task or partition.
Files = Mapping[tuple[str, str], StrPath]


@dataclass(frozen=True)
class Analysis:
    """One thing that is measured on a model's heads.

    A hook that an analysis lacks is None: it is not shown there. The first arguments of each are a task's name and the
    paths of `files` for it.
    """

    name: str
    title: str = ""
    """Above its rows in the comparison with random heads, with the unit."""
    files: tuple[Result, ...] = ()
    """Input files of the hooks. The first one's `of` decides for which models and tasks the analysis exists."""
    results: tuple[Result, ...] = ()
    """All results, in the order in which the documentation lists them."""
    section: str = ""
    """The heading of the documentation under which these are listed."""
    stages: tuple[Stage, ...] = ()
    """The stages of its rules."""
    per_head: Callable[..., list] | None = None
    """(task, *paths) -> `per_head.Column` each: a column of the atlas, a value of every head."""
    per_pair: Callable[[StrPath], Any] | None = None
    """(path) -> [head, head], from one head to the other, which the atlas shows for the chosen head."""
    best: Callable[..., Iterable[dict]] | None = None
    """(task, *paths) -> {layer, head, at, value, above} each: what a head is best at, its score in percent, how many
    points that is above the best offset, or None; for the atlas and the page of results."""
    per_set: Callable[[str, StrPath, Mapping[str, Any], int], Iterator] | None = None
    """(task, path, heads of each type, seed) -> `per_set.Measure` each: a number of a set of heads, for the comparison
    of each type with random heads."""
    line: Callable[[str, str], str] = lambda quantity, statistic: quantity.replace("_", " ")
    """(quantity, statistic) -> the name of a row in the figure of this comparison."""
    repeats: tuple[str, ...] = ()
    """Quantities that say what others do, and that the figure leaves out."""
    of_language: bool = False
    """Whether it is about words and not tokens; the figure has these at the right."""
    leads: bool = False
    """Whether its columns stand before those of the others in the atlas, since they are of the whole model."""

    @property
    def in_atlas(self) -> bool:
        return any((self.per_head, self.per_pair, self.best))

    @property
    def is_compared(self) -> bool:
        """Whether types are compared with random heads in it, by its first file."""
        return self.per_set is not None


# Parts of specs that several analyses have: how a model reads the samples or words of a task.
def share_of(questions: int | str, rows: int) -> float:
    """Return the share of the rows that is read if this many questions are drawn; 1 for "all"."""
    return 1 if questions == "all" else min(1, questions / max(rows, 1))


def samples_of(plan: Plan, task: str) -> dict:
    """Return how a task's samples are read by a model: kind and truncation, precision and batch size."""
    return {"task": task, **encoding_of(plan, task), **given(plan.config.compute)}


def norms_of(plan: Plan, task: str) -> dict:
    """Return {"norms": True} where norms are read beside weights; {} elsewhere."""
    return {"norms": True} if "norms" in plan.config.divided_by(task) else {}


def words_of(plan: Plan, task: str) -> dict:
    """Return how a task's words are read by a model: truncation, precision and batch size."""
    return {"task": task, "max_seq_length": plan.config.tasks[task].max_seq_length, **given(plan.config.compute)}
