"""Every type of a partition in every analysis of the model, beside random heads of the same layers: one long table."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from headtypes.analyses.ablation.metrics import metrics_in, sizes_in
from headtypes.analyses.per_set import Measure, TypeValue
from headtypes.analyses.registry import ANALYSES
from headtypes.analyses.types.partitions import Partition
from headtypes.comparisons.types.random_heads import Place, draw_heads, overlap, place_among
from headtypes.core.errors import InputError
from headtypes.core.seeds import derive_seed
from headtypes.core.statistics import mean_intervals, mean_over
from headtypes.core.table_files import read_csv

DRAWS = 1000
COLUMNS = {
    "type": str,
    "doubtful": bool,
    "heads": int,
    "overlap": float,
    **dict.fromkeys(("analysis", "task", "quantity", "statistic"), str),
    **dict.fromkeys(("value", "low", "high", "random", "random_low", "random_high"), float),
    "rank": "Int64",
    "p": float,
    "draws": int,
}


class LeftOut(NamedTuple):
    """What it costs to do something to the heads of one type, and to as many random heads of the same layers.

    type, operation: what is done to which heads; task: that the model answers.
    controls: scores of each draw of the same layers and question, as `controls.evaluate_controls` returns them.
    scores, baseline: scores of each question under the condition and the baseline.
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
    of_types: Sequence[TypeValue],
    left_out: Sequence[LeftOut],
    *,
    seed: int,
    draws: int = DRAWS,
) -> pd.DataFrame:
    """Each type of a partition in each analysis, beside as many heads of the same layers.

    measures: of every type, and those that are about one type, which the others are compared with.
    of_types: numbers of one type that were measured together with those of random heads, as of probes.
    left_out: the conditions of one type each that were evaluated with random heads.
    seed: of the draws and the intervals. A type's random heads are the same ones in all analyses, but for those of
        `left_out` and `of_types`, which were measured with heads of their own.

    returns one row for each type and number, the columns
      type, doubtful (whether the type's name is), heads, and overlap, the mean share of the random heads that are of
      the type themselves, NaN for `of_types`, which do not keep theirs;
      analysis (as the registry names it), task, quantity, statistic (how the values of the heads become one);
      value; low, high: its 95 % interval over samples or questions, empty where the analysis keeps none;
      random, random_low, random_high, rank, p, draws: as `random_heads.Place` has them.
    Shares of attention are 0 to 1, entropies and divergences in nats, accuracies and drops in percent or points, rises
    of a loss in nats per token.
    Raises `InputError` where the analyses are not of the partition's heads.
    """
    rows = []
    for name in partition.types:
        own = partition.type_of == name
        drawn = draw_heads(own, draws, derive_seed(seed, "random_heads", name))
        sets = np.concatenate([own[None], drawn]).reshape(1 + draws, -1)
        about = {
            "type": name,
            "doubtful": name in partition.doubtful,
            "heads": int(own.sum()),
            "overlap": overlap(own, drawn),
        }
        common = [measure for measure in measures if measure.about is None]
        others = [
            measure for other in partition.types if other != name for measure in measures if measure.about == other
        ]
        for measure in (*common, *others):
            values = _of_sets(measure, sets)
            low, high = (np.nan, np.nan) if measure.interval is None else measure.interval(sets[0])
            rows.append(about | _row(measure[:4], values[0], low, high, place_among(values[0], values[1:])))
        for cost in left_out:
            if cost.type == name:
                share = float(cost.controls.groupby("draw")["overlap"].first().mean())
                rows += [about | {"overlap": share} | row for row in _cost_rows(cost, seed)]
        for of_type in of_types:
            if of_type.type == name:
                among = place_among(of_type.value, of_type.drawn)
                found = _row(of_type[1:5], of_type.value, of_type.low, of_type.high, among)
                rows.append(about | {"overlap": np.nan} | found)
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)


def without_repeats(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of such a table but those that say what others do, as the relations of UD where there are Stanford's."""
    of_relations = table["analysis"] == "relations"
    derived = of_relations & table["quantity"].str.endswith("(stanford)")
    repeated = of_relations & ~derived & table["task"].isin(table.loc[derived, "task"])
    for analysis in ANALYSES:
        repeated |= (table["analysis"] == analysis.name) & table["quantity"].isin(analysis.repeats)
    return table[~repeated]


def read_compared_types(path: str | Path) -> pd.DataFrame:
    """Read a CSV of the table of `compare_types`. Raises `InputError` that names a damaged file."""
    # A name may be what pandas takes for a missing value.
    numbers = {name: [""] for name, kind in COLUMNS.items() if kind is not str}
    otherwise = "holds no types beside random heads"
    return read_csv(path, otherwise, COLUMNS, rows=0, dtype=COLUMNS, keep_default_na=False, na_values=numbers)


def _of_sets(measure: Measure, sets: np.ndarray) -> np.ndarray:
    try:
        return measure.of(sets)
    except (IndexError, ValueError) as error:
        raise InputError(
            f"The results of {measure.analysis} on {measure.task} are of other heads than the partition; delete them "
            "and run again."
        ) from error


def _row(names: Sequence[str], value: float, low: float, high: float, place: Place) -> dict:
    named = dict(zip(("analysis", "task", "quantity", "statistic"), names, strict=True))
    random = {"random": place.mean, "random_low": place.low, "random_high": place.high}
    return (
        named
        | {"value": value, "low": low, "high": high}
        | random
        | {"rank": place.rank, "p": place.p, "draws": place.draws}
    )


def _cost_rows(cost: LeftOut, seed: int) -> Iterator[dict]:
    """Drops (`metrics.Metric`) on the questions of the random heads, one row for each score."""
    asked = cost.controls["id"].unique()
    before, after = (table.set_index("id").loc[asked] for table in (cost.baseline, cost.scores))
    drawn, sizes = cost.controls.groupby("draw"), sizes_in(after)
    for metric in metrics_in(cost.controls):
        lost = metric.drop(before[metric.column], after[metric.column]).to_numpy(float)
        low, high = mean_intervals(lost, sizes=sizes, seed=seed)
        value, whole = float(mean_over(lost, sizes)), mean_over(before[metric.column].to_numpy(float), sizes)
        of_draws = drawn[metric.column]
        kept = of_draws.mean() if sizes is None else of_draws.sum() / sizes.sum()
        place = place_among(value, metric.drop(whole, kept.to_numpy()))
        names = ("ablation", cost.task, f"{metric.change} of {metric.name}", cost.operation)
        yield _row(names, value, float(low), float(high), place)
