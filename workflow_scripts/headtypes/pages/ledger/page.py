"""The page of a ledger: each claim over all cells and over models, and the cells."""

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

import pandas as pd

from headtypes.analyses.declaration import rounded
from headtypes.core.files import write_text
from headtypes.core.table_files import write_csv
from headtypes.pages.rendering import embedded, render
from headtypes.pages.summary.findings import SIGNS, counted
from headtypes.papers.claims import BASES
from headtypes.papers.ledger import CLAIM, FEWEST_FAMILIES, UNTRAINED, ledger_table, over_models, together_table
from headtypes.papers.quantities import NO_VERDICT, VERDICTS, Measured
from headtypes.papers.registry import PAPERS

_OF_CELL = ["paper", "id", "model", "family", "subject", "reading", "verdict", "corrected", "reason", "decided_in"]


def page_of(ledger: pd.DataFrame, claims: pd.DataFrame, together: pd.DataFrame, provenance: Mapping) -> str:
    """Return the ledger as one HTML page.

    ledger: the result of `ledger_table`, a row for each claim in each model, partition or task, and reading.
    claims: the result of `over_models`, a row for each claim.
    together: the result of `together_table`.
    provenance: what made the results.
    """
    cells = _cells(ledger)
    strips = cells.groupby(CLAIM, sort=False)["verdict"].agg(lambda verdicts: list(_runs(verdicts)))
    models = ledger[["model", "family"]].drop_duplicates()
    is_untrained = models["family"] == UNTRAINED
    families = models["family"][~is_untrained].nunique()
    values = {
        "title": "The ledger of claims",
        "papers": {name: PAPERS[name].authors for name in dict.fromkeys(claims["paper"])},
        "claims": [
            row | {"strip": strips[row["paper"], row["id"]], "basis": BASES[row["basis"]], **how_often(row)}
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
        "fewest_families": FEWEST_FAMILIES,
        "verdicts": VERDICTS,
        "signs": SIGNS,
        "counted": counted,
        "data": embedded(_packed(cells)),
    }
    styles, scripts = ["summary/page.css", "ledger/page.css"], ["tables.js", "ledger/page.js"]
    return render("ledger/page.html", values, provenance, styles=styles, scripts=scripts)


def how_often(claim: dict[str, Any]) -> dict[str, str | float]:
    """Return how often a claim holds, by name of a column of the page.

    claim: a row of `over_models`.
    - share_of_cells, share_of_models: among the cells, or models, in which the claim holds or fails, the share in which
      the claim holds; empty if there are none;
    - in_models: the counts of models, in words;
    - of_models: in words, the interval of the share of models, if there are enough families of models.
    """
    few = "1 family" if claim["families"] == 1 else f"{claim['families']} families"
    of_models = (
        f"{claim['low']:.0f} to {claim['high']:.0f} % of models, by {few}"
        if claim["families"] >= FEWEST_FAMILIES
        else f"these checkpoints alone ({few})"
    )
    if claim["untrained"]:
        of_models += f"; holds in {claim['untrained_hold']} of {claim['untrained']} untrained networks with a verdict"
    decided, undecided = claim["models_hold"] + claim["models_fail"], claim["models_open"]
    in_models = [f"{claim['models_hold']} of {decided}"] * (decided > 0) + [f"{undecided} open"] * (undecided > 0)
    decided_cells = claim["cells_holds"] + claim["cells_fails"]
    return {
        "share_of_cells": claim["cells_holds"] / decided_cells if decided_cells else "",
        "in_models": ", ".join(in_models),
        "share_of_models": claim["models_hold"] / decided if decided else "",
        "of_models": of_models if claim["models"] or claim["untrained"] else "",
    }


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
    coded = {name: pd.factorize(cells[name].astype(str)) for name in _OF_CELL}
    return {
        "texts": {name: list(known) for name, (_, known) in coded.items()},
        "codes": {name: codes.tolist() for name, (codes, _) in coded.items()},
        "values": {name: rounded(cells[name]) for name in ("value", "low", "high")},
    }


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    ledger = ledger_table(inputs.comparisons, inputs.readings, page=outputs.page, **spec)
    claims = over_models(ledger)
    write_csv(outputs.csv, ledger)
    write_csv(outputs.claims, claims)
    write_text(outputs.page, page_of(ledger, claims, together_table(inputs.comparisons), provenance))
