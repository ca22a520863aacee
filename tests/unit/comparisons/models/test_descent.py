"""Models beside their parents: only along a line of descent, and every number by its definition."""

import itertools

import numpy as np
import pytest

from headtypes.analyses.types.partitions import Partition
from headtypes.analyses.types.stability import compare_partitions, match_clusters, matched_clusters
from headtypes.comparisons.models.compared import layers_table
from tests.support.drawing import LAYERS, family, planted
from tests.support.planted import TYPES, typed


def test_names_matter_to_the_same_type_and_to_nothing_else():
    _, parent = planted()
    turned = dict(zip(TYPES, TYPES[1:] + TYPES[:1], strict=True))
    child = Partition(parent.table.assign(type=parent.table["type"].map(turned)))
    assert compare_partitions(child, parent) == {"same_type": 0, "same_cluster": 100, "adjusted_rand": 1}
    assert compare_partitions(parent, parent) == {"same_type": 100, "same_cluster": 100, "adjusted_rand": 1}


def test_clusters_are_matched_so_that_most_heads_keep_theirs():
    rng = np.random.default_rng(0)
    for _ in range(20):
        child, parent = (typed(rng.choice(["a", "b", "c"], (3, 5)).tolist()) for _ in range(2))
        best = max(
            sum(renamed[ours] == theirs for ours, theirs in zip(child.type_of.flat, parent.type_of.flat, strict=True))
            for order in itertools.permutations("abc")
            for renamed in [dict(zip("abc", order, strict=True))]
        )
        assert matched_clusters(child, parent).sum() == best


def test_of_equally_good_matchings_the_one_that_keeps_names_counts():
    # a and b each lie half in a and half in b: two heads keep their cluster whichever is matched with which.
    child, parent = typed([["a", "a", "b", "b"]]), typed([["a", "b", "a", "b"]])
    assert matched_clusters(child, parent).tolist() == [[True, False, False, True]]
    # Names decide between equals alone: one more head outweighs them.
    child, parent = typed([["a", "a", "a", "b", "b"]]), typed([["b", "b", "a", "a", "b"]])
    assert matched_clusters(child, parent).tolist() == [[True, True, False, True, False]]


def test_a_cluster_without_partner_keeps_no_head():
    child, parent = typed([["a", "a", "b", "b", "c"]]), typed([["a", "a", "b", "b", "b"]])
    assert matched_clusters(child, parent).tolist() == [[True, True, True, True, False]]
    assert matched_clusters(parent, child).tolist() == [[True, True, True, True, False]]
    assert match_clusters(child, parent) == match_clusters(parent, child) == {"a": "a", "b": "b"}


def test_layers_are_counted_one_by_one():
    partitions, parents = family()
    # A fourth of the first layer changes its cluster, and the types' names are exchanged all over the model.
    parent = partitions["bert"]
    turned = dict(zip(TYPES, TYPES[1:] + TYPES[:1], strict=True))
    types = np.vectorize(turned.get)(parent.type_of).astype(object)
    types[0, :2] = [turned[name] for name in types[0, :2]]
    partitions["bert_squad"] = Partition(parent.table.assign(type=types.reshape(-1)))
    table = layers_table(partitions, parents)
    assert table["model"].tolist() == [name for name in partitions for _ in range(LAYERS)]
    assert table["layer"].tolist() == [*range(LAYERS)] * len(partitions)
    for row in table.to_dict("records"):
        layer = partitions[row["model"]].type_of[row["layer"]]
        assert {name: row[f"heads_{name}"] for name in TYPES} == {name: (layer == name).sum() for name in TYPES}
    kept = {model: layers["same_cluster"].tolist() for model, layers in table.groupby("model")}
    assert kept["bert_squad"] == [75, 100, 100]
    assert np.isnan(kept["bert"] + kept["other"]).all()
    assert np.mean(kept["bert_mrpc"]) == pytest.approx(
        compare_partitions(partitions["bert_mrpc"], parent)["same_cluster"]
    )
