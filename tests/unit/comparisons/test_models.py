"""Any two models: what they have in common, by shares, by depth, and by head where they have the same heads."""

import itertools

import numpy as np
import pandas as pd
import pytest

from headtypes.analyses.types.clustering import compare_partitions, match_clusters, matched_clusters
from headtypes.analyses.types.partitions import Partition
from headtypes.comparisons.models import (
    HEADS,
    TYPES,
    ModelPair,
    kept_by_chance,
    list_pairs,
    pairs_table,
    parents_table,
    shared_heads_table,
    type_layers_table,
)
from headtypes.comparisons.models import types_table as table_of_types
from headtypes.core.errors import InputError
from headtypes.papers.claims import FAILS, HOLDS, Measured, Quantity
from tests.support import planted


def typed(layers: list[str], doubtful: str = "", near: float = 0.5) -> Partition:
    # A letter for the type of each head, a word for each layer.
    letters = np.array([list(layer) for layer in layers])
    return planted.typed(letters, doubtful, near=np.where(letters.ravel() == "a", near, 0.1), special=0.2, far=0.3)


def of_two(model: Partition, other: Partition, relation: str = "") -> pd.Series:
    ((_, row),) = pairs_table([ModelPair("model", "other", relation)], {"model": model, "other": other}).iterrows()
    return row


def test_relations_follow_lines_of_descent_in_any_order_of_the_config():
    """Grandparent, parent and child on one task, the grandparent on another, and a stranger."""
    parents = {"c on x": "b on x", "a on x": None, "b on x": "a on x", "a on y": None, "z on x": None}
    found = {tuple(pair[:2]): pair.relation for pair in list_pairs(parents, {name: name[0] for name in parents})}
    assert len(found) == 10
    assert {pair: relation for pair, relation in found.items() if relation} == {
        ("c on x", "a on x"): "ancestor",
        ("c on x", "b on x"): "parent",
        ("b on x", "a on x"): "parent",
        ("a on y", "a on x"): "same model",
    }
    # A parent that was given by mistake ends nowhere.
    assert len(list_pairs({"a": "b", "b": "a"}, {"a": "a", "b": "b"})) == 1


def test_planted_differences_are_found_at_the_step_that_sees_them():
    other = typed(["aabb", "ccdd"])
    assert of_two(other, other)[["same_shares", "same_layers"]].tolist() == [100, 100]
    # Two heads of one layer exchanged: only heads differ.
    within = of_two(typed(["abab", "ccdd"]), other, "parent")
    assert within[["same_shares", "same_layers", "same_type", "same_cluster"]].tolist() == [100, 100, 75, 75]
    # Two heads of two layers exchanged: layers differ as well.
    between = of_two(typed(["aacb", "cbdd"]), other, "parent")
    assert between[["same_shares", "same_layers", "same_type"]].tolist() == [100, 75, 75]
    # One head of another type: shares differ as well.
    retyped = of_two(typed(["aaab", "ccdd"]), other, "parent")
    assert retyped[["same_shares", "same_layers", "same_type"]].tolist() == [87.5, 87.5, 87.5]


def test_each_step_asks_for_more():
    rng = np.random.default_rng(0)
    for _ in range(20):
        one, other = (typed(["".join(layer) for layer in rng.choice(list("abcd"), (3, 5))]) for _ in range(2))
        row = of_two(one, other, "parent")
        assert 100 >= row["same_shares"] >= row["same_layers"] - 1e-9 >= row["same_type"] - 2e-9


def test_models_of_other_depth_and_width_are_compared_at_the_same_depth():
    """Each layer of two heads as three layers of six: the same at every depth; turned upside down, it is not."""
    other = typed(["ab", "bb"])
    deep = ["aaabbb"] * 3 + ["bbbbbb"] * 3
    assert of_two(typed(deep), other)[["same_shares", "same_layers"]].tolist() == pytest.approx([100, 100])
    assert of_two(typed(deep[::-1]), other)[["same_shares", "same_layers"]].tolist() == pytest.approx([100, 50])
    # Two layers and three have a border in common nowhere but at the ends.
    assert of_two(typed(["a", "a", "b"]), typed(["a", "b"]))["same_layers"] == pytest.approx(100 * (1 / 2 + 1 / 3))


def test_heads_are_compared_only_where_the_models_have_the_same_ones():
    partitions = {"model": typed(["bab", "aaa"], doubtful="b"), "other": typed(["bba", "bbb"])}
    pairs = [ModelPair("model", "other", ""), ModelPair("model", "other", "parent")]
    strangers, kin = (row for _, row in pairs_table(pairs, partitions).iterrows())
    assert strangers[["same_type", "same_cluster", "adjusted_rand"]].isna().all()
    # The names are exchanged, and a head that changed its cluster keeps its name.
    assert kin[["same_type", "same_cluster"]].tolist() == pytest.approx([100 / 6, 500 / 6])
    heads = shared_heads_table(pairs, partitions)
    assert list(heads) == list(HEADS)
    assert len(heads) == 6
    assert heads["type"].tolist() == list("babaaa")
    assert heads["other_type"].tolist() == list("bbabbb")
    assert heads.loc[~heads["same_cluster"], ["layer", "head"]].to_numpy().tolist() == [[0, 0]]
    assert heads["doubtful"].tolist() == [True, False, True, False, False, False]
    assert shared_heads_table(pairs[:1], partitions).empty
    with pytest.raises(InputError, match="1 x 3 and 2 x 3"):
        shared_heads_table(pairs[1:], partitions | {"model": typed(["bab"])})


def test_types_say_whether_one_name_means_the_same_in_both():
    partitions = {"model": typed(["aab", "abb"], doubtful="a", near=0.9), "other": typed(["abb", "ccc"])}
    table = table_of_types([ModelPair("model", "other", "")], partitions)
    assert list(table) == list(TYPES)
    rows = table.set_index("type")
    assert rows[["heads", "other_heads"]].to_numpy().tolist() == [[3, 1], [3, 2], [0, 3]]
    assert rows["difference"].tolist() == pytest.approx([100 / 3, 100 / 6, -50])
    # Of three a, two are in the first layer, where the only one of the other is.
    assert rows["same_layers"].tolist() == pytest.approx([200 / 3, 100 / 3, np.nan], nan_ok=True)
    assert rows.loc["a", ["near", "other_near"]].tolist() == [0.9, 0.5]
    assert np.isnan(rows.loc["c", "near"])
    assert rows["doubtful"].tolist() == [True, False, False]
    assert not rows["other_doubtful"].any()


def test_names_matter_to_the_same_type_and_to_nothing_else():
    parent, child = typed(["aabc", "bbca"]), typed(["bbca", "ccab"])
    assert compare_partitions(child, parent) == {"same_type": 0, "same_cluster": 100, "adjusted_rand": 1}
    assert compare_partitions(parent, parent) == {"same_type": 100, "same_cluster": 100, "adjusted_rand": 1}


def test_clusters_are_matched_so_that_most_heads_keep_theirs():
    rng = np.random.default_rng(0)
    for _ in range(20):
        child, parent = (typed(["".join(layer) for layer in rng.choice(list("abc"), (3, 5))]) for _ in range(2))
        best = max(
            sum(renamed[ours] == theirs for ours, theirs in zip(child.type_of.flat, parent.type_of.flat, strict=True))
            for order in itertools.permutations("abc")
            for renamed in [dict(zip("abc", order, strict=True))]
        )
        assert matched_clusters(child, parent).sum() == best


def test_of_equally_good_matchings_that_which_keeps_names_counts_and_a_cluster_without_partner_keeps_no_head():
    def kept(child: str, parent: str) -> str:
        return "".join("+-"[not each] for each in matched_clusters(typed([child]), typed([parent]))[0])

    # Two heads keep their cluster whichever is matched with which.
    assert kept("aaab", "abbb") == "+--+"
    # Names decide between equals alone: one more head outweighs them.
    assert kept("aaabb", "bbaab") == "++-+-"
    assert kept("aabbc", "aabbb") == kept("aabbb", "aabbc") == "++++-"
    assert match_clusters(typed(["aabbc"]), typed(["aabbb"])) == {"a": "a", "b": "b"}


def test_models_are_compared_with_a_parent_that_has_a_partition_layer_by_layer():
    """A fourth of the first layer changes its cluster, and the types' names are exchanged all over the model."""
    partitions = {"parent": typed(["aabb", "abcc"]), "child": typed(["bbca", "bcaa"]), "other": typed(["aabb", "abcc"])}
    parents = {"parent": None, "child": "parent", "other": "elsewhere"}
    pairs = list_pairs(parents, {name: name for name in partitions})
    (row,) = parents_table(pairs_table(pairs, partitions)).to_dict("records")
    compared = compare_partitions(partitions["child"], partitions["parent"])
    assert row == {"model": "child", "parent": "parent", **compared}
    table = type_layers_table(partitions, parents)
    assert table["model"].tolist() == [name for name in partitions for _ in range(2)]
    assert table["layer"].tolist() == [0, 1] * 3
    assert table["heads_a"].tolist() == [2, 1, 1, 2, 2, 1]
    assert table["same_cluster"].tolist() == pytest.approx([np.nan, np.nan, 75, 100, np.nan, np.nan], nan_ok=True)
    assert list(parents_table(pairs_table([], {}))) == list(row)


# Of unrelated clusters hardly any are said to be kept, and of related ones hardly any are said not to be.
@pytest.mark.parametrize(("changed", "wrong"), [(72, HOLDS), (20, FAILS)])
def test_kept_clusters_are_told_from_chance(changed, wrong):
    """Of the heads, so many have their types in another order; most unrelated ones keep more than half of the heads."""
    rng, verdicts, more_than_half = np.random.default_rng(1), [], 0
    for trial in range(100):
        parent = rng.permutation(np.repeat(planted.TYPES, (52, 12, 5, 3)))
        child, moved = parent.copy(), rng.permutation(72)[:changed]
        child[moved] = rng.permutation(child[moved])
        pair = [planted.typed(types.reshape(-1, 12)) for types in (child, parent)]
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
        layers = [np.repeat(planted.TYPES, sizes) for sizes in ((9, 3, 0, 0), (6, 6, 0, 0), (0, 6, 3, 3), (0, 0, 3, 9))]
        pair = [planted.typed([rng.permutation(layer) for layer in layers]) for _ in range(2)]
        chance = kept_by_chance(*pair, permutations=199, seed=trial)
        measured = Measured.beyond_chance(100 * matched_clusters(*pair).mean(), chance)
        kept.append(Quantity("kept", measured).above(0).verdict)
    assert kept.count(HOLDS) <= 5
