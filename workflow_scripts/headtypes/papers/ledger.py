"""The ledger: the verdict on every claim of every paper in every model and reading, and over models."""

import math
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd
from scipy.special import betaincinv

from headtypes.core.files import StrPath
from headtypes.core.statistics import ALPHA
from headtypes.core.table_files import read_csv
from headtypes.core.tables import anchor
from headtypes.papers.comparison import NAMED, OWN_READING, TOGETHER, subject_title
from headtypes.papers.quantities import FAILS, HOLDS, NO_VERDICT, OPEN, VERDICTS

CLAIM = ["paper", "id"]
NUMBERS = ["value", "low", "high", "p", "p_holm", "published"]
_OF_PARTITION = ["method", "k", "of"]
COLUMNS = [
    *(*CLAIM, "basis", "place", "claim", "model", "family", "partition", "task", *_OF_PARTITION, "reading"),
    *("verdict", "verdict_holm", *NUMBERS, "reason", "decided_in"),
]
# Columns that are equal to the last digit under a further reading that changes nothing for a claim.
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


def ledger_table(
    comparisons: Mapping[str, StrPath],
    readings: Mapping[str, StrPath],
    *,
    families: Mapping[str, str],
    partitions: Iterable[Mapping],
    page: StrPath,
) -> pd.DataFrame:
    """Return every verdict on every claim, a row for each.

    comparisons: paths of results of `papers.comparison.comparison_table` in CSV, by paper.
    readings: paths of results of `papers.guan2020.readings.readings_table` in CSV, by paper.
    families: the family of each model, by the model's name.
    partitions: a mapping for each partition: model, partition, task, method, k, and `of` (weights or norms).
    page: path of the ledger's page, to which the links in `decided_in` are relative.

    Verdicts under further readings are kept only if the reading changes a number or the verdict.

    The columns are `COLUMNS`. A row is a claim (paper, id) in one cell. A cell is a model, a partition with its task or
    a task alone, and a reading, which is empty for the config's own.
    - value, low, high: the number that decides;
    - verdict_holm, p_holm: empty under further readings, which are not corrected;
    - decided_in: link to the section of the page that has the same name as the CSV file.
    Other columns are those of `comparisons`, and claims are in the order of `comparisons`. Raises `InputError` that
    names a damaged file.
    """
    folder, parts = Path(page).parent, []
    for paper, path in comparisons.items():
        compared = _read(path)
        claims = compared[compared["kind"] == "claim"]
        subjects = claims["partition" if "partition" in claims else "task"].fillna("")
        titles = map(subject_title, claims["model"], subjects)
        beside = _page(path, folder)
        links = [f"{beside}#{anchor(title)}" for title in titles]
        parts.append(claims.assign(paper=paper, reading="", decided_in=links))
        if paper in readings:
            # Partitions by norms have answers under readings, too, and are judged by no claim.
            changed = _changed(_read(readings[paper])).merge(claims[["model", "partition"]].drop_duplicates())
            parts.append(changed.assign(paper=paper, decided_in=_page(readings[paper], folder)))
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
    """Return the verdicts on claims over models that differ in a random seed alone.

    comparisons: paths of results of `papers.comparison.comparison_table` in CSV, by paper.
    The columns are paper, id, claim, place, model (the models' common name), subject (a partition or a task), verdict,
    reason, value, low, high.
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


def _page(path: StrPath, folder: Path) -> str:
    return Path(os.path.relpath(Path(path).with_suffix(".html"), folder)).as_posix()


def over_models(ledger: pd.DataFrame) -> pd.DataFrame:
    """Return the number of verdicts on each claim over cells, and over models, a row for each claim.

    ledger: the result of `ledger_table`. A cell is a row of this table: a claim under one model, partition or task, and
        reading.

    The columns are `CLAIM_COLUMNS`:
    - cells, cells_holds, ...: numbers of cells, in all and by verdict;
    - models: number of models with a verdict in some cell;
    - models_hold, models_fail: number of models in which the claim holds, or fails, in every cell;
    - models_open: number of all other models;
    - families: number of families of the models;
    - low, high: interval of the share of models in which the claim holds, in percent (`share_interval`); NaN without
      models;
    - untrained, untrained_hold: number of networks of the family `UNTRAINED`, and number in which the claim holds.
    Untrained networks count in no other column but the cells. If a claim holds in most untrained networks, the claim
    says nothing of training, and models in which the claim holds count as open.
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
    """Return the ends of a 95 % interval of the share of models in which a claim is true, from 0 to 1.

    verdicts, families: the claim's verdict in each model, and the model's family. Without models both ends are NaN.

    Families count as random draws: each family gives the share of its models in which the claim holds. The mean of the
    shares has the exact interval of a proportion of as many draws (Clopper and Pearson 1934). Shares between 0 and 1
    scatter no more than draws of 0 or 1, so models of a family may be alike to any degree. An open verdict counts as
    false for the lower end, and as true for the upper end.
    """
    of_families: dict[str, list[str]] = defaultdict(list)
    for verdict, family in zip(verdicts, families, strict=True):
        of_families[family].append(verdict)
    if not of_families:
        return math.nan, math.nan
    drawn = len(of_families)
    least = sum(own.count(HOLDS) / len(own) for own in of_families.values())
    most = drawn - sum(own.count(FAILS) / len(own) for own in of_families.values())
    low = betaincinv(least, drawn - least + 1, ALPHA / 2) if least > 0 else 0.0
    high = betaincinv(most + 1, drawn - most, 1 - ALPHA / 2) if most < drawn else 1.0
    return float(low), float(high)
