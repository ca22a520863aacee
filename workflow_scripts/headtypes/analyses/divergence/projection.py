"""Heads in two dimensions by how they differ, and whether heads of a layer are alike (Clark et al. 2019, section 6)."""

from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float
from scipy.spatial.distance import pdist, squareform
from sklearn.manifold import MDS

from headtypes.analyses.divergence.results import Divergence
from headtypes.core.files import write_json
from headtypes.core.hdf5_files import read_arrays
from headtypes.core.statistics import one_thread
from headtypes.core.table_files import head_table, write_csv

_PERMUTATIONS = 2000


def project_heads(divergence: Divergence, *, seed: int) -> tuple[pd.DataFrame, dict]:
    """Return (table, summary): a place in two dimensions for each head, so that distances show divergences of heads.

    seed: 0 to 2**32 - 1. table: a row for each head, with layer, head (both from 0), and its place x, y, in nats. Keys
    of summary: rows (number of rows of attention), stress and correlation (how well distances show divergences, see
    `goodness_of_fit`; 0 and 1 are perfect), and layers (the result of `layer_test`).
    """
    distances = divergence.of_a_row
    with one_thread():
        scaling = MDS(
            n_components=2,
            metric_mds=True,
            metric="precomputed",
            init="random",
            n_init=5,
            max_iter=1000,
            eps=1e-10,
            normalized_stress=False,
            random_state=seed,
        )
        places = scaling.fit_transform(distances)
    shape = divergence.layers, len(places) // divergence.layers
    table = head_table(shape, {"x": places[:, 0], "y": places[:, 1]})
    summary = {
        "rows": divergence.rows,
        **goodness_of_fit(distances, places),
        "layers": layer_test(distances, table["layer"].to_numpy(), seed),
    }
    return table, summary


def goodness_of_fit(
    distances: Float[np.ndarray, "head head"], places: Float[np.ndarray, "head 2"]
) -> dict[str, float | None]:
    """Return how well places in two dimensions show distances: {"stress", "correlation"}, None if undefined.

    stress: Kruskal's stress-1 (Kruskal 1964), the root of the sum of (shown - given)^2 divided by the sum of shown^2.
    correlation: Pearson's, of shown and given distances.
    """
    given, shown = squareform(distances, checks=False), pdist(places)
    stress = float(np.sqrt(((shown - given) ** 2).sum() / (shown**2).sum())) if shown.any() else None
    varied = len(given) > 1 and np.ptp(given) > 0 and np.ptp(shown) > 0
    return {"stress": stress, "correlation": float(np.corrcoef(given, shown)[0, 1]) if varied else None}


def layer_test(
    divergences: Float[np.ndarray, "head head"], layer: np.ndarray, seed: int, permutations: int = _PERMUTATIONS
) -> dict[str, float | int | None]:
    """Return a permutation test of whether heads of one layer are more alike than heads of different layers.

    divergences: in nats, small for heads that are alike. layer: [head] the layer of each head. Keys of the result:
      within, between: mean divergence of two heads of one layer, and of two heads of different layers.
      difference, low, high: within - between (negative if heads of a layer are alike), and its interval: difference
          minus the 97.5 % and the 2.5 % quantile of the differences with layers permuted.
      p, permutations: share of permutations, the given layers counted as one, whose difference is at least as low;
          their number. If all pairs of heads are of one layer, or none is, all keys but `permutations` have None.
    """
    pairs = np.triu_indices(len(layer), 1)
    of_pairs = divergences[pairs]

    def means(label: np.ndarray) -> tuple[float, float]:
        same = label[pairs[0]] == label[pairs[1]]
        return float(of_pairs[same].mean()), float(of_pairs[~same].mean())

    names = "within", "between", "difference", "low", "high", "p"
    same = layer[pairs[0]] == layer[pairs[1]]
    if same.all() or not same.any():
        return {**dict.fromkeys(names), "permutations": permutations}
    within, between = means(layer)
    rng = np.random.default_rng(seed)
    drawn = np.array([np.subtract(*means(rng.permutation(layer))) for _ in range(permutations)])
    low, high = within - between - np.quantile(drawn, [0.975, 0.025])
    p = (1 + np.count_nonzero(drawn <= within - between)) / (1 + permutations)
    found = map(float, (within, between, within - between, low, high, p))
    return {**dict(zip(names, found, strict=True)), "permutations": permutations}


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    projection, summary = project_heads(read_arrays(inputs.divergence, Divergence), **spec)
    write_csv(outputs.projection, projection)
    write_json(outputs.projection_fit, {**summary, "provenance": provenance})
