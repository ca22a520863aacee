"""Names of clusters: planted patterns, doubtful ones, and the margin against brute force."""

from itertools import permutations

import numpy as np
import pytest

from headtypes.analyses.distances.columns import SELF_AND_SPECIAL
from headtypes.analyses.types.clustering import TYPES, attention_groups, name_types
from tests.support.planted import WIDTH


def centroid(near, special, far, bins=16):
    """A centroid with these shares, spread unevenly over the columns of each group."""
    row = np.zeros(bins + len(SELF_AND_SPECIAL))
    row[0], row[bins] = 0.25 * near, 0.75 * near
    uneven = np.arange(len(SELF_AND_SPECIAL) - 1, 0, -1.0)
    row[bins + 1 :] = special * uneven / uneven.sum()
    falling = np.arange(bins - 1, 0, -1.0)
    row[1:bins] = far * falling / falling.sum()
    return row


CLEAR = {
    "dense": (0.1, 0.1, 0.8),
    "diagonal": (0.8, 0.1, 0.1),
    "dense_vertical": (0.1, 0.47, 0.43),
    "vertical": (0.05, 0.9, 0.05),
}


@pytest.mark.parametrize("bins", [4, 16, 64])
def test_groups_sum_to_one(bins):
    features = np.random.default_rng(0).dirichlet(np.ones(bins + len(SELF_AND_SPECIAL)), size=9)
    groups = attention_groups(features)
    for row, near, special, far in zip(features, groups.near, groups.special, groups.far, strict=True):
        assert near == pytest.approx(row[0] + row[bins])
        assert special == pytest.approx(sum(row[bins + 1 :]))
        assert far == pytest.approx(sum(row[1:bins]))
        assert near + special + far == pytest.approx(1)


@pytest.mark.parametrize("order", permutations(TYPES))
def test_clear_patterns_get_their_names_in_any_order(order):
    naming = name_types(np.stack([centroid(*CLEAR[name]) for name in order]))
    assert naming.names == order
    assert naming.doubts == ("",) * 4
    assert naming.warnings == ()


def test_total_and_margin_are_those_of_brute_force():
    rng = np.random.default_rng(1)
    for _ in range(50):
        centroids = rng.dirichlet(np.full(WIDTH, 0.4), size=4)
        scores = []
        for row in centroids:
            near, special = row[0] + row[16], row[17:].sum()
            far = 1 - near - special
            scores.append(
                {"dense": far - special, "diagonal": near, "dense_vertical": min(far, special)}
                | {"vertical": special - far}
            )
        ranked = sorted(
            ((sum(score[name] for score, name in zip(scores, names, strict=True)), names))
            for names in permutations(TYPES)
        )
        naming = name_types(centroids)
        assert naming.names == ranked[-1][1]
        assert naming.total == pytest.approx(ranked[-1][0])
        assert naming.margin == pytest.approx(ranked[-1][0] - ranked[-2][0])


def test_name_that_is_left_over_is_doubtful():
    # Shares of a real model's clusters: the last is a diagonal with a stripe, vertical by what is left.
    shares = [(0.14, 0.20, 0.66), (0.53, 0.19, 0.28), (0.10, 0.47, 0.43), (0.39, 0.40, 0.21)]
    naming = name_types(np.stack([centroid(*share) for share in shares]))
    assert naming.names == ("dense", "diagonal", "dense_vertical", "vertical")
    assert [doubt != "" for doubt in naming.doubts] == [False, False, False, True]
    assert "would be named diagonal" in naming.doubts[3]
    assert naming.warnings == (naming.doubts[3],)
    assert naming.as_dict()["types"]["vertical"]["doubt"] == naming.doubts[3]


def test_name_without_the_largest_share_is_doubtful_though_it_is_the_best_score():
    # dense has the best score for dense (far - special = 0.50), but dense_vertical has more far.
    shares = [(0.40, 0.05, 0.55), (0.95, 0.03, 0.02), (0.02, 0.40, 0.58), (0.02, 0.96, 0.02)]
    naming = name_types(np.stack([centroid(*share) for share in shares]))
    assert naming.names == ("dense", "diagonal", "dense_vertical", "vertical")
    assert [doubt != "" for doubt in naming.doubts] == [True, False, False, False]
    assert "its far is 0.55, and another type has 0.58" in naming.doubts[0]


def test_small_margin_is_a_warning():
    shares = [(0.1, 0.1, 0.8), (0.1, 0.1, 0.8), (0.1, 0.45, 0.45), (0.05, 0.9, 0.05)]
    naming = name_types(np.stack([centroid(*share) for share in shares]))
    assert naming.margin == pytest.approx(0)
    assert any("second-best" in warning for warning in naming.warnings)


@pytest.mark.parametrize("k", [2, 3, 5, 12])
def test_other_numbers_of_clusters_are_numbered_by_rising_special(k):
    special = np.random.default_rng(k).permutation(np.linspace(0.1, 0.9, k))
    naming = name_types(np.stack([centroid(0.05, share, 0.95 - share) for share in special]))
    assert [naming.names[cluster] for cluster in np.argsort(special)] == [f"type-{n + 1}" for n in range(k)]
    assert naming.margin is None
    assert naming.warnings == ()
