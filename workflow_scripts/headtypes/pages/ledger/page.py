"""The ledger: the verdict on every claim of every paper in every model and reading, and over models; and its page."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import pandas as pd
from scipy.special import betaincinv

from headtypes.analyses.declaration import rounded
from headtypes.core.files import StrPath, write_text
from headtypes.core.statistics import ALPHA
from headtypes.core.table_files import read_csv, write_csv
from headtypes.core.tables import anchor
from headtypes.pages.rendering import SIGNS, counted, embedded, relative, render
from headtypes.papers.claims import BASES, FAILS, HOLDS, NO_VERDICT, OPEN, VERDICTS, Measured
from headtypes.papers.comparison import NAMED, OWN_READING, TOGETHER, subject_title
from headtypes.papers.registry import PAPERS

CLAIM = ["paper", "id"]
NUMBERS = ["value", "low", "high", "p", "p_holm", "published"]
_OF_PARTITION = ["method", "k", "of"]
COLUMNS = [
    *(*CLAIM, "basis", "place", "claim", "model", "family", "partition", "task", *_OF_PARTITION, "reading"),
    *("verdict", "verdict_holm", *NUMBERS, "reason", "decided_in"),
]
# Columns of which a further reading that changes nothing for a claim changes none.
_SAME = ["verdict", "value", "low", "high", "p", "reason"]
# The interval of a claim that holds in all of fewer families reaches below one half.
FEWEST_FAMILIES = 6
# The family of networks of random weights, which are no models of anything: what holds in them was not learnt.
UNTRAINED = "untrained"
_SAID = [*CLAIM, "basis", "place", "claim"]
CLAIM_COLUMNS = [
    *(*_SAID, "cells", *(f"cells_{verdict.replace(' ', '_')}" for verdict in VERDICTS)),
    *("models", "models_hold", "models_fail", "models_open", "families", "low", "high"),
    *("untrained", "untrained_hold"),
]
_OF_CELL = ["paper", "id", "model", "family", "subject", "reading", "verdict", "corrected", "reason", "decided_in"]


def ledger_table(
    comparisons: Mapping[str, StrPath],
    readings: Mapping[str, StrPath],
    *,
    families: Mapping[str, str],
    partitions: Iterable[Mapping],
    page: StrPath,
) -> pd.DataFrame:
    """Return a row for each verdict on a claim: of one model, with one partition or task, in one reading.

    comparisons: {paper: path of a CSV file with the verdicts in the config's reading}.
    readings: {paper: path of a CSV file of further readings}. Only a changed verdict, reason or number gets a row.
    families: {model: name of its family}. page: path of the ledger's page, to which links are relative.
    partitions: mappings with the keys model, partition, task, method, k, and `of` ("weights" or "norms").
    Columns: paper, id, basis ("stated" in the paper's words, "inferred" from them, or "from_table"), place (in the
    paper), claim, family, the keys of `partitions`, reading ("" for the config's), verdict, reason, value (the number
    that decides), low and high (its interval), p, published (the paper's number), decided_in (a link). Columns
    verdict_holm and p_holm are corrected for the number of claims, and empty in further readings.
    All rows of a claim stand together. Raises `InputError` for a damaged file.
    """
    folder, parts = Path(page).parent, []
    for paper, path in comparisons.items():
        compared = _read(path)
        claims = compared[compared["kind"] == "claim"]
        subjects = claims["partition" if "partition" in claims else "task"].fillna("")
        titles = map(subject_title, claims["model"], subjects)
        beside = relative(path, folder, ".html")
        links = [f"{beside}#{anchor(title)}" for title in titles]
        parts.append(claims.assign(paper=paper, reading="", decided_in=links))
        if paper in readings:
            # Partitions by norms have answers under readings, too, and are judged by no claim.
            changed = _changed(_read(readings[paper])).merge(claims[["model", "partition"]].drop_duplicates())
            parts.append(changed.assign(paper=paper, decided_in=relative(readings[paper], folder, ".html")))
    table = pd.concat(parts, ignore_index=True).reindex(columns=[name for name in COLUMNS if name not in _OF_PARTITION])
    # A column without a name in it holds numbers, which no name is merged with.
    table = table.astype({"partition": str, "task": str})
    known = pd.DataFrame(partitions, columns=["model", "partition", "task", *_OF_PARTITION])
    table = table.merge(known, on=["model", "partition"], how="left", suffixes=("", "_divided"))
    table["task"] = table["task"].fillna(table["task_divided"])
    table["family"] = table["model"].map(families)
    order = table.groupby(CLAIM, sort=False).ngroup()
    table = table.loc[order.sort_values(kind="stable").index, COLUMNS].reset_index(drop=True)
    return table.astype({**dict.fromkeys(NUMBERS, float), "k": "Int64"})


def together_table(comparisons: Mapping[str, StrPath]) -> pd.DataFrame:
    """Return a row for each verdict on a claim over several models that differ in a random seed alone.

    comparisons: {paper: path of the CSV file with its claims' verdicts}. Columns: paper, id, claim, place, model (the
    models' common name), subject (a partition or a task), verdict, reason, value, low and high (its interval).
    """
    parts = []
    for paper, path in comparisons.items():
        rows = _read(path)
        rows = rows[rows["kind"] == f"claim{TOGETHER}"]
        parts.append(rows.assign(paper=paper, subject=rows["partition" if "partition" in rows else "task"]))
    kept = [*CLAIM, "claim", "place", "model", "subject", "verdict", "reason", "value", "low", "high"]
    return pd.concat(parts, ignore_index=True)[kept]


def _read(path: StrPath) -> pd.DataFrame:
    columns = ("model", "id", "basis", "place", "ours", "low", "high", "p", "verdict", "reason")
    table = read_csv(path, "is no table of claims", columns, rows=0, **NAMED)
    return table.rename(columns={"quantity": "claim", "ours": "value"})


def _changed(readings: pd.DataFrame) -> pd.DataFrame:
    about = ["model", "partition", "id"]
    own = readings[readings["reading"] == OWN_READING].set_index(about)[_SAME]
    further = readings[readings["reading"] != OWN_READING]
    before = own.reindex(pd.MultiIndex.from_frame(further[about])).set_axis(further.index)
    now = further[_SAME]
    return further[((before != now) & ~(before.isna() & now.isna())).any(axis=1)]


def over_models(ledger: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each claim, with the number of cells (rows of `ledger`) and of models that have each verdict.

    ledger: a `ledger_table`. Columns: paper, id, basis, place and claim, as in that table; and these numbers:
    cells, cells_{verdict}: all cells of the claim, and its cells with this verdict.
    models, families: trained models with a verdict, and their families.
    models_hold, models_fail, models_open: models in which the claim holds in all cells with a verdict, fails in all, or
        neither. low, high: 95 % interval of the percent of models in which it holds; models_open hold for high.
    untrained, untrained_hold: networks of random weights with a verdict, and those in which the claim holds. If it
        holds in over half of these networks, models in which it holds count in models_open, not in models_hold.
    """
    rows = []
    for _, cells in ledger.groupby(CLAIM, sort=False):
        counts = cells["verdict"].value_counts().reindex(VERDICTS, fill_value=0)
        grouped = cells[cells["verdict"] != NO_VERDICT].groupby("model", sort=False)
        models = grouped[["verdict", "family"]].first()
        models = models.assign(verdict=models["verdict"].mask(grouped["verdict"].nunique().gt(1), OPEN))
        is_untrained = models["family"] == UNTRAINED
        untrained = [int(is_untrained.sum()), int((models["verdict"][is_untrained] == HOLDS).sum())]
        models = models[~is_untrained]
        if 2 * untrained[1] > untrained[0]:
            models = models.replace({"verdict": {HOLDS: OPEN}})
        number = [int((models["verdict"] == verdict).sum()) for verdict in (HOLDS, FAILS, OPEN)]
        low, high = share_interval(models["verdict"], models["family"])
        said = cells.iloc[0][_SAID].tolist()
        families = models["family"].nunique()
        rows.append([*said, len(cells), *counts, len(models), *number, families, 100 * low, 100 * high, *untrained])
    return pd.DataFrame(rows, columns=CLAIM_COLUMNS)


def share_interval(verdicts: Iterable[str], families: Iterable[str]) -> tuple[float, float]:
    """Return (low, high), a 95 % interval in [0, 1] of the share of models in which a claim holds; NaN without models.

    verdicts, families: the claim's verdict in each model, and the model's family.
    The interval is that of Clopper and Pearson (1934) for a proportion. Each family is one draw, with the share of its
    models in which the claim holds. An open verdict counts as false for `low`, and as true for `high`.
    """
    of_families: dict[str, list[str]] = defaultdict(list)
    for verdict, family in zip(verdicts, families, strict=True):
        of_families[family].append(verdict)
    if not of_families:
        return math.nan, math.nan
    # As many draws as families, at their mean: shares scatter no more than draws of 0 or 1, however alike models are.
    drawn = len(of_families)
    least = sum(own.count(HOLDS) / len(own) for own in of_families.values())
    most = drawn - sum(own.count(FAILS) / len(own) for own in of_families.values())
    low = betaincinv(least, drawn - least + 1, ALPHA / 2) if least > 0 else 0.0
    high = betaincinv(most + 1, drawn - most, 1 - ALPHA / 2) if most < drawn else 1.0
    return float(low), float(high)


def page_of(ledger: pd.DataFrame, claims: pd.DataFrame, together: pd.DataFrame, provenance: Mapping) -> str:
    """Return the ledger as one HTML page, which holds `provenance`, JSON data on what made the page.

    ledger, claims, together: the results of `ledger_table`, `over_models` and `together_table`.
    """
    texts = ledger[["partition", "task", "reading", "verdict_holm", "reason", "decided_in"]].fillna("")
    cells = ledger.assign(**texts).assign(
        subject=texts["partition"].where(texts["partition"] != "", texts["task"]),
        corrected=texts["verdict_holm"].where(ledger["verdict"] != NO_VERDICT, ""),
    )
    coded = {name: pd.factorize(cells[name].astype(str)) for name in _OF_CELL}
    packed = {
        "texts": {name: list(known) for name, (_, known) in coded.items()},
        "codes": {name: codes.tolist() for name, (codes, _) in coded.items()},
        "values": {name: rounded(cells[name]) for name in ("value", "low", "high")},
    }
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
        "data": embedded(packed),
    }
    styles, scripts = ["summary/page.css", "ledger/page.css"], ["tables.js", "ledger/page.js"]
    return render("ledger/page.html", values, provenance, styles=styles, scripts=scripts)


def how_often(claim: dict[str, Any]) -> dict[str, str | float]:
    """Return how often a claim, a row of `over_models`, holds: {column of the page: number or text}.

    share_of_cells, share_of_models: holds / (holds + fails), over cells (a cell is the verdict on one partition or task
        of a model) or over models; "" for 0 / 0.
    in_models: such as "3 of 5, 1 open", if the claim holds in 3 models, fails in 2, and is open in 1.
    of_models: the interval of the percent of models in which the claim holds, in words; for models of fewer than six
        families (groups of related models), "these checkpoints alone". If untrained networks have a verdict, the number
        of networks in which the claim holds follows. "" if neither models nor untrained networks have a verdict.
    """
    few = "1 family" if claim["families"] == 1 else f"{claim['families']} families"
    many = f"{claim['low']:.0f} to {claim['high']:.0f} % of models, by {few}"
    alone = f"these checkpoints alone ({few})"
    of_models = [many if claim["families"] >= FEWEST_FAMILIES else alone] * bool(claim["models"])
    if claim["untrained"]:
        of_models += [f"holds in {claim['untrained_hold']} of {claim['untrained']} untrained networks with a verdict"]
    decided, undecided = claim["models_hold"] + claim["models_fail"], claim["models_open"]
    in_models = [f"{claim['models_hold']} of {decided}"] * (decided > 0) + [f"{undecided} open"] * (undecided > 0)
    decided_cells = claim["cells_holds"] + claim["cells_fails"]
    return {
        "share_of_cells": claim["cells_holds"] / decided_cells if decided_cells else "",
        "in_models": ", ".join(in_models),
        "share_of_models": claim["models_hold"] / decided if decided else "",
        "of_models": "; ".join(of_models),
    }


def _runs(verdicts: Iterable[str]) -> Iterable[tuple[str, int, int]]:
    start = 0
    for verdict, run in groupby(verdicts):
        length = len(list(run))
        yield verdict, start, length
        start += length


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    ledger = ledger_table(inputs.comparisons, inputs.readings, page=outputs.page, **spec)
    claims = over_models(ledger)
    write_csv(outputs.csv, ledger)
    write_csv(outputs.claims, claims)
    write_text(outputs.page, page_of(ledger, claims, together_table(inputs.comparisons), provenance))
