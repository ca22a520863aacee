"""The verdicts on a paper's claims: how many of which, and what decides each."""

import re
from dataclasses import dataclass

import pandas as pd

from headtypes.core.tables import Column, Shown, Table, TextColumn, anchor
from headtypes.papers.claims import BASES
from headtypes.papers.comparison import subject_title
from headtypes.papers.quantities import FAILS, FEW, HOLDS, NO_VERDICT, OPEN, VERDICTS

# What stands before each verdict, so that none is told by its colour alone.
SIGNS = dict(zip(VERDICTS, ("✓", "✕", "≈", "–"), strict=True))  # noqa: RUF001


def _signed(index: int) -> str:
    return f"{SIGNS[VERDICTS[index]]} {VERDICTS[index]}"


_COLUMNS = [
    TextColumn("order", "verdict", write=_signed, below="corrected", verdict="verdict"),
    TextColumn("quantity", "claim", below="where"),
    Column("ours", "ours", after="unit"),
    Column("published", "paper's", after="unit"),
    TextColumn(
        "reason",
        "what decides",
        below="remark",
        note="the value, its interval, and on which side of the limit it is claimed",
    ),
    TextColumn("basis", "rests on"),
]
_SAME = re.compile(r" \((?:the same|open) for limits [^)]*\)")


@dataclass(frozen=True)
class Judged:
    """The claims of a paper, judged on one subject, such as a model under one partition.

    values: what the paper has numbers of, by id; table: the claims that have a verdict, in brief; unjudged: the ids of
        the others, by the reason. file: where all of it can be read, relative to the page.
    """

    model: str
    other: str
    claims: pd.DataFrame
    values: pd.DataFrame
    table: Shown
    unjudged: dict[str, list[str]]
    file: str

    @property
    def decided(self) -> int:
        return int(self.claims["verdict"].isin([HOLDS, FAILS]).sum())

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """Number of claims with each verdict, by their basis in words: first those in the paper's words."""
        of_basis = {basis: self.claims["verdict"][self.claims["basis"] == basis] for basis in BASES}
        return {
            BASES[basis]: verdict_counts(verdicts)
            for basis, verdicts in of_basis.items()
            if basis == "stated" or len(verdicts)
        }

    @property
    def corrected(self) -> str:
        """Numbers of stated claims that hold and fail after correction, in words; empty where none has an interval."""
        stated = self.claims[self.claims["basis"] == "stated"]["verdict_holm"].dropna()
        counts = verdict_counts(stated)
        known = counts[HOLDS] + counts[FAILS] + counts[OPEN]
        return f"corrected: {counted(HOLDS, counts[HOLDS])}, {counted(FAILS, counts[FAILS])}" if known else ""


def verdict_counts(verdicts: pd.Series) -> dict[str, int]:
    return verdicts.value_counts().reindex(VERDICTS, fill_value=0).to_dict()


def counted(verdict: str, number: int) -> str:
    """Say how many claims have a verdict: 2 hold."""
    plural = {HOLDS: "hold", FAILS: "fail"}
    return f"{number} {plural.get(verdict, verdict) if number != 1 else verdict}"


def judged_subjects(comparison: pd.DataFrame, key: str, file: str) -> list[Judged]:
    """List the verdicts on each subject, the one with the most claims that have one first.

    comparison: as CSV; key: `partition` or `task`, which names a subject beside its model; file: relative to the page.
    """
    subjects = [
        _judged(str(model), str(other), rows, file)
        for (model, other), rows in comparison.groupby(["model", key], sort=False)
        if (rows["kind"] == "claim").any()
    ]
    return sorted(subjects, key=lambda subject: -(subject.claims["verdict"] != NO_VERDICT).sum())


def _judged(model: str, other: str, rows: pd.DataFrame, file: str) -> Judged:
    claims, values = rows[rows["kind"] == "claim"], rows[rows["kind"] == "figure"].set_index("id")
    ordered = claims.sort_values("verdict", key=lambda verdicts: verdicts.map(VERDICTS.index), kind="stable")
    holm = ordered["verdict_holm"]
    corrected = ("corrected: " + holm.astype(str)).where(holm != ordered["verdict"], "")
    data = ordered.assign(
        order=ordered["verdict"].map(VERDICTS.index),
        corrected=corrected.where(holm.notna(), "without an interval"),
        where=ordered["id"].astype(str) + " · " + ordered["place"].astype(str),
        remark=ordered["remark"].fillna("").astype(str),
        basis=ordered["basis"].map(BASES),
        # For what other limits it would be the same is in the file.
        reason=ordered["reason"].fillna("").str.replace(_SAME, "", regex=True),
        unit=(" " + ordered["unit"].fillna("")).str.rstrip(),
    )
    has_published = claims["published"].notna().any()
    columns = [column for column in _COLUMNS if column.name != "published" or has_published]
    is_judged, signs = data["verdict"] != NO_VERDICT, data["reason"].str.contains("[†‡]").any()
    unjudged = data[~is_judged].groupby("reason", sort=False)["id"].agg(list).to_dict()
    table = Table(f"{model}, {other}", data[is_judged], columns, about=FEW * bool(signs)).in_brief(file)
    page = f"{file.removesuffix('.csv')}.html#{anchor(subject_title(model, other))}"
    return Judged(model, other, claims, values, table, unjudged, page)
