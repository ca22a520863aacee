"""The cost of each head in random company, and types and other numbers of heads held against the costs."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import t as student

from headtypes.analyses.company.results import LOSS, Company
from headtypes.analyses.declaration import Column
from headtypes.analyses.registry import ANALYSES, analysis_named, by_analysis
from headtypes.analyses.types.partitions import Partition, read_partition
from headtypes.core.errors import InputError
from headtypes.core.files import read_each, write_json
from headtypes.core.hdf5_files import read_arrays
from headtypes.core.statistics import ALPHA, holm, mean_intervals
from headtypes.core.table_files import head_name, head_table, write_csv

# With fewer sets than so many for each head, costs are shrunk as far as sets that are held out say.
_SETS_PER_HEAD = 3
_PENALTIES = np.array([0.0, *np.logspace(-1, 3, 21)])
_FOLDS = 10
# Heads among which pairs are looked for: the costliest and the cheapest, by standard errors; and permutations.
_PAIRED, _PAIR_PERMUTATIONS = 24, 999
# Sets without both heads, of which a pair's effect takes at least so many: in a single set all its pairs are alike.
_LEAST_SETS = 3


class Fit(NamedTuple):
    """The cost of each head, fitted to what a model loses when random sets of heads are left out.

    effects, errors: [head] costs in the unit of the losses, and their standard errors over sets. freedom: residual
    degrees of freedom. operator: [head, set] matrix; the effects are its product with the losses of the sets.
    penalty: weight of the penalty of ridge regression, 0 for least squares. adjusted: adjusted R2 of the fit. held_out:
    R2 of losses that are predicted, for each tenth of the sets, by a fit to the other nine tenths.
    """

    effects: np.ndarray
    errors: np.ndarray
    freedom: float
    operator: np.ndarray
    penalty: float
    adjusted: float
    held_out: float


def fit_sets(away: np.ndarray, lost: np.ndarray) -> Fit:
    """Return the cost of each head, fitted by linear regression to what a model loses without sets of heads.

    away: [set, head] bool, heads that a set leaves out. lost: [set] how much worse the model is without these heads.
    A cost is relative to the mean head of the model, or of the head's layer if every set has equally many heads of each
    layer. The costs sum to 0. Below 3 sets per head the regression is ridge, else least squares.
    Raises `InputError` if all losses are equal.
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
    # Sets of one size leave the mean of effects open, and the fit has 0; sets of several sizes would determine it.
    effects, operator = effects - effects.mean(), operator - operator.mean(0)
    errors = np.sqrt(variance * (operator**2).sum(1))
    held_out = _held_out(away, lost, [penalty])[0]
    return Fit(effects, errors, freedom, operator, penalty, float(adjusted), float(held_out))


def _decomposed(away: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    left, values, right = np.linalg.svd(away - away.mean(0), full_matrices=False)
    # Heads of a layer that is in every set have effects that sum to zero: of those that fit, the smallest.
    kept = values > 1e-9 * values.max()
    return left[:, kept], values[kept], right[kept]


# For each penalty the R2 of sets whose losses are predicted from the effects that fit the other nine parts of ten.
def _held_out(away: np.ndarray, lost: np.ndarray, penalties: list[float] | np.ndarray) -> np.ndarray:
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
    """Return how much worse a metric is without each set of heads, [set], mean over questions, pairs or tokens."""
    return company.lost(metric).sum(1) / company.sizes.sum()


def head_costs(company: Company, *, seed: int) -> tuple[pd.DataFrame, dict]:
    sets, *shape = company.away.shape
    away = company.away.reshape(sets, -1).astype(float)
    table, about = {"away": away.sum(0).astype(int)}, {}
    for index, metric in enumerate(company.metrics):
        lost = set_means(company, metric)
        # Hardly any set without an answer: a half of them has nothing to fit.
        if metric != LOSS and min(np.ptp(lost[half::2]) for half in (0, 1)) < 1e-12:
            continue
        fit = fit_sets(away, lost)
        halves = [fit_sets(away[half::2], lost[half::2]).effects for half in (0, 1)]
        about[metric] = {
            "whole": float(company.whole[:, index].sum() / company.sizes.sum()),
            "set_cost": float(lost.mean()),
            "r2": fit.adjusted,
            "held_out": fit.held_out,
            "halves": float(np.corrcoef(halves)[0, 1]),
        }
        if metric != LOSS:
            table |= {f"cost_{metric}": fit.effects, f"cost_{metric}_error": fit.errors}
            continue
        low, high = _over_units(company, fit)
        p = 2 * student.sf(np.abs(fit.effects) / fit.errors, fit.freedom)
        table |= {"cost": fit.effects, "standard_error": fit.errors, "low": low, "high": high}
        table |= {"p": p, "p_holm": holm(p)}
        pair = largest_pair(away, lost, fit, seed=seed)
        pair["heads"] = [head_name(*divmod(head, shape[1])) for head in pair["heads"]]
        # A head explains in proportion to the square of its cost; chance adds the square of the standard error.
        squares = np.sort(fit.effects**2)[::-1]
        explained = max(squares.sum() - (fit.errors**2).sum(), squares[0])
        half, penalty = int(np.searchsorted(squares.cumsum(), explained / 2) + 1), fit.penalty
    fitted = {
        "sets": sets,
        "units": len(company.units),
        "away": float(away.sum(1).mean()),
        "penalty": penalty,
        **{key: {metric: values[key] for metric, values in about.items()} for key in about[LOSS]},
        "half": half,
        "pair": pair,
    }
    return head_table(tuple(shape), table), fitted


def _over_units(company: Company, fit: Fit) -> tuple[np.ndarray, np.ndarray]:
    lost = company.lost(LOSS)
    unit_costs, sizes = (fit.operator @ (lost - lost.mean(0))).T, company.sizes
    if any(company.articles):
        _, article = np.unique(company.articles, return_inverse=True)
        sums = np.zeros((article.max() + 1, unit_costs.shape[1]))
        np.add.at(sums, article, unit_costs)
        unit_costs, sizes = sums, np.bincount(article, sizes)
    return mean_intervals(unit_costs, sizes[:, None])


def largest_pair(away: np.ndarray, lost: np.ndarray, fit: Fit, *, seed: int) -> dict:
    """Return two heads whose joint cost differs most from the sum of their costs, in standard errors of the difference.

    away: [set, head], 1 for heads that a set leaves out. lost: [set] losses in nats. fit: `fit_sets(away, lost)`. seed:
    of permutations of what the costs leave unexplained, which give p. Pairs of the 24 heads with costs furthest from 0,
    in standard errors, are tested if at least 3 sets leave out both heads. Keys of the result:
      heads, sets: indices of the two heads, and the number of sets that leave out both.
      effect, standard_error: joint cost minus the sum of both costs, in nats, and its standard error.
      p: how probable it is that by chance any tested pair has an effect of as many standard errors.
    Without a pair to test, heads is empty, sets is 0, and the rest is None.
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
    # What costs do not explain is permuted over sets (Freedman and Lane 1983).
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
    """Return the rows of heads that surely cost more than the mean head of their layer (or model), the costliest first.

    table: a row for each head, with the columns cost (nats above that mean head), low (low end of the cost's interval
    over questions) and p_holm (p of cost 0, corrected for all heads). A cost is sure if p_holm <= 0.05 and low > 0.
    """
    costly = table[(table["p_holm"] <= ALPHA) & (table["low"] > 0)]
    return costly.sort_values("cost", ascending=False)


PERMUTATIONS = 9_999
_BLOCK = 500


def compare_labels(costs: np.ndarray, families: Mapping[str, Mapping[str, np.ndarray]], *, seed: int) -> pd.DataFrame:
    """Return how labels of heads, such as types, and numbers of heads relate to costs, a row for each.

    costs: [layer, head]. families: {family: {label: values}}, where values, [layer, head], are True for heads with the
    label, or are a number of each head (NaN for none). seed: of the permutations for p. Columns of the result:
      family, label, heads: names, and how many heads have the label or a number.
      statistic: of a label, the mean over its heads of the cost minus the mean cost of the layer; of a number, the rank
          correlation with costs within layers, -1 to 1.
      p: two-sided, permuting heads within layers, corrected for all labels of a family (Westfall and Young 1993).
    A label of all heads or of none has no row, nor has a number that is equal for all heads of each layer.
    """
    names, vectors, counts = [], [], []
    ranked = _ranks(costs)
    for family, labels in families.items():
        for label, values in labels.items():
            is_label = values.dtype == bool
            vector = values.astype(float) if is_label else np.nan_to_num(_ranks(values))
            scale = values.sum() if is_label else np.sqrt((vector**2).sum() * (ranked**2).sum())
            # A label of all heads or of none, and a number that is the same everywhere, compare nothing.
            if not scale or (is_label and values.all()):
                continue
            names.append((family, label, is_label))
            vectors.append(vector.ravel() / scale)
            counts.append(int(values.sum() if is_label else (~np.isnan(values)).sum()))
    if not names:
        return pd.DataFrame(columns=["family", "label", "heads", "statistic", "p"])
    by_label = np.array([is_label for *_, is_label in names])
    matrix = np.stack(vectors)
    centred = costs - costs.mean(1, keepdims=True)
    found = np.where(by_label, matrix @ centred.ravel(), matrix @ ranked.ravel())
    rng, drawn = np.random.default_rng(seed), []
    for start in range(0, PERMUTATIONS, _BLOCK):
        rows = min(_BLOCK, PERMUTATIONS - start)
        # The same permutation for every label, so that those of a family depend on one another as they do.
        order = rng.random((rows, *costs.shape)).argsort(-1)
        permuted_costs, permuted_ranks = (
            np.take_along_axis(np.broadcast_to(values, order.shape), order, -1).reshape(rows, -1)
            for values in (centred, ranked)
        )
        drawn.append(np.where(by_label, permuted_costs @ matrix.T, permuted_ranks @ matrix.T))
    permuted = np.concatenate(drawn)
    deviation = permuted.std(0)
    # A label of all heads of its layers is the same in every permutation.
    deviation = np.where(deviation > 1e-12, deviation, np.inf)
    sizes, own = np.abs(permuted) / deviation, np.abs(found) / deviation
    table = pd.DataFrame([name[:2] for name in names], columns=["family", "label"])
    table["heads"], table["statistic"] = counts, found
    # Statistics of a family are compared in their standard deviations under permutation.
    for members in table.groupby("family", sort=False).groups.values():
        largest = sizes[:, members].max(1)
        reached = (largest[:, None] >= own[members] - 1e-9).sum(0)
        table.loc[members, "p"] = (1 + reached) / (1 + PERMUTATIONS)
    return table


# Each of these heads gets the mean cost of the other heads of its layer.
def costs_without(costs: np.ndarray, heads: pd.DataFrame) -> np.ndarray:
    others = np.ones(costs.shape, bool)
    others[heads["layer"], heads["head"]] = False
    means = np.where(others, costs, 0).sum(1, keepdims=True) / np.maximum(others.sum(1, keepdims=True), 1)
    return np.where(others, costs, means)


def families_of(
    partitions: Mapping[str, Partition], columns: Mapping[str, np.ndarray], shape: tuple[int, int]
) -> dict[str, dict[str, np.ndarray]]:
    types = {
        f"types of {name}": {type_name: partition.type_of == type_name for type_name in partition.types}
        for name, partition in partitions.items()
    }
    first = next(iter(partitions.values()), None)
    shares = {} if first is None else {name: first.table[name].to_numpy() for name in ("near", "special", "far")}
    numbers = {name: np.asarray(values, float).reshape(shape) for name, values in {**shares, **columns}.items()}
    return {**types, "numbers of heads": numbers}


def _ranks(values: np.ndarray) -> np.ndarray:
    ranks = pd.DataFrame(values.astype(float)).rank(axis=1)
    return ranks.sub(ranks.mean(axis=1), axis=0).to_numpy()


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
    columns = {}
    ours = {analysis.name: [inputs.get(file.name, {}) for file in analysis.files] for analysis in ANALYSES}
    own = {name: [by_task] for name, by_task in by_analysis(inputs.own).items()}
    for analysis, files in (ours | own).items():
        for task in files[0] if files else ():
            for column in analysis_named(analysis).per_head(task, *(by_task[task] for by_task in files)):
                name = f"{column.label} ({task})"
                if name in columns:
                    raise InputError(f"Two columns of heads are called {name}; rename that of {analysis}.")
                columns[name] = column
    return columns
