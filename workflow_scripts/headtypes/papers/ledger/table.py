"""The verdict on every claim of every paper in every cell: a model, a partition or a task, and a reading."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from headtypes.core.files import StrPath
from headtypes.core.table_files import read_csv
from headtypes.core.tables import anchor
from headtypes.papers.comparison import NAMED, OWN_READING, TOGETHER, subject_title

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
