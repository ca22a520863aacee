"""The verdicts on a paper's claims: how many of which, and what decides each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from headtypes.core.tables import Column, Shown, Table, TextColumn
from headtypes.papers.claims import BASES
from headtypes.papers.quantities import FAILS, HOLDS, NO_VERDICT, VERDICTS

_SIGNS = dict(zip(VERDICTS, ("✓", "✕", "≈", "–"), strict=True))  # noqa: RUF001


def _signed(index: int) -> str:
    return f"{_SIGNS[VERDICTS[index]]} {VERDICTS[index]}"


_COLUMNS = [
    TextColumn("order", "verdict", write=_signed, below="corrected", verdict="verdict"),
    TextColumn("quantity", "claim", below="where"),
    Column("ours", "ours"),
    Column("published", "paper's"),
    TextColumn(
        "reason",
        "what decides",
        below="remark",
        note="the value, its interval, and on which side of the limit it is claimed",
    ),
    TextColumn("basis", "rests on"),
]


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
        """Number of claims that hold or fail."""
        return int(self.claims["verdict"].isin([HOLDS, FAILS]).sum())

    def stated(self) -> Count:
        """The claims that stand in the paper's words."""
        return self.counts[0]

    def without_interval(self) -> int:
        """Of these, how many are decided by a value without an interval."""
        of_paper = self.claims[self.claims["basis"] == "stated"]
        return int((of_paper["verdict_holm"].isna() & of_paper["verdict"].isin([HOLDS, FAILS])).sum())

    def corrected(self) -> dict[str, int] | None:
        """How many of these have which verdict once corrected for their number; None where none has an interval."""
        verdicts = self.claims.loc[self.claims["basis"] == "stated", "verdict_holm"].dropna()
        counts = {name: int((verdicts == name).sum()) for name in VERDICTS}
        return counts if sum(counts.values()) > counts[NO_VERDICT] else None


def counted(verdict: str, number: int) -> str:
    """How many claims have a verdict, in words: 2 hold."""
    plural = {HOLDS: "hold", FAILS: "fail"}
    return f"{number} {plural.get(verdict, verdict) if number != 1 else verdict}"


def judged_subjects(comparison: pd.DataFrame, key: str, file: str) -> list[Judged]:
    """The verdicts on each subject, the one with the most claims that have one first.

    comparison: as CSV; key: `partition` or `task`, which names a subject beside its model; file: relative to the page.
    """
    claims = comparison[comparison["kind"] == "claim"]
    subjects = [
        _judged(str(model), str(other), rows, file)
        for (model, other), rows in claims.groupby(["model", key], sort=False)
    ]
    return sorted(subjects, key=lambda subject: -(subject.claims["verdict"] != NO_VERDICT).sum())


def _judged(model: str, other: str, claims: pd.DataFrame, file: str) -> Judged:
    counts = []
    for basis in BASES:
        rows = claims[claims["basis"] == basis]
        if basis == "stated" or not rows.empty:
            counts.append(Count(BASES[basis], {name: int((rows["verdict"] == name).sum()) for name in VERDICTS}))
    ordered = claims.sort_values("verdict", key=lambda it: it.map(VERDICTS.index), kind="stable")
    holm = ordered["verdict_holm"]
    corrected = ("corrected: " + holm.astype(str)).where(holm != ordered["verdict"], "")
    data = ordered.assign(
        order=ordered["verdict"].map(VERDICTS.index),
        corrected=corrected.where(holm.notna(), "without an interval"),
        where=ordered["id"].astype(str) + " · " + ordered["place"].astype(str),
        remark=ordered["remark"].fillna("").astype(str),
        basis=ordered["basis"].map(BASES),
    )
    has_published = claims["published"].notna().any()
    columns = [column for column in _COLUMNS if column.name != "published" or has_published]
    return Judged(model, other, counts, Table(f"{model}, {other}", data, columns).in_brief(file), claims)


def with_signs(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a template, and what it says of verdicts: the sign of each, and how many there are of one."""
    return {**values, "signs": _SIGNS, "counted": counted}
