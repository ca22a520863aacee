"""The cost of each head in random company, and types and other numbers of heads held against the costs.

Costs are those of least squares of what sets of heads lose on the heads that are away. Labels and numbers are compared
with them by permutation of the heads within their layers.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import rankdata
from scipy.stats import t as student

from headtypes.analyses.company.results import LOSS, Company
from headtypes.analyses.declaration import Column
from headtypes.analyses.registry import ANALYSES, analysis_named, by_analysis
from headtypes.analyses.types.partitions import Partition, read_partition
from headtypes.core.errors import InputError
from headtypes.core.files import read_each, write_json
from headtypes.core.hdf5_files import read_arrays
from headtypes.core.heads import head_name, per_head
from headtypes.core.statistics import ALPHA, holm, ratio_intervals
from headtypes.core.table_files import write_csv

# With fewer sets than so many for each head, costs are shrunk as far as sets that are held out say.
_SETS_PER_HEAD = 3
_PENALTIES = np.array([0.0, *np.logspace(-1, 3, 21)])
_FOLDS = 10
# Heads among which pairs are looked for: the costliest and the cheapest, by standard errors; and permutations.
_PAIRED, _PAIR_PERMUTATIONS = 24, 999
# Sets without both heads, of which a pair's effect takes at least so many: in a single set all its pairs are alike.
_LEAST_SETS = 3


class Fit(NamedTuple):
    """Costs by least squares, or by ridge.

    effects: [head]; errors: their standard errors over sets; freedom: of the residuals; operator: [head, set], which
    makes effects of what sets lose; penalty: 0 for least squares; adjusted: R2 of the sets, adjusted; held_out: R2 of
    sets that the fit has not seen, in ten parts.
    """

    effects: np.ndarray
    errors: np.ndarray
    freedom: float
    operator: np.ndarray
    penalty: float
    adjusted: float
    held_out: float


def fit_sets(away: np.ndarray, lost: np.ndarray) -> Fit:
    """Fit one effect of each head to what sets lose; away: [set, head] bool; lost: [set].

    Where each set has heads of a layer, the layer's effects sum to zero: such a head costs so much more than others of
    its layer. Raises `InputError` where all sets lose the same.
    """
    if np.ptp(lost) < 1e-12:
        raise InputError("All sets of heads lose the same, so that no head costs more than another.")
    (sets, heads), penalty = away.shape, 0.0
    if sets < _SETS_PER_HEAD * heads:
        penalty = float(_PENALTIES[_held_out(away, lost, _PENALTIES).argmax()])
    left, values, right = _decomposed(away)
    shrunk = values / (values**2 + penalty)
    operator = (right.T * shrunk) @ left.T
    effects = operator @ (lost - lost.mean())
    residuals = lost - lost.mean() - (away - away.mean(0)) @ effects
    freedom = max(sets - 1 - float((values * shrunk).sum()), 1.0)
    variance = (residuals**2).sum() / freedom
    adjusted = 1 - variance / lost.var(ddof=1)
    errors = np.sqrt(variance * (operator**2).sum(1))
    held_out = _held_out(away, lost, [penalty])[0]
    return Fit(effects, errors, freedom, operator, penalty, float(adjusted), float(held_out))


def _decomposed(away: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    left, values, right = np.linalg.svd(away - away.mean(0), full_matrices=False)
    # Heads of a layer that is in every set have effects that sum to zero: of those that fit, the smallest.
    kept = values > 1e-9 * values.max()
    return left[:, kept], values[kept], right[kept]


def _held_out(away: np.ndarray, lost: np.ndarray, penalties: list[float] | np.ndarray) -> np.ndarray:
    """Return the R2 of sets that were held out, one of `_FOLDS` parts at a time, for each penalty of the ridge.

    away: [set, head] the heads that each set lacks; lost: [set] the loss of each set.
    """
    fold = np.arange(len(lost)) % _FOLDS
    wrong, total = np.zeros(len(penalties)), 0.0
    for number in range(_FOLDS):
        seen = fold != number
        mean, at = lost[seen].mean(), away[seen].mean(0)
        left, values, right = _decomposed(away[seen])
        projected = left.T @ (lost[seen] - mean)
        total += ((lost[~seen] - mean) ** 2).sum()
        for index, penalty in enumerate(penalties):
            effects = right.T @ (values / (values**2 + penalty) * projected)
            wrong[index] += ((lost[~seen] - mean - (away[~seen] - at) @ effects) ** 2).sum()
    return 1 - wrong / total


def set_means(company: Company, metric: str) -> np.ndarray:
    """Return what each set loses of a metric, on average over units (or tokens), [set]."""
    return company.lost(metric).sum(1) / company.sizes.sum()


def head_costs(company: Company, *, seed: int) -> tuple[pd.DataFrame, dict]:
    """Return the cost of each head, and how far costs explain the losses of sets; seed: of permutations.

    The table has a row for each head: layer, head, away (in how many sets); cost, in nats of the loss (of a token,
        where
    units have several); its standard_error over sets; low, high: its 95 % interval over units (articles, where these
    are
    known); p, of a cost of zero over sets, two-sided, and p_holm, corrected for all heads; and of each metric
    cost_{metric} and cost_{metric}_error, in points.
    The dictionary (`results.FIT`) has sets, units, away (heads in a set); penalty (of ridge; 0 for least squares); by
    metric, whole (with all heads), set_cost (mean loss of a set), r2 (adjusted), held_out (for sets that were held out)
    and halves (correlation of the costs of halves of the sets); half (heads that explain half of the explained cost),
    and
    pair, the largest effect of two heads together beyond their costs.
    """
    sets, *shape = company.away.shape
    away = company.away.reshape(sets, -1).astype(float)
    table, about = {"away": away.sum(0).astype(int)}, {}
    for metric in company.metrics:
        lost = set_means(company, metric)
        # Hardly any set without an answer: a half of them has nothing to fit.
        if metric != LOSS and min(np.ptp(lost[half::2]) for half in (0, 1)) < 1e-12:
            continue
        fit = fit_sets(away, lost)
        about[metric] = _about(company, metric, away, lost, fit)
        if metric != LOSS:
            table |= {f"cost_{metric}": fit.effects, f"cost_{metric}_error": fit.errors}
            continue
        low, high = _over_units(company, fit)
        p = 2 * student.sf(np.abs(fit.effects) / fit.errors, fit.freedom)
        table |= {"cost": fit.effects, "standard_error": fit.errors, "low": low, "high": high}
        table |= {"p": p, "p_holm": holm(p)}
        pair = largest_pair(away, lost, fit, seed=seed)
        pair["heads"] = [head_name(*divmod(head, shape[1])) for head in pair["heads"]]
        half, penalty = heads_for_half(fit), fit.penalty
    fitted = {
        "sets": sets,
        "units": len(company.units),
        "away": float(away.sum(1).mean()),
        "penalty": penalty,
        **{key: {metric: of[key] for metric, of in about.items()} for key in about[LOSS]},
        "half": half,
        "pair": pair,
    }
    return per_head(tuple(shape), table), fitted


def _about(company: Company, metric: str, away: np.ndarray, lost: np.ndarray, fit: Fit) -> dict[str, float]:
    halves = [fit_sets(away[half::2], lost[half::2]).effects for half in (0, 1)]
    whole = company.whole[:, company.metrics.index(metric)].sum() / company.sizes.sum()
    return {
        "whole": float(whole),
        "set_cost": float(lost.mean()),
        "r2": fit.adjusted,
        "held_out": fit.held_out,
        "halves": float(np.corrcoef(halves)[0, 1]),
    }


def _over_units(company: Company, fit: Fit) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the interval of each head's cost over units: it is the mean of the units' own costs."""
    lost = company.lost(LOSS)
    of_units, sizes = (fit.operator @ (lost - lost.mean(0))).T, company.sizes
    if any(company.articles):
        _, article = np.unique(company.articles, return_inverse=True)
        sums = np.zeros((article.max() + 1, of_units.shape[1]))
        np.add.at(sums, article, of_units)
        of_units, sizes = sums, np.bincount(article, sizes)
    return ratio_intervals(of_units, np.broadcast_to(sizes[:, None], of_units.shape))


def heads_for_half(fit: Fit) -> int:
    """Count the heads, the costliest first, that explain half of the variance of sets that all costs explain."""
    # What chance adds to a square is the square of its standard error.
    squares = np.sort(fit.effects**2)[::-1]
    explained = max(squares.sum() - (fit.errors**2).sum(), squares[0])
    return int(np.searchsorted(squares.cumsum(), explained / 2) + 1)


def largest_pair(away: np.ndarray, lost: np.ndarray, fit: Fit, *, seed: int) -> dict:
    """Find the two heads that cost most beyond their costs where both are away, by standard errors.

    They are among the `_PAIRED` heads of the largest costs, and at least `_LEAST_SETS` sets lack both; away, lost: as
    in
        `fit_sets`, whose fit this is.
    Returns heads (indices), sets (in which both are away), effect, its standard_error, and p: of so large an effect
    among
    all these pairs, where the part that costs do not explain is permuted over sets (Freedman and Lane 1983).
    """
    some = np.sort(np.argsort(-np.abs(fit.effects / fit.errors), kind="stable")[:_PAIRED])
    one, other = (some[index] for index in np.triu_indices(len(some), 1))
    both = away[:, one] * away[:, other]
    basis = np.column_stack([np.full(len(away), len(away) ** -0.5), _decomposed(away)[0]])
    # What single heads do not explain: of pairs, and of what sets lose.
    alone, left = both - basis @ (basis.T @ both), lost - basis @ (basis.T @ lost)
    scale, freedom = np.sqrt((alone**2).sum(0)), len(away) - basis.shape[1] - 1
    usable = np.flatnonzero((scale > 1e-6) & (both.sum(0) >= _LEAST_SETS))
    if freedom < 1 or not len(usable):
        return {"heads": [], "sets": 0, "effect": None, "standard_error": None, "p": None}
    alone, scale = alone[:, usable], scale[usable]
    found = alone.T @ left / scale / np.sqrt((left**2).sum() / freedom)
    rng = np.random.default_rng(seed)
    permuted = rng.permuted(np.broadcast_to(left, (_PAIR_PERMUTATIONS, len(away))), axis=1)
    # Over all sets, since a permutation has nothing of what was fitted.
    largest = np.abs((permuted @ alone) / scale / left.std()).max(1)
    most = int(np.abs(found).argmax())
    error = float(np.sqrt((left**2).sum() / freedom) / scale[most])
    return {
        "heads": [int(one[usable[most]]), int(other[usable[most]])],
        "sets": int(both[:, usable[most]].sum()),
        "effect": float(found[most] * error),
        "standard_error": error,
        "p": float((1 + (largest >= abs(found[most]) - 1e-9).sum()) / (1 + _PAIR_PERMUTATIONS)),
    }


def costly_heads(table: pd.DataFrame) -> pd.DataFrame:
    """Select the heads that cost more than others of their layer, the costliest first: by sets, corrected, and by
    units.
    """
    costly = table[(table["p_holm"] <= ALPHA) & (table["low"] > 0)]
    return costly.sort_values("cost", ascending=False)


PERMUTATIONS = 9_999
_BLOCK = 500


def compare_labels(costs: np.ndarray, families: Mapping[str, Mapping[str, np.ndarray]], *, seed: int) -> pd.DataFrame:
    """Hold each label, or number, of heads against their costs.

    costs: [layer, head]. families: by name, and in each by name, [layer, head]: booleans, which heads have a label, or
        numbers, NaN where a head has none.
    Returns family, label, heads (that have it), statistic and p, a row each. The statistic of a label is how much more
    its
    heads cost than all of their layer, on average; that of a number, the rank correlation within layers. p is
    two-sided,
    for all of a family at once: how often permutations of the heads within layers give any of it as large a value, in
        its
    own standard deviations (Westfall and Young 1993).
    """
    names, vectors, scales, counts = [], [], [], []
    ranked = _ranks(costs)
    for family, labels in families.items():
        for label, values in labels.items():
            of_label = values.dtype == bool
            vector, scale = _of_label(values) if of_label else _of_number(values, ranked)
            if vector is None:
                continue
            names.append((family, label, of_label))
            vectors.append(vector.ravel())
            scales.append(scale)
            counts.append(int(values.sum() if of_label else (~np.isnan(values)).sum()))
    if not names:
        return pd.DataFrame(columns=["family", "label", "heads", "statistic", "p"])
    by_label = np.array([of_label for *_, of_label in names])
    matrix = np.stack(vectors) / np.array(scales)[:, None]
    centred = costs - costs.mean(1, keepdims=True)
    found = np.where(by_label, matrix @ centred.ravel(), matrix @ ranked.ravel())
    rng, drawn = np.random.default_rng(seed), []
    for start in range(0, PERMUTATIONS, _BLOCK):
        rows = min(_BLOCK, PERMUTATIONS - start)
        # The same permutation for every label, so that those of a family depend on one another as they do.
        order = rng.random((rows, *costs.shape)).argsort(-1)
        of_costs, of_ranks = (
            np.take_along_axis(np.broadcast_to(values, order.shape), order, -1).reshape(rows, -1)
            for values in (centred, ranked)
        )
        drawn.append(np.where(by_label, of_costs @ matrix.T, of_ranks @ matrix.T))
    permuted = np.concatenate(drawn)
    deviation = permuted.std(0)
    # A label of all heads of its layers is the same in every permutation.
    deviation = np.where(deviation > 1e-12, deviation, np.inf)
    sizes, own = np.abs(permuted) / deviation, np.abs(found) / deviation
    table = pd.DataFrame([name[:2] for name in names], columns=["family", "label"])
    table["heads"], table["statistic"] = counts, found
    for of_family in table.groupby("family", sort=False).groups.values():
        largest = sizes[:, of_family].max(1)
        reached = (largest[:, None] >= own[of_family] - 1e-9).sum(0)
        table.loc[of_family, "p"] = (1 + reached) / (1 + PERMUTATIONS)
    return table


def costs_without(costs: np.ndarray, heads: pd.DataFrame) -> np.ndarray:
    """Return the costs with some heads, chosen by their costs alone, at the mean of the others of their layer.

    heads: a table of layer and head. The rest says whether labels differ beyond these.
    """
    others = np.ones(costs.shape, bool)
    others[heads["layer"], heads["head"]] = False
    means = np.where(others, costs, 0).sum(1, keepdims=True) / np.maximum(others.sum(1, keepdims=True), 1)
    return np.where(others, costs, means)


def families_of(
    partitions: Mapping[str, Partition], columns: Mapping[str, np.ndarray], shape: tuple[int, int]
) -> dict[str, dict[str, np.ndarray]]:
    """Return the families of a model's labels: the types of each partition, and all numbers of heads together.

    columns: numbers of the heads, layer by layer, by their names.
    """
    types = {
        f"types of {name}": {type_: partition.type_of == type_ for type_ in partition.types}
        for name, partition in partitions.items()
    }
    first = next(iter(partitions.values()), None)
    shares = {} if first is None else {name: first.table[name].to_numpy() for name in ("near", "special", "far")}
    numbers = {name: np.asarray(values, float).reshape(shape) for name, values in {**shares, **columns}.items()}
    return {**types, "numbers of heads": numbers}


def _of_label(values: np.ndarray) -> tuple[np.ndarray | None, float]:
    return (values.astype(float), float(values.sum())) if values.any() and not values.all() else (None, 1.0)


def _of_number(values: np.ndarray, ranked: np.ndarray) -> tuple[np.ndarray | None, float]:
    ranks = np.nan_to_num(_ranks(values))
    scale = float(np.sqrt((ranks**2).sum() * (ranked**2).sum()))
    return (ranks, scale) if scale > 0 else (None, 1.0)


def _ranks(values: np.ndarray) -> np.ndarray:
    ranks = np.apply_along_axis(lambda of_layer: rankdata(of_layer, nan_policy="omit"), 1, values.astype(float))
    return ranks - np.nanmean(ranks, axis=1, keepdims=True)


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    table, fit = head_costs(read_arrays(inputs.sets, Company), seed=spec["seed"])
    write_json(outputs.fit, {**fit, "provenance": provenance})
    partitions, columns = read_each(read_partition, inputs.partitions), _columns(inputs)
    types = {f"type ({name})": partition.table["type"] for name, partition in partitions.items()}
    write_csv(outputs.costs, table.assign(**types, **{name: column.named() for name, column in columns.items()}))
    shape = table["layer"].max() + 1, table["head"].max() + 1
    numbers = {name: column.named() for name, column in columns.items() if column.categories is None}
    families = families_of(partitions, numbers, shape)
    costs = table["cost"].to_numpy().reshape(shape)
    labels = compare_labels(costs, families, seed=spec["seed"])
    beyond = compare_labels(costs_without(costs, costly_heads(table)), families, seed=spec["seed"])
    write_csv(outputs.labels, labels.assign(p_beyond=beyond["p"]))


def _columns(inputs: Any) -> dict[str, Column]:
    """Return the numbers of each head from other analyses, by their label and task."""
    columns = {}
    ours = {analysis.name: [inputs.get(file.name, {}) for file in analysis.files] for analysis in ANALYSES}
    own = {name: [of_tasks] for name, of_tasks in by_analysis(inputs.own).items()}
    for analysis, files in (ours | own).items():
        for task in files[0] if files else ():
            for column in analysis_named(analysis).per_head(task, *(of_task[task] for of_task in files)):
                name = f"{column.label} ({task})"
                if name in columns:
                    raise InputError(f"Two columns of heads are called {name}; rename that of {analysis}.")
                columns[name] = column
    return columns
