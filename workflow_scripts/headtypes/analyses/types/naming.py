"""What the heads of a cluster look at, and the type's name that follows from it."""

from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

import numpy as np
from scipy.optimize import linear_sum_assignment

from headtypes.analyses.distances.columns import Groups, attention_groups
from headtypes.analyses.types.names import TYPES, type_names

# Below this margin the user is warned: on random halves of 50 samples of SQuAD the margin of a model varied
# by about this much (standard deviation 0.05).
SMALL_MARGIN = 0.05

_LARGEST_OF = {"diagonal": "near", "dense": "far", "vertical": "special"}


@dataclass(frozen=True)
class Naming:
    """Names of k clusters, and how certain they are.

    names: k type names, by cluster.
    groups: near, special and far of the k centroids.
    doubts: by cluster, the sentence that says why its name is doubtful; empty where it is not.
    total: score of the assignment; margin: how far it is ahead of the second best. Both None unless k = 4.
    """

    names: tuple[str, ...]
    groups: Groups
    doubts: tuple[str, ...]
    total: float | None
    margin: float | None

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Sentences that the user should see: every doubt, and a small margin."""
        warnings = tuple(doubt for doubt in self.doubts if doubt)
        if self.margin is not None and self.margin < SMALL_MARGIN:
            warnings += (f"The names are ahead of the second-best assignment by only {self.margin:.3f}.",)
        return warnings

    def as_dict(self) -> dict:
        """Return plain Python for JSON: total, margin, and by type near, special, far and doubt."""
        groups = self.groups
        rows = zip(self.names, groups.near, groups.special, groups.far, self.doubts, strict=True)
        return {
            "total": self.total,
            "margin": self.margin,
            "types": {
                name: {"near": float(near), "special": float(special), "far": float(far), "doubt": doubt}
                for name, near, special, far, doubt in rows
            },
        }


def name_types(centroids: np.ndarray) -> Naming:
    """Name clusters by what their centroids look at.

    centroids: [k, column], mean distance features (unscaled) of each cluster's heads.

    For k = 4 the names of Guan et al. 2020, section 4. They go to the clusters by the one-to-one assignment
    with the largest total of scores: dense far - special, diagonal near, dense_vertical min(far, special),
    vertical special - far. (The paper gives no rule for its names.) A name is doubtful if another
    one scores higher for its centroid, or if the centroid of diagonal, dense or vertical does not have the largest
    near, far or special respectively. For any other k: `type-1`, `type-2`, ... by rising special.
    """
    groups = attention_groups(centroids)
    k = len(centroids)
    if k != len(TYPES):
        names = np.empty(k, dtype=object)
        names[np.argsort(groups.special, kind="stable")] = type_names(k)
        return Naming(tuple(names), groups, doubts=("",) * k, total=None, margin=None)

    scores = _name_scores(groups)
    _, chosen = linear_sum_assignment(scores, maximize=True)
    totals = sorted(float(scores[range(k), names].sum()) for names in permutations(range(k)))
    return Naming(
        names=tuple(TYPES[name] for name in chosen),
        groups=groups,
        doubts=tuple(_doubt(cluster, int(name), scores, groups) for cluster, name in enumerate(chosen)),
        total=totals[-1],
        margin=totals[-1] - totals[-2],
    )


def _name_scores(groups: Groups) -> np.ndarray:
    """How well each name fits each centroid: [cluster, name], names as in `TYPES`."""
    near, special, far = groups.near, groups.special, groups.far
    return np.stack([far - special, near, np.minimum(far, special), special - far], axis=1)


def _doubt(cluster: int, name: int, scores: np.ndarray, groups: Groups) -> str:
    best = int(scores[cluster].argmax())
    if scores[cluster, name] < scores[cluster, best]:
        return (
            f"{TYPES[name]} is doubtful: judged alone, its centroid (near {groups.near[cluster]:.2f}, "
            f"special {groups.special[cluster]:.2f}, far {groups.far[cluster]:.2f}) would be named {TYPES[best]}."
        )
    group = _LARGEST_OF.get(TYPES[name])
    if group is not None:
        values = getattr(groups, group)
        if values[cluster] < values.max():
            return (
                f"{TYPES[name]} is doubtful: its {group} is {values[cluster]:.2f}, "
                f"and another type has {values.max():.2f}."
            )
    return ""
