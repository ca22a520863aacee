"""What heads look at by weights and by norms, and the types that either divides them into."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from jaxtyping import Float

from headtypes.analyses.distances.columns import Groups
from headtypes.analyses.types.partitions import Partition
from headtypes.analyses.types.stability import compare_partitions, matched_clusters
from headtypes.attention.settings import Of
from headtypes.core.heads import per_head
from headtypes.core.statistics import RESAMPLES, bounds, draw_units
from headtypes.core.style import head_name

SHARES = ("near", "special", "far")
BY_NORMS = {name: f"{name}_by_norms" for name in SHARES}


def shares_table(weights: Groups, norms: Groups, shape: tuple[int, int]) -> pd.DataFrame:
    """One row per head, layer by layer: layer, head (both from 0), and near, special and far by either, 0 to 1.

    shape: layers, heads of a layer.
    """
    by_norms = {BY_NORMS[name]: getattr(norms, name) for name in SHARES}
    return per_head(shape, {**vars(weights), **by_norms})


def compare_divisions(
    divisions: Mapping[str, Mapping[Of, Partition]], effects: Mapping[str, pd.DataFrame], *, seed: int
) -> pd.DataFrame:
    """Divisions of the same heads by weights and by norms: how much they agree, and which predicts costs better.

    divisions: by way of clustering, method and k. effects: by task, what leaving out each head costs, as
        `effects.measure.measure_effects` returns it. seed: of the intervals.

    returns one row per way and metric of the effects, or per way where there are none: clustering; heads;
      adjusted_rand, same_type, same_cluster: as `matching.compare_partitions` has them; changed: the heads that are in
      another cluster by norms, `layer-head` from 1, with spaces between; task, metric: of the effects;
      r2_weights, r2_norms: how much of the heads' effects the types explain, each head's being predicted by the mean
      of the other heads of its type; r2_gain: norms less weights, with its 95 % interval (_low, _high) over heads.
    """
    rows = []
    for name, of in divisions.items():
        pair = of["norms"], of["weights"]
        moved = np.argwhere(~matched_clusters(*pair))
        row = {"clustering": name, "heads": pair[0].type_of.size, **compare_partitions(*pair)}
        row["changed"] = " ".join(head_name(*head) for head in moved)
        explained = [
            {"task": task, "metric": metric, **_gain(*pair, of_metric["effect"].to_numpy(float), seed)}
            for task, table in effects.items()
            for metric, of_metric in table.groupby("metric", sort=False)
        ]
        rows += [row | more for more in explained or [{}]]
    columns = ["clustering", "heads", "adjusted_rand", "same_type", "same_cluster", "changed", "task", "metric"]
    gains = ["r2_weights", "r2_norms", "r2_gain", "r2_gain_low", "r2_gain_high"]
    return pd.DataFrame(rows, columns=[*columns, *gains])


def _gain(norms: Partition, weights: Partition, effect: Float[np.ndarray, " head"], seed: int) -> dict[str, float]:
    known = ~np.isnan(effect)
    effect, units = effect[known], np.ones(known.sum())
    spread = (effect - effect.mean()) ** 2
    errors = [(effect - of_others(it.type_of.ravel()[known], effect)) ** 2 for it in (weights, norms)]
    drawn = np.concatenate([[units], *draw_units(len(effect), RESAMPLES, seed)])
    # Of effects that are all the same, nothing can be explained.
    with np.errstate(divide="ignore", invalid="ignore"):
        by_weights, by_norms = (1 - drawn @ error / (drawn @ spread) for error in errors)
    gain = by_norms - by_weights
    low, high = bounds(gain[1:], units)
    values = {"r2_weights": by_weights[0], "r2_norms": by_norms[0], "r2_gain": gain[0]}
    return values | {"r2_gain_low": float(low), "r2_gain_high": float(high)}


def of_others(types: np.ndarray, values: Float[np.ndarray, " head"]) -> Float[np.ndarray, " head"]:
    """The mean value of the other heads of each head's type; of all others, where it is its type's only head."""
    same = (types[:, None] == types) & ~np.eye(len(types), dtype=bool)
    same[~same.any(axis=1)] = True
    np.fill_diagonal(same, False)
    return same @ values / same.sum(axis=1)
