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
# What a reading leaves as it is, to the last digit, where it changes nothing that a claim rests on.
_SAME = ["verdict", "value", "low", "high", "p", "reason"]


def ledger_table(
    comparisons: Mapping[str, StrPath],
    readings: Mapping[str, StrPath],
    *,
    families: Mapping[str, str],
    partitions: Iterable[Mapping],
    page: StrPath,
) -> pd.DataFrame:
    """Return every verdict of the papers' comparisons, and those under further readings that change anything.

    comparisons, readings: CSV files by paper, as `papers.comparison.comparison_table` and
        `papers.guan2020.readings.readings_table` make them, each beside its page.
    families: the family of each model; partitions: model, partition, task, and method, k and of, as in the plan, of
        each; page: where the ledger will lie, which `decided_in` is relative to.
    Returns the columns `COLUMNS`, a row for each claim (paper, id) and cell: the model, with its family; the partition,
    with its task, or the task alone; the reading, empty for the config's own. verdict, verdict_holm, p, p_holm, reason,
    published: as in the comparison; verdicts under further readings are not corrected. value, low, high: of the finding
    that decides. decided_in: the part of a page. Claims are in the order of the papers, cells in that of the
    comparisons.
    Raises `InputError` that names a damaged file.
    """
    folder, parts = Path(page).parent, []
    for paper, path in comparisons.items():
        compared = _read(path)
        claims = compared[compared["kind"] == "claim"]
        subjects = claims["partition" if "partition" in claims else "task"].fillna("")
        titles = map(subject_title, claims["model"], subjects)
        beside = _page(path, folder)
        parts.append(claims.assign(paper=paper, reading="", decided_in=[f"{beside}#{anchor(it)}" for it in titles]))
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
    """Return the verdicts over models that differ in a seed alone; comparisons: as in `ledger_table`.

    The columns are paper, id, claim, place, model (their common name), subject (partition or task), verdict, reason,
    value, low, high.
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
    """Select the rows under further readings in which a claim rests on other numbers than under the config's own."""
    about = ["model", "partition", "id"]
    own = readings[readings["reading"] == OWN_READING].set_index(about)[_SAME]
    further = readings[readings["reading"] != OWN_READING]
    before = own.reindex(pd.MultiIndex.from_frame(further[about])).set_axis(further.index)
    now = further[_SAME]
    return further[((before != now) & ~(before.isna() & now.isna())).any(axis=1)]


def _page(path: StrPath, folder: Path) -> str:
    return Path(os.path.relpath(Path(path).with_suffix(".html"), folder)).as_posix()


# Were a claim to hold in all of fewer families, its interval would still reach below one half.
FEWEST_FAMILIES = 6
# The family of networks of random weights, which are no models of anything: what holds in them was not learnt.
UNTRAINED = "untrained"
_SAID = [*CLAIM, "basis", "place", "claim"]
CLAIM_COLUMNS = [
    *(*_SAID, "cells", *(f"cells_{verdict.replace(' ', '_')}" for verdict in VERDICTS)),
    *("models", "models_hold", "models_fail", "models_open", "families", "low", "high"),
    *("untrained", "untrained_hold"),
]


def over_models(ledger: pd.DataFrame) -> pd.DataFrame:
    """Count the verdicts on each claim over all cells, and over models.

    Returns a row for each claim in the ledger's order, with `CLAIM_COLUMNS`. cells: their number, and by verdict.
    models: those with a verdict in some cell. A claim holds in a model (models_hold) if it does in each of these cells,
    fails if it does in each, and is open otherwise; and where it holds in most untrained networks, that it holds says
    nothing of training, and is open too. families: of these models; low, high: the interval of the share of models in
    which it holds (`share_interval`), in percent; NaN without such models. untrained, untrained_hold: of networks of
    the
    family `UNTRAINED`, which count nowhere else but in the cells.
    """
    rows = []
    for _, cells in ledger.groupby(CLAIM, sort=False):
        counts = cells["verdict"].value_counts().reindex(VERDICTS, fill_value=0)
        of_models = verdicts_of_models(cells)
        is_untrained = of_models["family"] == UNTRAINED
        untrained = [int(is_untrained.sum()), int((of_models["verdict"][is_untrained] == HOLDS).sum())]
        of_models = of_models[~is_untrained]
        if 2 * untrained[1] > untrained[0]:
            of_models = of_models.replace({"verdict": {HOLDS: OPEN}})
        number = [int((of_models["verdict"] == verdict).sum()) for verdict in (HOLDS, FAILS, OPEN)]
        low, high = share_interval(of_models["verdict"], of_models["family"])
        said = cells.iloc[0][_SAID].tolist()
        families = of_models["family"].nunique()
        rows.append([*said, len(cells), *counts, len(of_models), *number, families, 100 * low, 100 * high, *untrained])
    return pd.DataFrame(rows, columns=CLAIM_COLUMNS)


def verdicts_of_models(cells: pd.DataFrame) -> pd.DataFrame:
    """Return verdict and family of each model with a verdict on one claim; open where its cells disagree."""
    grouped = cells[cells["verdict"] != NO_VERDICT].groupby("model", sort=False)
    of_models = grouped[["verdict", "family"]].first()
    return of_models.assign(verdict=of_models["verdict"].mask(grouped["verdict"].nunique().gt(1), OPEN))


def share_interval(verdicts: Iterable[str], families: Iterable[str]) -> tuple[float, float]:
    """Return a 95 % interval of the share of models in which a claim is true, from some of their families.

    Families are what is drawn: each gives the share of its models in which the claim holds, and the mean of these
    shares has the exact interval of a proportion of so many draws (Clopper and Pearson 1934). No shares between 0 and 1
    scatter more than draws that are either, so that nothing need be known of how alike the models of a family are. An
    open verdict may be true or not: the lower end takes it for false, the upper end for true. NaN, NaN without models.
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
