"""Intervals of a model's scores under all conditions of a partition, from the scores of each question."""

from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd

from headtypes.core.errors import InputError
from headtypes.core.files import StrPath
from headtypes.core.statistics import Evidence, Measured, added
from headtypes.core.table_files import read_parquet, table_reader, write_csv
from headtypes.data.tasks import METRICS, counted_by, metrics_in, sizes_in

read_intervals = table_reader("holds no intervals", {"condition": str})
read_differences = table_reader("holds no differences of conditions", {"condition": str, "other": str, "low": float})


def read_scores(paths: Sequence[StrPath]) -> list[pd.DataFrame]:
    """Return a table for each path, the file of a model's scores under one condition, with a row for each question.

    Raises `InputError` that names a file that is damaged, or whose questions are not those of the first file, in order.
    """
    read = [read_parquet(path, "holds no scores", ["id"]) for path in paths]
    for path, scores in zip(paths, read, strict=True):
        if not scores["id"].equals(read[0]["id"]):
            raise InputError(f"{path} and {paths[0]} have different questions; delete both and run again.")
    return read


class Scored:
    """One score of a model under several conditions, as a mean for each unit: each article, or each question.

    scores: {condition: a table with a row of scores for each question}. metric: name of the score, such as f1.
    by_article: True for articles as units, if the tables have the column article; else questions are the units.
    Questions about one article depend on one another, so that an interval over such questions cannot be trusted.
    Raises `InputError` if a score is NaN or infinite.
    """

    def __init__(self, scores: Mapping[str, pd.DataFrame], metric: str, *, by_article: bool = True) -> None:
        first = next(iter(scores.values()))
        by_article &= "article" in first
        self.over = "articles" if by_article else counted_by(metrics_in(first))
        self._is_percent = METRICS[metric].unit == "%"
        values = pd.DataFrame({name: table[METRICS[metric].column].to_numpy(float) for name, table in scores.items()})
        if broken := np.count_nonzero(~np.isfinite(values)):
            raise InputError(
                f"{broken} of {values.size} scores are NaN or infinite: means over different questions do not compare. "
                "Evaluate every condition on all questions."
            )
        sizes, unit = sizes_in(first), first["article"].to_numpy() if by_article else values.index
        self._sizes = pd.Series(1.0 if sizes is None else sizes, values.index).groupby(unit).sum()
        self._own = values.groupby(unit).sum().div(self._sizes, axis=0)

    def sum(self, weights: Mapping[str, float], baseline: str | None = None) -> Measured:
        """Return a sum of mean scores, each times a weight, with its interval, in the unit of the score, such as %.

        weights: {condition: weight}; {"baseline": 1, "zero": -1} gives by how much the mean is less under "zero".
        baseline: the condition without ablation, if in `weights`; if it is not named, the interval can be too narrow.
        """
        weights = {condition: weight for condition, weight in weights.items() if weight}
        rest = sum(weights.values())
        # Without a named baseline the interval can be too narrow where nearly all units have the same drop.
        # Drops and the baseline are parts; each condition is one if nearly all units score the same under it (nearly
        # all answers are wrong there), unless nearly all drops are the same, too.
        parts = [self._part(weights)]
        if len(weights) > 1 and baseline in weights and abs(rest) > 1e-9:
            parts = [self._part({baseline: rest}), self._part({**weights, baseline: weights[baseline] - rest})]
        if not parts[-1].is_exact:
            alone = {condition: self._part({condition: weight}) for condition, weight in weights.items()}
            if any(one.is_exact for condition, one in alone.items() if condition != baseline):
                parts = list(alone.values())
        return Measured.by(added(parts), over=self.over)

    def _part(self, weights: Mapping[str, float]) -> Evidence:
        ends = np.array([*weights.values(), 0.0])
        reach = (100 * np.minimum(ends, 0).sum(), 100 * np.maximum(ends, 0).sum()) if self._is_percent else None
        own = self._own[list(weights)].to_numpy() @ np.array(list(weights.values()))
        return Evidence(own, self._sizes.to_numpy(), reach)


def condition_intervals(scores: Mapping[str, pd.DataFrame], baseline: str | None) -> pd.DataFrame:
    """Return a row for each condition: its mean scores and their drops from the baseline, with intervals.

    scores: {condition: a table with a row of scores for each question, perhaps with the column article}. baseline: the
    name of the baseline, or None. The first column is condition. Each metric, such as f1, has two columns in its own
    unit: {metric}, the mean score, and drop_{metric}, how much worse the mean is than the baseline's.
    Each of the two has four more columns, ends of its interval: {column}_low and _high over questions, and
    {column}_low_by_article and _high_by_article over articles. Drops are NaN without a baseline.
    Ends are NaN over fewer than 8 questions or articles, over unknown articles, and for the baseline's own drop, which
    is 0. The F1 of sentence pairs has no columns, since it is no mean over pairs.
    """
    first = next(iter(scores.values()))
    table = {"condition": list(scores)}
    for metric in metrics_in(first):
        sign = metric.drop(1, 0)
        drops = [{} if baseline in (None, name) else {baseline: sign, name: -sign} for name in scores]
        units = {"": Scored(scores, metric.name, by_article=False)}
        units |= {"_by_article": Scored(scores, metric.name) if "article" in first else None}
        for name, sums in ((metric.name, [{name: 1.0} for name in scores]), (f"drop_{metric.name}", drops)):
            for suffix, scored in units.items():
                unknown = Measured(0.0 if baseline and name != metric.name else np.nan)
                found = [scored.sum(weights, baseline) if scored and weights else unknown for weights in sums]
                if not suffix:
                    table[name] = [mean.value for mean in found]
                table |= {f"{name}_{end}{suffix}": [getattr(mean, end) for mean in found] for end in ("low", "high")}
    return pd.DataFrame(table)


def differences(scores: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    rows = []
    for metric in metrics_in(next(iter(scores.values()))):
        scored = Scored(scores, metric.name)
        # -1 if lower values are better.
        sign = metric.drop(1, 0)
        for condition, other in permutations(scores, 2):
            lost = scored.sum({other: sign, condition: -sign})
            rows.append((metric.name, condition, other, lost.value, lost.low, lost.high, lost.over))
    return pd.DataFrame(rows, columns=["metric", "condition", "other", "difference", "low", "high", "over"])


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    scores = dict(zip(inputs.scores, read_scores(list(inputs.scores.values())), strict=True))
    write_csv(outputs.intervals, condition_intervals(scores, **spec))
    write_csv(outputs.differences, differences(scores))
