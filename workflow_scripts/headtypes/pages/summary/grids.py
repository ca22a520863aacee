"""Grids: a square for each two models, and for each claim and what it was judged on."""

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from headtypes.pages.summary.verdicts import Judged, sign_of
from headtypes.papers.quantities import NO_VERDICT, VERDICTS

# The most columns that a page has room for.
MOST = 24


class Square(NamedTuple):
    """A square of a grid: its text, what it says in full, and a verdict or a shade from 0 to 1."""

    text: str
    says: str
    verdict: str = ""
    shade: float = 0


class Grid(NamedTuple):
    """Squares in rows; rows: the name of each, its meaning and its squares; file: of the values, beside the page."""

    title: str
    about: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, str, Sequence[Square | None]]]
    file: str


def models_grid(pairs: pd.DataFrame, clustering: str, file: str) -> Grid | None:
    """How much of their types any two models have in common by layer; None for fewer than three models, or too many.

    pairs: as `comparisons.models.compared.pairs_table` makes it.
    """
    names = list(dict.fromkeys([*pairs["other"], *pairs["model"]]))
    if not 2 < len(names) <= MOST:
        return None
    shared = {frozenset(both): value for *both, value in pairs[["model", "other", "same_layers"]].itertuples(False)}
    least, most = min(shared.values()), max(shared.values())

    def square(one: str, other: str) -> Square | None:
        if one == other:
            return None
        value = shared[frozenset((one, other))]
        shade = (value - least) / ((most - least) or 1)
        return Square(f"{value:.0f}", f"{one}, {other}: {value:.1f} %", shade=shade)

    return Grid(
        f"Any two models: {clustering}",
        "Percent of heads that could keep their type if both models had as many of each type at every depth: the "
        f"darker, the more, from {least:.0f} to {most:.0f}. Types are named in each model by itself.",
        names,
        [(one, "", [square(one, other) for other in names]) for one in names],
        file,
    )


def claims_grid(title: str, judged: Sequence[Judged]) -> Grid | None:
    """The verdict on each claim that has one, by what it was judged on; None for one subject, or too many."""
    if not 2 <= len(judged) <= MOST:
        return None
    rows: dict[str, tuple[str, list[Square | None]]] = {}
    for index, subject in enumerate(judged):
        of = f"{subject.model}, {subject.other}"
        for it in subject.claims[["id", "quantity", "verdict", "reason"]].itertuples(False):
            _, squares = rows.setdefault(it.id, (it.quantity, [None] * len(judged)))
            squares[index] = Square(sign_of(it.verdict), f"{of}: {it.verdict}. {it.reason}", it.verdict)
    return Grid(
        title,
        "Rows are claims with a verdict, columns what they were judged on: "
        f"{', '.join(f'{sign_of(it)} {it}' for it in VERDICTS)}, empty: not about it.",
        [f"{it.model}, {it.other}" for it in judged],
        [
            (name, quantity, squares)
            for name, (quantity, squares) in rows.items()
            if any(it and it.verdict != NO_VERDICT for it in squares)
        ],
        judged[0].table.file,
    )
