"""The declaration of an analysis: its results, and what of them is shown where, in the atlas and in comparisons.

This module loads neither NumPy nor pandas, and nor does one with a declaration, since whatever plans jobs reads it;
functions in it import what they need themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

from headtypes.core.files import StrPath
from headtypes.core.stage import Plan, Result, Stage, given
from headtypes.data.stage import encoding_of

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from jaxtyping import Bool, Float


@dataclass(frozen=True)
class Analysis:
    """The declaration of one thing that is measured on a model's heads.

    Fields that are functions say what is shown where; None for an analysis that is not shown there. Their first
    arguments are the name of a task and the paths of `files` for that task.
    """

    name: str
    title: str = ""
    """The heading of its rows in the comparison with random heads, with the unit."""
    files: tuple[Result, ...] = ()
    """Results that the functions below read. The first one's `of` decides for which models and tasks there is one."""
    results: tuple[Result, ...] = ()
    """All results, in the order in which the documentation lists them."""
    section: str = ""
    """The heading of the documentation under which the results are listed."""
    stages: tuple[Stage, ...] = ()
    """The stages of its rules."""
    per_head: Callable[..., list] | None = None
    """(task, *paths) -> columns of the atlas (`Column`)."""
    per_pair: Callable[[StrPath], Any] | None = None
    """(path) -> [head, head], a number from one head to the other, which the atlas shows for the chosen head."""
    best: Callable[..., Iterable[dict]] | None = None
    """(task, *paths) -> dictionaries with layer, head, at (what the head is best at), value (its score in percent) and
    above (how many points the score is above the best offset, or None); for the atlas and the page of results."""
    per_set: Callable[[str, StrPath, Mapping[str, Any], int], Iterator] | None = None
    """(task, path, heads of each type, seed) -> numbers of a set of heads (`Measure`), for the comparison of each type
    with random heads."""
    line: Callable[[str, str], str] = lambda quantity, statistic: quantity.replace("_", " ")
    """(quantity, statistic) -> the name of a row in the figure of the comparison with random heads."""
    repeats: tuple[str, ...] = ()
    """Quantities that this figure leaves out, since others say the same."""
    of_language: bool = False
    """Whether it is about words and not tokens; its rows are at the right of this figure."""
    leads: bool = False
    """Whether its columns stand before those of other analyses in the atlas, since they are about the whole model."""

    @property
    def in_atlas(self) -> bool:
        return any((self.per_head, self.per_pair, self.best))

    @property
    def is_compared(self) -> bool:
        return self.per_set is not None


# All that a share can be, in percent: a scale on which small shares look small.
WHOLE = (0, 100)
# Where a column has more categories than there are colours, the rarest share the last one.
_OTHERS = "#8A8F98"


@dataclass(frozen=True)
class Column:
    """A column of the atlas: one value of each head, layer by layer.

    key, label, group: name in the page's address, name for a reader, and heading under which columns stand together.
    values: numbers, NaN or None for a head without one; or indices of `categories` (name, colour, doubtful or not).
    unit: `%`, `nats` or nothing. low, high: ends of the 95 % interval of each value. note: a sentence on the values.
    scale: values at which colours begin and end; None for those of the lowest and the highest head.
    """

    key: str
    label: str
    group: str
    values: Sequence
    unit: str = ""
    low: Sequence | None = None
    high: Sequence | None = None
    scale: tuple[float, float] | None = None
    categories: Sequence[dict] | None = None
    note: str = ""

    def named(self) -> Sequence:
        import pandas as pd

        if self.categories is None:
            return self.values
        return [None if pd.isna(index) else self.categories[index]["name"] for index in self.values]

    def as_dict(self) -> dict:
        """Return the fields as JSON holds them: rounded, and without empty ones."""
        numbers = {name: rounded(getattr(self, name)) for name in ("values", "low", "high", "scale")}
        fields = {**vars(self), **numbers}
        return {name: value for name, value in fields.items() if value is not None and value != ""}


def rounded(values: Any) -> Any:
    """Round numbers to four significant digits, at any depth; None for one that is missing."""
    if isinstance(values, str) or values is None:
        return values
    if isinstance(values, Iterable):
        return [rounded(value) for value in values]
    if isinstance(values, Integral):
        return int(values)
    if not math.isfinite(values):
        return None
    return float(f"{values:.4g}")


def categories_of(names: pd.Series) -> tuple[list[dict], list[int | None]]:
    """Return categories for `Column`, the most frequent first, and the index of each head's category.

    names: the name of each head's category, or NaN.
    """
    import pandas as pd

    from headtypes.core.style import PALETTE

    known = list(names.dropna().value_counts().sort_index().sort_values(ascending=False, kind="stable").index)
    categories = [
        {"name": name, "colour": PALETTE[index] if index < len(PALETTE) else _OTHERS, "doubtful": False}
        for index, name in enumerate(known)
    ]
    return categories, [None if pd.isna(name) else known.index(name) for name in names]


def by_head(table: pd.DataFrame) -> pd.DataFrame:
    return table.sort_values(["layer", "head"], ignore_index=True)


class Measure(NamedTuple):
    """One number of a set of heads: of a type, or of as many heads drawn at random.

    A set is a row of booleans over all heads, layer by layer.

    statistic: how the values of a set's heads become one number. values: from sets, [set, head], to the number of each
        set, NaN if it is not defined.
    interval: from a set to low and high end of its number; None where the analysis keeps nothing to draw again.
    about: the type that all other types are compared with in this number; None if it is about the set alone.
    """

    analysis: str
    task: str
    quantity: str
    statistic: str
    values: Callable[[Bool[np.ndarray, "set head"]], Float[np.ndarray, " set"]]
    interval: Callable[[Bool[np.ndarray, " head"]], tuple[float, float]] | None = None
    about: str | None = None


def summaries(
    analysis: str, task: str, quantity: str, of_head: np.ndarray, interval: Callable | None = None
) -> Iterator[Measure]:
    """Yield mean, smallest and largest value of a set's heads.

    of_head: value of each head, [layer, head] or [head], NaN for none; interval: of the mean, as in `Measure`.
    """
    import numpy as np

    flat = of_head.ravel()
    known = ~np.isnan(flat)

    def mean(sets: np.ndarray) -> np.ndarray:
        return ratio(sets @ np.where(known, flat, 0), sets @ known.astype(float))

    yield Measure(analysis, task, quantity, "mean", mean, interval)
    yield Measure(analysis, task, quantity, "smallest", lambda sets: -_extreme(sets, -flat))
    yield Measure(analysis, task, quantity, "largest", lambda sets: _extreme(sets, flat))


def best_head(analysis: str, task: str, quantity: str, of_head: np.ndarray) -> Measure:
    """Return the largest value of a set's heads; of_head: value of each head, [head], NaN for none."""
    return Measure(analysis, task, quantity, "best head", lambda sets: _extreme(sets, of_head))


def ratio(total: np.ndarray, of: np.ndarray) -> np.ndarray:
    """Return `total / of` for each set of heads; NaN where `of` is 0."""
    import numpy as np

    return np.divide(total, of, out=np.full(len(total), np.nan), where=of > 0)


def _extreme(sets: np.ndarray, of_head: np.ndarray) -> np.ndarray:
    import numpy as np

    # In the order of values, the first head of each set has it.
    order = np.argsort(-of_head)
    ranked = (sets & ~np.isnan(of_head))[:, order]
    largest = of_head[order[ranked.argmax(1)]]
    return np.where(ranked.any(1) & np.isfinite(largest), largest, np.nan)


# Parts of specs that several analyses have: how a model reads the samples or words of a task.
def share_of(questions: int | str, rows: int) -> float:
    """Return the share of a task's rows that is read if `questions` of them are drawn; 1 for "all"."""
    return 1 if questions == "all" else min(1, questions / max(rows, 1))


def samples_of(plan: Plan, task: str) -> dict:
    """Return the part of a spec on how a task's samples are read: kind, truncation, precision, batch size."""
    return {"task": task, **encoding_of(plan, task), **given(plan.config.compute)}


def norms_of(plan: Plan, task: str) -> dict:
    """Return {"norms": True} if norms are read of the task beside weights; else {}."""
    return {"norms": True} if "norms" in plan.config.divided_by(task) else {}


def words_of(plan: Plan, task: str) -> dict:
    """Return the part of a spec on how a task's words are read: truncation, precision, batch size."""
    return {"task": task, "max_seq_length": plan.config.tasks[task].max_seq_length, **given(plan.config.compute)}


def not_texts(plan: Plan) -> list:
    """Return the models on tasks whose samples are not texts; the rule `extract_features` reads these."""
    return [entry for entry in plan.features if entry not in plan.texts]
