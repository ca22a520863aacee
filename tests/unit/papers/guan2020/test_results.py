"""Results on disk reach the comparison under the names that belong to them."""

import json

import numpy as np
import pandas as pd
import pytest

from headtypes.base.errors import InputError
from headtypes.base.table_files import write_csv
from headtypes.papers.guan2020.results import by_key, parents_of, read_intervals_of, read_silhouettes, read_tables


def test_values_have_the_names_that_json_brings_back():
    names = json.loads(json.dumps([("bert", "p"), ("bert", "q", "c")]))
    assert by_key(names, iter([1, 2])) == {("bert", "p"): 1, ("bert", "q", "c"): 2}
    with pytest.raises(ValueError, match="shorter"):
        by_key(names, [1])


def test_tables_stand_one_below_the_other(tmp_path):
    tables = [pd.DataFrame({"model": ["a", "b"], "f1": [1.5, np.nan]}), pd.DataFrame({"model": ["c"], "f1": [2.0]})]
    for number, table in enumerate(tables):
        write_csv(tmp_path / f"{number}.csv", table)
    found = read_tables([tmp_path / "0.csv", tmp_path / "1.csv"])
    pd.testing.assert_frame_equal(found, pd.concat(tables, ignore_index=True))
    write_csv(tmp_path / "empty.csv", tables[0].iloc[:0])
    assert read_tables([tmp_path / "1.csv", tmp_path / "empty.csv"])["model"].tolist() == ["c"]
    assert read_tables([]) is None


@pytest.mark.parametrize("names", [["1", "2", "007", "1e3", "5"], ["NA", "None", "nan", "null", "a"]])
def test_names_are_text_whatever_they_look_like(tmp_path, names):
    table = pd.DataFrame({"model": names, "partition": names, "id": range(5), "condition": names, "f1": 0.5})
    write_csv(tmp_path / "table.csv", table)
    found = read_tables([tmp_path / "table.csv"])
    assert found[["model", "partition", "condition"]].to_numpy().tolist() == [[name] * 3 for name in names]
    assert found["id"].tolist() == list(range(5))


def scored(level: float) -> pd.DataFrame:
    """Scores of ten questions with a mean, two articles."""
    figures = level + np.tile([-1.0, 1.0], 5)
    return pd.DataFrame(
        {"id": [str(n) for n in range(10)], "article": list("aaaabbbbbb"), "exact_match": figures, "f1": figures + 10}
    )


def test_intervals_are_those_of_each_partitions_own_files(tmp_path):
    rows, levels = [], {}
    # The same partition name of two models and two partitions of one model, and conditions in another order each.
    for number, key in enumerate([("a", "p"), ("b", "p"), ("a", "q")]):
        for place, condition in enumerate(["baseline", "c"] if number % 2 else ["c", "baseline"]):
            levels[*key, condition] = 10.0 * (1 + 2 * number + place)
            rows.append({"model": key[0], "partition": key[1], "condition": condition})
    rows = rows[::2] + rows[1::2]
    paths = []
    for row in rows:
        paths.append(tmp_path / "-".join(row.values()))
        scored(levels[tuple(row.values())]).to_parquet(paths[-1])
    found = read_intervals_of(rows, paths, seed=3)
    assert list(found) == [("a", "p"), ("b", "p"), ("a", "q")]
    for key, interval in found.items():
        for condition in ("baseline", "c"):
            assert interval({condition: 1.0}, "exact_match")[0] == pytest.approx(levels[*key, condition])
        value, low, high = interval({"baseline": 1, "c": -1}, "f1")
        assert [value, low, high] == pytest.approx([levels[*key, "baseline"] - levels[*key, "c"]] * 3)
    again = read_intervals_of(rows, paths, seed=3)["a", "p"]
    assert again({"c": 1}, "f1") == found["a", "p"]({"c": 1}, "f1")
    assert read_intervals_of([], [], seed=3) == {}


def test_files_of_other_questions_are_refused_within_a_partition_alone(tmp_path):
    scored(50).to_parquet(tmp_path / "all")
    scored(50).iloc[:8].to_parquet(tmp_path / "some")
    rows = [{"model": model, "partition": "p", "condition": condition} for model, condition in ("ac", "bc", "bd")]
    assert len(read_intervals_of(rows[:2], [tmp_path / "all", tmp_path / "some"], seed=0)) == 2
    with pytest.raises(InputError, match=r"all and .*some have different questions"):
        read_intervals_of(rows, [tmp_path / name for name in ("all", "some", "all")], seed=0)


def test_silhouettes_are_those_of_the_same_method_and_bins(tmp_path):
    ways = pd.DataFrame(
        [
            (method, k, distance_bins, base + 0.01 * k)
            for base, (method, distance_bins) in enumerate([("kmeans", 16), ("kmeans", 8), ("gmm", 16)])
            for k in (3, 4, 5)
        ],
        columns=["method", "k", "distance_bins", "silhouette"],
    )
    # A method may not divide the heads into so many, and for one cluster there is only the gap.
    ways.loc[(ways["method"] == "gmm") & (ways["k"] == 5), "silhouette"] = np.nan
    write_csv(tmp_path / "qa.csv", ways)
    write_csv(tmp_path / "mrpc.csv", ways.assign(silhouette=ways["silhouette"] - 10))
    choices = {("a", "qa"): tmp_path / "qa.csv", ("a", "mrpc"): tmp_path / "mrpc.csv"}
    same = {"model": "a", "task": "qa", "distance_bins": 16}
    found = read_silhouettes(
        [
            {**same, "partition": "p", "method": "kmeans"},
            {**same, "partition": "q", "method": "gmm"},
            {**same, "partition": "r", "method": "kmeans", "task": "mrpc"},
            {**same, "partition": "imported", "method": None},
        ],
        choices,
    )
    assert found["a", "p"] == pytest.approx({3: 0.03, 4: 0.04, 5: 0.05})
    assert found["a", "q"] == pytest.approx({3: 2.03, 4: 2.04})
    assert found["a", "r"] == pytest.approx({3: -9.97, 4: -9.96, 5: -9.95})
    assert found["a", "imported"] == {}


def test_a_parents_partition_is_the_one_of_the_same_name():
    read = {("base", "p"): "base p", ("base", "q"): "base q", ("fine", "p"): "fine p", ("fine", "r"): "fine r"}
    parents = {"base": None, "fine": "base", "finest": "fine"}
    partitions = [
        {"model": model, "partition": name, "parent": parents[model]} for model, name in (*read, ("finest", "p"))
    ]
    assert parents_of(partitions, read) == {("fine", "p"): "base p", ("finest", "p"): "fine p"}
