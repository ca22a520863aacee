"""Which heads find a relation, which are used for it, and of which it cannot be told."""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float

from headtypes.analyses.relations.results import NAMED
from headtypes.analyses.use.found import Found
from headtypes.core.files import StrPath
from headtypes.core.statistics import ALPHA, RESAMPLES, bounds, draw_units, holm, p_values
from headtypes.core.table_files import read_csv, read_parquet

# Whose arcs are taken away in which heads, and how; `measure.measure_use` says what these are.
OF = ("relation", "other_arcs", "other_heads")
READINGS = ("zero", "renormalised")
LOSSES = ("relation", "direction", "of", "reading", "unit", "tokens", "loss", "without")
# What a head has to exceed to be used: nothing, the other arcs, and the other heads.
EXCESSES = ("rise", "above_arcs", "above_heads")
USED, NOT_USED, NOT_TOLD, NOT_FOUND = "found and used", "found and not used", "could not be told", "not found"
COLUMNS = (
    *("relation", "direction", "layer", "head", "layers", "heads"),
    *("accuracy", "baseline", "above", "above_low", "above_high", "found"),
    *("reading", *EXCESSES, "rise_low", "rise_high", "verdict"),
)


def is_found(found: Sequence[Found], seed: int) -> Bool[np.ndarray, " found"]:
    """Which of the heads are better than the offset, on texts on which neither was chosen (`use_table`)."""
    return np.array([row["found"] for row in _found_rows(found, seed)], bool)


def use_table(
    found: Sequence[Found], losses: pd.DataFrame, *, least: float, found_seed: int, seed: int
) -> pd.DataFrame:
    """What each head finds, and whether it is used for it.

    found:  as `finders.read_found` gives them; losses: as `measure.measure_use` returns them for these.
    least:  nats per predicted token, or answer, from which a rise of the loss counts.
    found_seed: by which `measure.measure_use` told what is found; seed: of the other intervals. All are of 95 % and
        over the units: sentences, documents or, of rises of a task's loss, its questions.

    returns one row per relation, direction and reading, intervals as {name}_low and {name}_high:
    relation, direction, layer, head, offset: as in `found.Found`; layers, heads: how many the model has; words: those
        that look, visible: those whose head sees what they look at;
    accuracy, baseline: of these, how many the head and the offset find, in percent; above: their difference, and its
        interval; found_p: that it is zero, corrected over the rows shown (`holm`); found: below 0.05, and above zero;
    reading, tokens: how the attention is taken away, and on how many tokens the loss is measured; loss: of the plain
        model on these, in nats per token;
    rise: what it rises by without the arcs of the relation; above_arcs, above_heads: how much more than without the
        other arcs (on the words that own these), and than without the same arcs in the other heads; their intervals;
    p: where the rise is above `least`, that one of these three is not; where it is below, that it is not; corrected
        over rows and readings;
    verdict: in both readings, `found and used` if all three are above `least`, `found and not used` if the rise is
        below it; else `could not be told`, also if there are neither other arcs nor other heads; or `not found`. Where
        only one of these is, as beside arcs to the previous word, it alone counts.
    """
    rows = _found_rows(found, found_seed)
    table = pd.DataFrame([{**row, "reading": reading} for row in rows for reading in READINGS])
    if table.empty:
        return pd.DataFrame(columns=list(COLUMNS))
    groups = dict(list(losses.groupby(["relation", "direction", "reading"])))
    nothing = losses.iloc[:0]
    keys = zip(table["relation"], table["direction"], table["reading"], strict=True)
    measured = pd.DataFrame([_excesses(groups.get(key, nothing), least, seed) for key in keys])
    measured["p"] = holm(measured["p"].to_numpy(float))
    table = table.join(measured)
    told = table["p"] < ALPHA
    table["verdict"] = np.where(told & table["is_above"], USED, np.where(told & ~table["is_above"], NOT_USED, NOT_TOLD))
    of_head = table.groupby(["relation", "direction"])["verdict"]
    table["verdict"] = table["verdict"].where(of_head.transform("nunique") == 1, NOT_TOLD)
    table["verdict"] = table["verdict"].where(table["found"], NOT_FOUND)
    return table.drop(columns="is_above")


def read_losses(path: StrPath) -> pd.DataFrame:
    """Read what `measure.measure_use` returned. Raises `InputError` that names a damaged file."""
    return read_parquet(path, "holds no losses without arcs", LOSSES)


def read_use(path: StrPath) -> pd.DataFrame:
    """Read a CSV of `use_table`. Raises `InputError` that names a damaged file."""
    return read_csv(path, "does not say which heads are used", COLUMNS, rows=0, **NAMED)


def _found_rows(found: Iterable[Found], seed: int) -> list[dict]:
    rows = []
    for each in found:
        count = len(each.right)
        right, by_offset = each.right.astype(float), each.by_offset.astype(float)
        names, unit = np.unique(each.unit, return_inverse=True)
        sums = np.stack([np.bincount(unit, values, len(names)) for values in (right, right - by_offset)], 1)
        sizes = np.bincount(unit, minlength=len(names)).astype(float)
        means = _resampled(sums, sizes[:, None], seed)
        (low, above_low), (high, above_high), (_, p) = _interval(means, sizes)
        rows.append(
            {name: getattr(each, name) for name in ("relation", "direction", "layer", "head", "offset", "words")}
            | dict(zip(("layers", "heads"), each.shape, strict=True))
            | {"visible": count, "accuracy": 100 * right.mean(), "accuracy_low": 100 * low, "accuracy_high": 100 * high}
            | {"baseline": 100 * by_offset.mean(), "above": 100 * (right - by_offset).mean()}
            | {"above_low": 100 * above_low, "above_high": 100 * above_high, "found_p": p}
        )
    for row, p in zip(rows, holm(np.array([row["found_p"] for row in rows])), strict=True):
        row |= {"found_p": p, "found": bool(p < ALPHA and row["above"] > 0)}
    return rows


def _excesses(losses: pd.DataFrame, least: float, seed: int) -> dict:
    """The columns of one row of `use_table` from `tokens`, of one reading; p is not corrected, is_above its side."""
    of_relation = losses[losses["of"] == OF[0]]
    tokens = of_relation["tokens"].sum()
    row = {"tokens": tokens, "loss": of_relation["loss"].sum() / tokens if tokens else np.nan}
    units, sums, sizes = np.unique(of_relation["unit"]), [], []
    for of in OF:
        rows = losses[losses["of"] == of]
        at, known = np.searchsorted(units, rows["unit"]), np.isin(rows["unit"], units)
        for values, into in ((rows["without"] - rows["loss"], sums), (rows["tokens"], sizes)):
            into.append(np.bincount(at[known], values[known].astype(float), len(units)))
    sums, sizes = np.stack(sums, 1), np.stack(sizes, 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        rises = sums.sum(0) / sizes.sum(0)
    rises = np.array([rises[0], *(rises[0] - rises[1:])])
    means = _resampled(sums, sizes, seed)
    low, high, p = _interval(np.concatenate([means[:, :1], means[:, :1] - means[:, 1:]], 1), sizes[:, 0], least)
    for name, *values in zip(EXCESSES, rises, low, high, strict=True):
        row |= dict(zip((name, f"{name}_low", f"{name}_high"), values, strict=True))
    known = ~np.isnan(p)
    if not (known[0] and known[1:].any()):
        return row | {"p": np.nan, "is_above": False}
    if rises[0] < least:
        return row | {"p": p[0], "is_above": False}
    # All are to be above: the intersection-union test.
    return row | {"p": np.max(np.where(rises > least, p, 1)[known]), "is_above": True}


def _resampled(sums: np.ndarray, sizes: np.ndarray, seed: int) -> Float[np.ndarray, "resample column"]:
    """Ratios of sums to sizes, each [unit, column], over units drawn anew; NaN where nothing is drawn.

    None are drawn from fewer than two.
    """
    if len(sums) < 2:
        return np.empty((0, sums.shape[1]))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.concatenate([(drawn @ sums) / (drawn @ sizes) for drawn in draw_units(len(sums), RESAMPLES, seed)])


def _interval(means: np.ndarray, sizes: np.ndarray, limit: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ends of the intervals of resampled means [resample, column], and p of the limit; NaN where they are undefined."""
    low, high, p = np.full((3, means.shape[1]), np.nan)
    for column in range(means.shape[1]):
        some = means[~np.isnan(means[:, column]), column]
        if len(some):
            low[column], high[column] = bounds(some, sizes)
            p[column] = p_values(some, sizes, limit)
    return low, high, p
