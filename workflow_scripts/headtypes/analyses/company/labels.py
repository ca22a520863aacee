"""Any labels or numbers of heads beside what heads cost, by permutation of the heads within their layers."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from headtypes.analyses.types.partitions import Partition

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


def without(costs: np.ndarray, heads: pd.DataFrame) -> np.ndarray:
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
