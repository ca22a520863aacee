"""Every type of a partition in every analysis of the model, beside random heads: one long table."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float

from headtypes.analyses.ablation.controls import lost_answers, read_scored
from headtypes.analyses.declaration import Measure
from headtypes.analyses.registry import ANALYSES, analysis_named
from headtypes.analyses.types.partitions import Partition
from headtypes.core.files import StrPath
from headtypes.core.seeds import derive_seed
from headtypes.core.statistics import EQUAL, holm, mean_intervals, mean_over
from headtypes.core.table_files import table_reader

# Heads that are drawn at once: 8 MB of random numbers.
_BLOCK = 2**20


class Place(NamedTuple):
    """The place of a value among those of random heads; NaN where there are none.

    random, random_low, random_high: mean of the random values, and their 2.5 and 97.5 % quantiles.
    rank: place of the value among the random ones and itself, from the largest; an equal one goes before it.
    p: two-sided p of the permutation test, twice the smaller of the shares of values, the own among them, that are at
        least as large and at least as small; at most 1. draws: number of random values that are defined.
    """

    random: float
    random_low: float
    random_high: float
    rank: int | None
    p: float
    draws: int


def draw_heads(
    own: Bool[np.ndarray, "layer head"], draws: int, seed: int
) -> Iterator[Bool[np.ndarray, "draw layer*head"]]:
    """Draw sets of heads that have as many heads in each layer as a type has there, in blocks.

    own: whether each head is of the type.
    """
    rng, rows = np.random.default_rng(seed), max(1, _BLOCK // own.size)
    for start in range(0, draws, rows):
        keys = rng.random((min(rows, draws - start), *own.shape))
        ranks = keys.argsort(axis=-1).argsort(axis=-1)
        yield (ranks < own.sum(axis=-1)[:, None]).reshape(len(keys), -1)


def place_among(value: float, drawn: Float[np.ndarray, " draw"]) -> Place:
    """Return the place of a value among those of random heads (Phipson and Smyth 2010: p is never zero)."""
    drawn = drawn[~np.isnan(drawn)]
    if np.isnan(value) or not len(drawn):
        return Place(np.nan, np.nan, np.nan, None, np.nan, len(drawn))
    as_large = 1 + int((drawn >= value - EQUAL).sum())
    as_small = 1 + int((drawn <= value + EQUAL).sum())
    low, high = np.quantile(drawn, [0.025, 0.975])
    p = min(1.0, 2 * min(as_large, as_small) / (1 + len(drawn)))
    return Place(float(drawn.mean()), float(low), float(high), as_large, p, len(drawn))


# The least number of draws, and that for each comparison: with fewer than 40, none would be told after the correction.
DRAWS, _DRAWS_EACH = 20_000, 50
COLUMNS = {
    "type": str,
    "doubtful": bool,
    "heads": int,
    **dict.fromkeys(("analysis", "task", "quantity", "statistic"), str),
    **dict.fromkeys(("value", "low", "high", "random", "random_low", "random_high"), float),
    "rank": "Int64",
    **dict.fromkeys(("p", "p_holm"), float),
    "draws": int,
    "overlap": float,
}
# Statistics that are in the table alone.
_HIDDEN = ("smallest", "largest")


class LeftOut(NamedTuple):
    """The cost of an operation on the heads of one type, and on as many random heads of the same layers.

    controls: scores of each draw and question (`evaluation.evaluate_controls`); scores, baseline: of each question.
    """

    type: str
    operation: str
    task: str
    controls: pd.DataFrame
    scores: pd.DataFrame
    baseline: pd.DataFrame


def compare_types(
    partition: Partition,
    measures: Sequence[Measure],
    left_out: Sequence[LeftOut],
    *,
    tested: Collection[str],
    seed: int,
    draws: int = DRAWS,
) -> pd.DataFrame:
    """Set each type of a partition, in each analysis, beside as many random heads.

    measures: of every type, and those that are about one type, which the others are compared with.
    left_out: the conditions of one type each that were evaluated with random heads of their own.
    tested: the analyses in which types are tested; in others they are described.
    seed: of the draws; a type's random heads are the same ones in all analyses.
    draws: the least number; there are more where so many could not tell a single comparison once it is corrected.

    There is one row for each type and number, with the columns
      type, doubtful (whether the type's name is), heads;
      analysis (as the registry names it), task, quantity, statistic (how the values of the heads become one);
      value; low, high: its interval over samples or questions, empty where there are none or too few;
      random, random_low, random_high, rank, p, draws: as `Place` has them, of heads of the same layers; p_holm: p
        corrected by Holm's procedure, both for the rows of tested analyses that are shown, empty for the others;
      overlap: the mean share of the random heads that are of the type themselves.
    `left_out` lacks ranks and p.
    Shares of attention are 0 to 1, entropies and divergences in nats, accuracies and drops in percent or points, rises
    of a loss in nats per token.
    """
    compared = len(partition.types) * sum(measure.statistic not in _HIDDEN for measure in measures)
    draws = max(draws, _DRAWS_EACH * compared)
    rows = []
    for name in partition.types:
        own = partition.type_of == name
        about = {"type": name, "doubtful": name in partition.doubtful, "heads": int(own.sum())}
        asked = [measure for measure in measures if measure.about != name]
        values = [measure.of(own.reshape(1, -1))[0] for measure in asked]
        beside = _beside(asked, values, own, draw_heads(own, draws, derive_seed(seed, "random_heads", name)))
        for measure, value, place in zip(asked, values, beside, strict=True):
            low, high = (np.nan, np.nan) if measure.interval is None else measure.interval(own.ravel())
            rows.append(about | _row(measure[:4], value, low, high) | place)
        for cost in left_out:
            if cost.type == name:
                share = float(cost.controls.groupby("draw")["overlap"].first().mean())
                rows += [about | row | {"overlap": share} for row in _cost_rows(cost)]
    table = pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)
    shown = shown_rows(table)
    table["p"] = shown.loc[shown["analysis"].isin(tested), "p"].reindex(table.index)
    table["p_holm"] = holm(table["p"].to_numpy())
    return table


def shown_rows(table: pd.DataFrame) -> pd.DataFrame:
    """Select the rows of such a table that the figure has.

    It lacks the smallest and the largest head, and rows that repeat others, as UD's relations do Stanford's.
    """
    of_relations = table["analysis"] == "relations"
    derived = of_relations & table["quantity"].str.endswith("(stanford)")
    left_out = of_relations & ~derived & table["task"].isin(table.loc[derived, "task"])
    for analysis in ANALYSES:
        left_out |= (table["analysis"] == analysis.name) & table["quantity"].isin(analysis.repeats)
    return table[~left_out & ~table["statistic"].isin(_HIDDEN)]


# Of the table of `compare_types`.
read_compared_types = table_reader("holds no types beside random heads", COLUMNS, rows=0)


def _beside(
    measures: Sequence[Measure], values: Sequence[float], own: np.ndarray, drawn: Iterable[np.ndarray]
) -> list[dict]:
    """Return the place of each measure's value among those of the drawn heads, and the overlap of these with the
    own.
    """
    of_blocks, overlaps = [], []
    for sets in drawn:
        of_blocks.append([measure.of(sets) for measure in measures])
        overlaps.append((sets @ own.ravel().astype(float)) / own.sum())
    overlap = float(np.concatenate(overlaps).mean())
    return [
        place_among(value, np.concatenate(of_draws))._asdict() | {"overlap": overlap}
        for value, of_draws in zip(values, zip(*of_blocks, strict=True), strict=True)
    ]


def _row(names: Sequence[str], value: float, low: float, high: float) -> dict:
    named = dict(zip(("analysis", "task", "quantity", "statistic"), names, strict=True))
    return named | {"value": value, "low": low, "high": high}


def _cost_rows(cost: LeftOut) -> Iterator[dict]:
    """Return drops (`tasks.Metric`) on the questions of the random heads, one row for each score; they have no p.

    Random heads of the same layers have most heads in common with the type, and are few.
    """
    metrics, lost, own_lost, sizes = lost_answers(cost.controls, cost.scores, cost.baseline)
    for metric, of_draws, of_own in zip(metrics, lost, own_lost, strict=True):
        low, high = mean_intervals(of_own, sizes=sizes, reach=metric.reach)
        place = place_among(float(mean_over(of_own, sizes)), mean_over(of_draws, sizes))
        names = ("ablation", cost.task, f"{metric.change} of {metric.name}", cost.operation)
        described = place._replace(rank=None, p=np.nan)._asdict()
        yield _row(names, float(mean_over(of_own, sizes)), float(low), float(high)) | described


def compare_files(
    partition: Partition,
    files: Mapping[str, Mapping[str, StrPath]],
    *,
    left_out: Sequence[tuple[Mapping[str, str], StrPath, StrPath, StrPath]] = (),
    tested: Collection[str],
    seed: int,
) -> pd.DataFrame:
    """Call `compare_types` with what files hold; raises `InputError` that names a damaged file.

    files: of each analysis that there is, in the order of the rows, by its task. left_out: type, operation and task of
    each condition, and the files of scores with random heads, with the type's own, and of the baseline.
    """
    types = {name: (partition.type_of == name).ravel() for name in partition.types}
    measures = []
    for name, of_tasks in files.items():
        for task, path in of_tasks.items():
            measures += analysis_named(name).per_set(task, path, types, derive_seed(seed, name, task))
    costs = []
    for names, *paths in left_out:
        controls, *others = read_scored(*paths)
        costs.append(LeftOut(*(names[key] for key in ("type", "operation", "task")), controls, *others))
    return compare_types(partition, measures, costs, tested=tested, seed=seed)
