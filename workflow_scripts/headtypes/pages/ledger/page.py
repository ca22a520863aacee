"""What the page of a ledger shows: each claim over all cells and over models, and the cells."""

import math
from collections.abc import Iterable
from itertools import groupby
from typing import Any

import pandas as pd

from headtypes.core.tables import Table, TextColumn
from headtypes.pages.rendering import embedded
from headtypes.pages.summary.verdicts import with_signs
from headtypes.papers.claims import BASES
from headtypes.papers.ledger.models import FEWEST_FAMILIES, UNTRAINED
from headtypes.papers.ledger.table import CLAIM
from headtypes.papers.quantities import FAILS, HOLDS, NO_VERDICT, OPEN, VERDICTS, Measured
from headtypes.papers.registry import PAPERS

# Of more cells than this, the page leaves to the file what decides each.
_MOST_REASONS = 20_000
_OF_CELL = ["paper", "id", "model", "family", "subject", "reading", "verdict", "corrected", "reason", "decided_in"]


def page_of(ledger: pd.DataFrame, claims: pd.DataFrame, together: pd.DataFrame) -> dict[str, Any]:
    """The values of the template, from `ledger_table`, `over_models` and `together_table`."""
    cells = _cells(ledger)
    strips = cells.groupby(CLAIM, sort=False)["verdict"].agg(lambda verdicts: list(_runs(verdicts)))
    models = ledger[["model", "family"]].drop_duplicates()
    is_untrained = models["family"] == UNTRAINED
    families = models["family"][~is_untrained].nunique()
    values = {
        "title": "The ledger of claims",
        "papers": {name: PAPERS[name].authors for name in dict.fromkeys(claims["paper"])},
        "claims": [
            row | {"strip": strips[row["paper"], row["id"]], "basis": BASES[row["basis"]], **_said(row)}
            for row in claims.to_dict("records")
        ],
        "together": [
            row | {"measured": str(Measured(row["value"], row["low"], row["high"]))}
            for row in together[together["verdict"] != NO_VERDICT].to_dict("records")
        ],
        "cells": len(cells),
        "models": int((~is_untrained).sum()),
        "untrained": int(is_untrained.sum()),
        "families": families,
        "alone": alone(families),
        "verdicts": VERDICTS,
        "data": embedded(_packed(cells)),
    }
    return with_signs(values)


def alone(families: int) -> str:
    """That nothing follows for other models, where there are too few families; else empty."""
    if families >= FEWEST_FAMILIES:
        return ""
    few = "one family of models is" if families == 1 else f"{families} families of models are"
    return (
        f"Only {few} among them, so that what holds speaks of these checkpoints alone: even a claim that holds in all "
        f"of fewer than {FEWEST_FAMILIES} families may be false of most models."
    )


def claims_in_brief(claims: pd.DataFrame) -> Table:
    """How often each claim holds, as a table; claims: as `papers.ledger.models.over_models` makes them."""
    said = claims.assign(
        authors=claims["paper"].map({name: paper.authors for name, paper in PAPERS.items()}),
        where=claims["id"] + " · " + claims["place"],
        **pd.DataFrame([_said(row) for row in claims.to_dict("records")]),
    )
    columns = [
        TextColumn("claim", "claim", below="where"),
        TextColumn("authors", "of"),
        TextColumn("in_cells", "holds in cells"),
        TextColumn("in_models", "holds in models", below="of_models"),
    ]
    return Table("How often each claim holds", said, columns)


def _said(claim: dict[str, Any]) -> dict[str, str]:
    """How often a claim holds, in words, and the interval over models, where there are enough families for one."""
    few = "1 family" if claim["families"] == 1 else f"{claim['families']} families"
    of_models = (
        f"{claim['low']:.0f} to {claim['high']:.0f} % of models, by {few}"
        if claim["families"] >= FEWEST_FAMILIES
        else f"these checkpoints alone ({few})"
    )
    if claim["untrained"]:
        of_models += f"; holds in {claim['untrained_hold']} of {claim['untrained']} untrained networks with a verdict"
    in_cells, share_of_cells = _held(*(claim[f"cells_{name}"] for name in (HOLDS, FAILS, OPEN)))
    in_models, share_of_models = _held(*(claim[f"models_{name}"] for name in ("hold", "fail", "open")))
    return {
        "in_cells": in_cells,
        "share_of_cells": share_of_cells,
        "in_models": in_models,
        "share_of_models": share_of_models,
        "of_models": of_models if in_cells else "",
    }


def _held(holds: int, fails: int, undecided: int) -> tuple[str, float | str]:
    """In how many of those that decide it a claim holds, in words and as a share; both empty where there are none."""
    decided = holds + fails
    parts = [f"{holds} of {decided}"] * (decided > 0) + [f"{undecided} open"] * (undecided > 0)
    return ", ".join(parts), holds / decided if decided else ""


def _cells(ledger: pd.DataFrame) -> pd.DataFrame:
    texts = ledger[["partition", "task", "reading", "verdict_holm", "reason", "decided_in"]].fillna("")
    return ledger.assign(**texts).assign(
        subject=texts["partition"].where(texts["partition"] != "", texts["task"]),
        corrected=texts["verdict_holm"].where(ledger["verdict"] != NO_VERDICT, ""),
    )


def _runs(verdicts: Iterable[str]) -> Iterable[tuple[str, int, int]]:
    start = 0
    for verdict, run in groupby(verdicts):
        length = len(list(run))
        yield verdict, start, length
        start += length


def _packed(cells: pd.DataFrame) -> dict[str, Any]:
    texts = {name: cells[name] for name in _OF_CELL if name != "reason" or len(cells) <= _MOST_REASONS}
    coded = {name: pd.factorize(column.astype(str)) for name, column in texts.items()}
    return {
        "texts": {name: list(known) for name, (_, known) in coded.items()},
        "codes": {name: codes.tolist() for name, (codes, _) in coded.items()},
        "values": {name: [_short(value) for value in cells[name]] for name in ("value", "low", "high")},
    }


def _short(value: float) -> float | None:
    """A number to four digits; JSON has none that is missing."""
    return float(f"{value:.4g}") if math.isfinite(value) else None
