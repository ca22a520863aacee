"""What differs between two ledgers: of another version of this workflow, of its packages, of a model or its data."""

from collections.abc import Iterator

import pandas as pd

from headtypes.core.markdown import document, markdown_table
from headtypes.papers.ledger.table import CELL, CLAIM

_KEY = [*CLAIM, *CELL]
_NUMBERS = ["value", "low", "high"]


def changed_verdicts(old: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    """The cells of both ledgers whose verdict differs, before or after correction.

    returns paper, id, model, partition, task, reading, and of both, with the suffixes _old and _new, verdict,
      verdict_holm, value, low and high.
    """
    both = _both(old, new)
    differs = (both["verdict_old"] != both["verdict_new"]) | (both["verdict_holm_old"] != both["verdict_holm_new"])
    return both[differs]


def difference_page(old: pd.DataFrame, new: pd.DataFrame) -> str:
    """The difference as Markdown: verdicts that changed, values that did not change one, and cells of one alone."""
    changed, both = changed_verdicts(old, new), _both(old, new)
    moved = [_unlike(both[f"{name}_old"], both[f"{name}_new"]) for name in _NUMBERS]
    unmoved = pd.concat(moved, axis=1).any(axis=1) & ~both.index.isin(changed.index)
    parts = [
        f"{len(both):,} cells are in both ledgers. The verdict of {len(changed):,} of them changed; of "
        f"{int(unmoved.sum()):,} further ones a value or an interval did.",
        *_listed("Changed verdicts", changed),
        *_listed("Changed values under the same verdict", both[unmoved]),
        *_alone("Only in the old ledger", old, new),
        *_alone("Only in the new ledger", new, old),
    ]
    return document("Difference between two ledgers", parts)


def _both(old: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    kept = [*_KEY, "verdict", "verdict_holm", *_NUMBERS]
    return old[kept].merge(new[kept], on=_KEY, suffixes=("_old", "_new"))


def _unlike(old: pd.Series, new: pd.Series) -> pd.Series:
    """Where numbers differ; two that are missing do not."""
    return (old != new) & ~(old.isna() & new.isna())


def _listed(title: str, rows: pd.DataFrame) -> Iterator[str]:
    if rows.empty:
        return
    yield f"## {title}"
    said = {side: [_said(row, side) for row in rows.to_dict("records")] for side in ("old", "new")}
    yield markdown_table(pd.DataFrame(_cells(rows) | said))


def _alone(title: str, own: pd.DataFrame, other: pd.DataFrame) -> Iterator[str]:
    """How many claims each cell has that the other ledger lacks."""
    merged = own[_KEY].merge(other[_KEY], how="left", indicator=True)
    rows = merged[merged["_merge"] == "left_only"]
    if rows.empty:
        return
    yield f"## {title}"
    yield markdown_table(rows.groupby(["paper", *CELL], sort=False).size().rename("claims").reset_index())


def _cells(rows: pd.DataFrame) -> dict[str, list[str]]:
    where = [", ".join(filter(None, cell)) for cell in rows[CELL].itertuples(index=False, name=None)]
    return {"paper": rows["paper"].tolist(), "claim": rows["id"].tolist(), "cell": where}


def _said(row: dict, side: str) -> str:
    """A verdict with what it is after correction, its value and its interval."""
    verdict, corrected, value, low, high = (
        row[f"{name}_{side}"] for name in ("verdict", "verdict_holm", "value", "low", "high")
    )
    said = f"{verdict} (corrected: {corrected or 'none'})" if corrected != verdict else verdict
    number = "" if pd.isna(value) else f" {value:.4g}"
    return said + number + ("" if pd.isna(low) else f" [{low:.4g}, {high:.4g}]")
