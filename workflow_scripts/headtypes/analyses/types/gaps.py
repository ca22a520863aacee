"""Whether there are gaps between heads, as between types: what no cloud without gaps has, whatever its shape."""

from collections.abc import Mapping
from functools import cache

import numpy as np
from diptest import dipstat
from scipy.sparse.csgraph import minimum_spanning_tree, shortest_path
from scipy.spatial.distance import pdist, squareform
from sklearn.cluster import KMeans

from headtypes.core.files import derive_seed
from headtypes.core.statistics import Measured, one_thread

# In fewer heads a line is fitted to the noise.
FEWEST_HEADS = 20
# Paths lead over so many of the nearest heads, and over no more than a quarter of all.
_NEIGHBOURS = 10
# Dips are compared with those of uniform random numbers, which are the largest of all distributions with one peak.
_UNIFORM = 1999


def head_gaps(features: np.ndarray, seed: int) -> dict | None:
    """Return how far heads are from having a single peak, as dips in percent; None for fewer than 20 different heads.

    A dip is the largest distance between a distribution function and the nearest one with a single peak (Hartigan and
    Hartigan 1985). features: [head, column] distance features, whose logarithms make each head a point. A k-means with
    `seed` divides the points into two clusters. Result:
    - position: [head] product of the head's point and the vector between both centres. line: dip of the positions.
    - paths: for each head, the dip of the lengths of its shortest paths to all heads, along near heads; lower quartile
      over heads. An arc of heads has one peak along paths, and two along any line.
    """
    if len(np.unique(features, axis=0)) < FEWEST_HEADS:
        return None
    # A head's point: the logarithms of its features, less their mean; 0 counts as half of the smallest positive one.
    points = np.log(np.maximum(features, features[features > 0].min() / 2))
    points -= points.mean(axis=1, keepdims=True)
    with one_thread():
        ends = KMeans(2, n_init=10, random_state=seed).fit(points).cluster_centers_
    position = points @ (ends[1] - ends[0])
    paths = np.quantile([dipstat(row) for row in _path_lengths(points)], 0.25)
    return {"line": 100 * float(dipstat(position)), "paths": 100 * float(paths), "position": position.tolist()}


def measured_gaps(gaps: Mapping[str, float], heads: int) -> dict[str, Measured]:
    """Return by how many percentage points two dips exceed chance, {"line", "paths": value with interval and p-value}.

    A dip is a statistic of numbers, large if they have several peaks (Hartigan and Hartigan 1985); here in percent.
    gaps: result of `head_gaps`, in percent, too: "line" of heads' positions between the centres of two clusters of all
        heads, "paths" of lengths of shortest paths between heads. heads: number of heads. Chance is the mean dip of
        `heads` uniform random numbers; 1,999 draws give it, the interval and p. A value above 0 speaks for gaps.
    """
    return {name: Measured.beyond_chance(gaps[name], 100 * _uniform_dips(heads)) for name in ("line", "paths")}


def p_of_gaps(gaps: Mapping[str, float], heads: int) -> float:
    """Return the p-value of the hypothesis that heads have no gaps: the larger of the p-values of two dips.

    gaps: the result of `head_gaps`, {"line": dip of heads' positions, "paths": dip of path lengths}, in percent.
    Each dip is tested against 1,999 dips of `heads` uniform random numbers each; a dip below their mean has p = 1.
    """
    return max(1.0 if gap.value < 0 else gap.p_value(0) for gap in measured_gaps(gaps, heads).values())


@cache
def _uniform_dips(number: int) -> np.ndarray:
    rng = np.random.default_rng(derive_seed(0, "dips", number))
    return np.array([dipstat(rng.random(number)) for _ in range(_UNIFORM)])


def _path_lengths(points: np.ndarray) -> np.ndarray:
    distances = squareform(pdist(points))
    nearest = distances.argsort(axis=1)[:, : min(_NEIGHBOURS, len(points) // 4) + 1]
    # Edges join each head to its nearest heads, and by the tree all heads.
    edges = minimum_spanning_tree(distances).toarray()
    np.put_along_axis(edges, nearest, np.take_along_axis(distances, nearest, axis=1), axis=1)
    # Lengths from a single head come in steps where a cloud is thick; each row is their mean over near heads.
    return shortest_path(np.maximum(edges, edges.T), directed=False)[nearest].mean(axis=1)
