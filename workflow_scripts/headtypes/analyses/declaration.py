"""The declaration of an analysis: its results, and what of them is shown where, in the atlas and in comparisons."""

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
    """The declaration of one analysis of a model's heads: its rules and results, and the functions that show it.

    per_head and per_pair return numbers of heads, or of pairs of heads, for the atlas (the page of every head); best
    returns rows of its list of best heads. per_set yields numbers of any set of heads, by which each type is compared
    with random heads. A function is None if the analysis has no such numbers.
    """

    name: str
    title: str = ""
    """The heading of the analysis's rows in the comparison of each type with random heads, with the unit."""
    files: tuple[Result, ...] = ()
    """Results whose paths the functions below get; the `of` of the first says for which models and tasks they exist."""
    results: tuple[Result, ...] = ()
    """All results, in the order in which the documentation lists them under the heading `section`."""
    section: str = ""
    stages: tuple[Stage, ...] = ()
    per_head: Callable[..., list] | None = None
    """(task, *paths) -> columns of the atlas (`Column`)."""
    per_pair: Callable[[StrPath], Any] | None = None
    """(path) -> [head, head], a number from one head to the other, which the atlas shows for the chosen head."""
    best: Callable[..., Iterable[dict]] | None = None
    """(task, *paths) -> dictionaries with layer, head, at (what the head is best at), value (its score in percent) and
    above (by how many points it beats the best fixed offset to another token, or None)."""
    per_set: Callable[[str, StrPath, Mapping[str, Any], int], Iterator] | None = None
    """(task, path, heads of each type, seed) -> numbers of a set of heads (`Measure`)."""
    line: Callable[[str, str], str] = lambda quantity, statistic: quantity.replace("_", " ")
    """(quantity, statistic) -> the name of a row in the figure of the comparison with random heads."""
    repeats: tuple[str, ...] = ()
    """Quantities that the figure leaves out, since other quantities say the same."""
    of_language: bool = False
    """Whether the analysis is about words and not tokens; its rows are at the right of the figure."""
    leads: bool = False
    """Whether the analysis's columns stand first in the atlas, since they are about the whole model."""

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
    """A column of the atlas, the page that shows every head: one value for each head, layer by layer.

    key: name in the page's address. label, group: name for a reader, and heading above related columns.
    values: numbers, NaN or None for a head without a value; with `categories`, indices of the heads' categories.
    low, high: ends of the 95 % interval of each value. note: a sentence about the values.
    scale: values at which colours begin and end; None for the lowest and the highest value of a head.
    categories: dictionaries with the keys name, colour and doubtful (whether the name is doubtful); None for numbers.
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
        numbers = {name: rounded(getattr(self, name)) for name in ("values", "low", "high", "scale")}
        fields = {**vars(self), **numbers}
        return {name: value for name, value in fields.items() if value is not None and value != ""}


def rounded(values: Any) -> Any:
    """Return numbers or nested sequences as JSON values, floats with four significant digits, NaN, infinity as None."""
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
    """Return (categories, indices): categories, most frequent first, and each head's index among them, None for NaN.

    names: the name of each head's category, or NaN. A category is {"name", "colour", "doubtful": False}; if there are
    more categories than colours, the rarest share one colour.
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
    """One number of any set of heads, by which a type's heads are compared with as many heads drawn at random.

    analysis, task: names of the analysis, and of the task on which heads were read. quantity: name of what is measured
        on heads. statistic: how a set's values become one number, such as `mean`. values: function from sets, [set,
        head] bool, to one number for each, NaN if undefined. interval: function from one set, [head] bool, to the ends
        (low, high) of its number's interval; None for no interval. about: the type to which each set is compared, such
        as in the divergence of a set from a type; None if a set is measured by itself.
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
    """Yield three `Measure`s of sets of heads: the mean, the smallest and the largest value of a set's heads.

    analysis, task, quantity: fields of the measures. of_head: value of each head, layer by layer, NaN for none.
    interval: function from a set, [head] bool, to the ends (low, high) of the mean's interval; None for no interval.
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
    return Measure(analysis, task, quantity, "best head", lambda sets: _extreme(sets, of_head))


def ratio(total: np.ndarray, of: np.ndarray) -> np.ndarray:
    """Return `total / of`, both [set], one number for each set of heads; NaN where `of` is 0."""
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
    """Return the share, 0 to 1, of a task's `rows` that is read when `questions` of them are drawn; 1 for "all"."""
    return 1 if questions == "all" else min(1, questions / max(rows, 1))


def samples_of(plan: Plan, task: str) -> dict:
    return {"task": task, **encoding_of(plan, task), **given(plan.config.compute)}


def words_of(plan: Plan, task: str) -> dict:
    return {"task": task, "max_seq_length": plan.config.tasks[task].max_seq_length, **given(plan.config.compute)}


def not_texts(plan: Plan) -> list:
    """Return a `FeaturePlan` for each pair of a model and a task that it reads, if the task is not of kind `text`."""
    return [entry for entry in plan.features if entry not in plan.texts]
