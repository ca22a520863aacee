"""The verdicts on a paper's claims: how many of which, and what decides each."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from headtypes.core.tables import Cell, Shown
from headtypes.pages.summary.cells import Column, number, words
from headtypes.papers.claims import BASES
from headtypes.papers.quantities import FAILS, HOLDS, NO_VERDICT, VERDICTS

_SIGNS = dict(zip(VERDICTS, ("✓", "✕", "≈", "–"), strict=True))  # noqa: RUF001


@dataclass(frozen=True)
class Count:
    """How many claims of one basis have which verdict, in the order of `VERDICTS`."""

    basis: str
    of: dict[str, int]

    @property
    def total(self) -> int:
        """Number of claims."""
        return sum(self.of.values())


@dataclass(frozen=True)
class Judged:
    """The claims of a paper, judged on one subject, such as a model under one partition."""

    model: str
    other: str
    counts: Sequence[Count]
    table: Shown
    claims: pd.DataFrame

    @property
    def decided(self) -> int:
        """Number of claims with a verdict."""
        return int((self.claims["verdict"] != NO_VERDICT).sum())

    def stated(self) -> Count:
        """The claims that stand in the paper's words."""
        return self.counts[0]


def sign_of(verdict: str) -> str:
    """A sign beside the colour of a verdict."""
    return _SIGNS.get(verdict, "")


def counted(verdict: str, number: int) -> str:
    """How many claims have a verdict, in words: 2 hold."""
    plural = {HOLDS: "hold", FAILS: "fail"}
    return f"{number} {plural.get(verdict, verdict) if number != 1 else verdict}"


def judged_subjects(comparison: pd.DataFrame, key: str, file: str) -> list[Judged]:
    """The verdicts on each subject, the one with the most decided claims first.

    comparison: rows of `papers.comparison.COLUMNS`, read from CSV; key: `partition` or `task`, which names a subject
        beside its model; file: of the comparison, relative to the page.
    """
    claims = comparison[comparison["kind"] == "claim"]
    subjects = [
        _judged(str(model), str(other), rows, file)
        for (model, other), rows in claims.groupby(["model", key], sort=False)
    ]
    return sorted(subjects, key=lambda subject: -subject.decided)


def _judged(model: str, other: str, claims: pd.DataFrame, file: str) -> Judged:
    counts = []
    for basis in BASES:
        rows = claims[claims["basis"] == basis]
        if basis == "stated" or not rows.empty:
            counts.append(Count(BASES[basis], {name: int((rows["verdict"] == name).sum()) for name in VERDICTS}))
    published = claims["published"].notna().any()
    columns = [
        Column("verdict", is_number=False),
        Column("claim", is_number=False),
        Column("ours"),
        *([Column("paper's")] if published else []),
        Column(
            "what decides",
            is_number=False,
            note="the value, its interval, and on which side of the limit it is claimed",
        ),
        Column("rests on", is_number=False),
    ]
    rows = [
        [
            _verdict(row),
            words(row["quantity"], f"{row['id']} · {row['place']}"),
            number(row["ours"], 2),
            *([number(row["published"], 2)] if published else []),
            words(row["reason"], "" if pd.isna(row["remark"]) else str(row["remark"])),
            words(BASES[row["basis"]]),
        ]
        for _, row in claims.sort_values("verdict", key=lambda it: it.map(VERDICTS.index), kind="stable").iterrows()
    ]
    return Judged(model, other, counts, Shown(f"{model}, {other}", columns, rows, file=file), claims)


def _verdict(row: pd.Series) -> Cell:
    below = "" if row["verdict_holm"] == row["verdict"] else f"corrected: {row['verdict_holm']}"
    return Cell(f"{sign_of(row['verdict'])} {row['verdict']}", VERDICTS.index(row["verdict"]), below, row["verdict"])
