"""Models beside their parents: only along a line of descent, and every number by its definition."""

import itertools

import numpy as np
import pandas as pd
import pytest

from headtypes.base.errors import InputError
from headtypes.base.table_files import write_csv
from headtypes.types.descent import COLUMNS, compare_partitions, comparison_table, kept_clusters, read_comparison
from headtypes.types.partitions import Partition
from tests.support.drawing import HEADS, LAYERS, family, planted
from tests.support.planted import TYPES


def test_comparison_equals_its_definition():
    _, parent = planted()
    ours, theirs = parent.type_of.copy(), parent.type_of
    ours[0, :4] = "dense"
    child = Partition(parent.table.assign(type=ours.reshape(-1)))
    found = compare_partitions(child, parent)
    same = [ours[index] == theirs[index] for index in np.ndindex(LAYERS, HEADS)]
    assert found["same_type"] == pytest.approx(100 * sum(same) / len(same))
    # The adjusted Rand index from all pairs of heads: Hubert and Arabie 1985, equation 5.
    flat = list(zip(ours.reshape(-1), theirs.reshape(-1), strict=True))
    together = [(a[0] == b[0], a[1] == b[1]) for a, b in itertools.combinations(flat, 2)]
    both = sum(one and other for one, other in together)
    one, other = sum(pair[0] for pair in together), sum(pair[1] for pair in together)
    chance = one * other / len(together)
    assert found["adjusted_rand"] == pytest.approx((both - chance) / ((one + other) / 2 - chance))


def test_names_matter_to_the_same_type_and_not_to_the_rand_index():
    _, parent = planted()
    turned = dict(zip(TYPES, TYPES[1:] + TYPES[:1], strict=True))
    child = Partition(parent.table.assign(type=parent.table["type"].map(turned)))
    assert compare_partitions(child, parent) == {"same_type": 0, "same_cluster": 100, "adjusted_rand": 1}
    assert compare_partitions(parent, parent) == {"same_type": 100, "same_cluster": 100, "adjusted_rand": 1}


def of_types(parent: Partition, types: np.ndarray) -> Partition:
    return Partition(parent.table.assign(type=types.reshape(-1)))


@pytest.mark.parametrize("seed", range(4))
def test_heads_that_leave_their_cluster_are_found_whatever_the_clusters_are_called(seed):
    """Some heads are given another cluster, and then all clusters other names."""
    rng = np.random.default_rng(seed)
    _, parent = planted()
    types = parent.type_of.copy()
    left = np.zeros(parent.shape, dtype=bool)
    for place in rng.choice(parent.type_of.size, size=4, replace=False):
        layer, head = divmod(place, HEADS)
        types[layer, head] = rng.choice([name for name in TYPES if name != types[layer, head]])
        left[layer, head] = True
    names = dict(zip(TYPES, rng.permutation([*TYPES[1:], "another"]), strict=True))
    child = of_types(parent, np.vectorize(names.get, otypes=[object])(types))
    np.testing.assert_array_equal(kept_clusters(child, parent), ~left)
    assert compare_partitions(child, parent)["same_cluster"] == pytest.approx(100 * (~left).mean())


def test_clusters_are_matched_so_that_most_heads_keep_theirs():
    rng = np.random.default_rng(5)
    _, parent = planted()
    for _ in range(5):
        types = rng.choice(TYPES, size=parent.shape).astype(object)
        best = max(
            (np.vectorize(dict(zip(TYPES, order, strict=True)).get, otypes=[object])(types) == parent.type_of).sum()
            for order in itertools.permutations(TYPES)
        )
        assert kept_clusters(of_types(parent, types), parent).sum() == best


def test_a_cluster_without_a_partner_keeps_no_head():
    _, parent = planted()
    types = parent.type_of.copy()
    split = np.argwhere(types == TYPES[0])
    types[tuple(split[0])] = "split off"
    assert (~kept_clusters(of_types(parent, types), parent)).sum() == 1
    assert (~kept_clusters(parent, of_types(parent, types))).sum() == 1


def test_models_of_different_shape_are_not_compared():
    _, parent = planted()
    small = Partition(parent.table[parent.table["layer"] < 2])
    with pytest.raises(InputError, match=r"differ in shape \(2 x 8 and 3 x 8 layers x heads\)"):
        compare_partitions(small, parent)


def test_only_models_along_a_line_of_descent_are_compared():
    partitions, parents = family()
    table = comparison_table(partitions, parents)
    assert table[["model", "parent"]].to_numpy().tolist() == [["bert_squad", "bert"], ["bert_mrpc", "bert"]]
    for row in table.to_dict("records"):
        expected = compare_partitions(partitions[row["model"]], partitions["bert"])
        assert {name: row[name] for name in expected} == expected
    assert list(comparison_table({"bert": partitions["bert"]}, parents)) == list(table)


def test_a_comparison_comes_back_from_disk_as_it_was(tmp_path):
    partitions, parents = family()
    # Names that look like numbers or like missing values are names.
    names = {"bert": "NA", "bert_squad": "007", "bert_mrpc": "1e3", "other": "nan"}
    renamed = {names[name]: partition for name, partition in partitions.items()}
    lines = {names[name]: names.get(parent) for name, parent in parents.items()}
    for table in (comparison_table(renamed, lines), comparison_table({"007": partitions["bert"]}, {"007": None})):
        write_csv(tmp_path / "figure4.csv", table)
        found = read_comparison(tmp_path / "figure4.csv")
        assert list(found) == COLUMNS
        pd.testing.assert_frame_equal(found, table, check_dtype=False, rtol=1e-8)
    (tmp_path / "figure4.csv").write_text("model,parent\na,b\n")
    with pytest.raises(InputError, match="lacks the column same_type"):
        read_comparison(tmp_path / "figure4.csv")
