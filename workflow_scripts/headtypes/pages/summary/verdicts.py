"""The verdicts on a paper's claims: how many of which, and what decides each."""

from dataclasses import dataclass

import pandas as pd

from headtypes.core.tables import Column, Shown, Table, TextColumn
from headtypes.papers.claims import BASES
from headtypes.papers.quantities import FAILS, HOLDS, NO_VERDICT, VERDICTS

# What stands before each verdict, so that none is told by its colour alone.
SIGNS = dict(zip(VERDICTS, ("✓", "✕", "≈", "–"), strict=True))  # noqa: RUF001


def _signed(index: int) -> str:
    return f"{SIGNS[VERDICTS[index]]} {VERDICTS[index]}"


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
class Judged:
    """The claims of a paper, judged on one subject, such as a model under one partition; table: them in brief."""

    model: str
    other: str
    claims: pd.DataFrame
    table: Shown

    @property
    def decided(self) -> int:
        """Number of claims that hold or fail."""
        return int(self.claims["verdict"].isin([HOLDS, FAILS]).sum())

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """How many claims have each verdict, by what claims rest on, in words: first those in the paper's words."""
        of_basis = {basis: self.claims["verdict"][self.claims["basis"] == basis] for basis in BASES}
        return {
            BASES[basis]: verdict_counts(verdicts)
            for basis, verdicts in of_basis.items()
            if basis == "stated" or len(verdicts)
        }


def verdict_counts(verdicts: pd.Series) -> dict[str, int]:
    """How many there are of each verdict, in the order of `VERDICTS`."""
    return verdicts.value_counts().reindex(VERDICTS, fill_value=0).to_dict()


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
    ordered = claims.sort_values("verdict", key=lambda verdicts: verdicts.map(VERDICTS.index), kind="stable")
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
    return Judged(model, other, claims, Table(f"{model}, {other}", data, columns).in_brief(file))
