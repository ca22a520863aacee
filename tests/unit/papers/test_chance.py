"""Of unrelated clusters hardly any are said to be kept, and of related ones hardly any are said not to be."""

import numpy as np
import pytest

from headtypes.analyses.types.clustering import matched_clusters
from headtypes.analyses.types.names import TYPES
from headtypes.comparisons.models import kept_by_chance
from headtypes.papers.quantities import FAILS, HOLDS, OPEN, Measured, Quantity
from tests.support.planted import typed

SIZES = (52, 12, 5, 3)


@pytest.mark.parametrize(("changed", "wrong"), [(72, HOLDS), (20, FAILS)])
def test_kept_clusters_are_told_from_chance(changed, wrong):
    """Of the heads, so many have their types in another order; most unrelated ones keep more than half of the heads."""
    rng, verdicts, more_than_half = np.random.default_rng(1), [], 0
    for trial in range(100):
        parent = rng.permutation(np.repeat(TYPES, SIZES))
        child, moved = parent.copy(), rng.permutation(72)[:changed]
        child[moved] = rng.permutation(child[moved])
        pair = [typed(types.reshape(-1, 12)) for types in (child, parent)]
        kept = 100 * matched_clusters(*pair).mean()
        more_than_half += kept > 50
        measured = Measured.beyond_chance(kept, kept_by_chance(*pair, permutations=199, seed=trial))
        finding = Quantity("kept", measured).above(0)
        verdicts.append(finding.verdict)
        # The quantiles lie between two of the 199.
        assert abs(finding.p - 0.05) < 0.02 or (finding.p < 0.05) == (finding.verdict != "open")
    assert verdicts.count(wrong) <= 5
    assert more_than_half > 90


def test_models_with_the_same_types_in_the_same_layers_need_not_keep_their_heads():
    """Types by layer are kept beyond permutations of all heads, though no head is more than others of its layer."""
    rng, kept = np.random.default_rng(2), []
    for trial in range(100):
        layers = [np.repeat(TYPES, sizes) for sizes in ((9, 3, 0, 0), (6, 6, 0, 0), (0, 6, 3, 3), (0, 0, 3, 9))]
        pair = [typed([rng.permutation(layer) for layer in layers]) for _ in range(2)]
        chance = kept_by_chance(*pair, permutations=199, seed=trial)
        measured = Measured.beyond_chance(100 * matched_clusters(*pair).mean(), chance)
        kept.append(Quantity("kept", measured).above(0).verdict)
    assert kept.count(HOLDS) <= 5


def test_a_value_that_many_permutations_give_is_not_told_from_chance():
    chance = np.repeat([0.0, 1.0, 2.0], [100, 50, 49])
    for value in (0.0, 1.0, 2.0):
        finding = Quantity("count", Measured.beyond_chance(value, chance)).above(0)
        assert finding.verdict == OPEN
        assert finding.p > 0.05
    assert Quantity("count", Measured.beyond_chance(3.0, chance)).above(0).verdict == HOLDS
