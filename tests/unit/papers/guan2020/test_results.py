"""Results on disk reach the comparison under the names that belong to them."""

import numpy as np
import pandas as pd
import pytest

from headtypes.analyses.types.choice_files import AGREEMENT, STABILITY, TABLE
from headtypes.core.errors import InputError
from headtypes.core.table_files import write_csv
from headtypes.papers.guan2020.paper import GUAN2020
from headtypes.papers.guan2020.results import (
    families_of,
    parents_of,
    read_choices,
    read_intervals_of,
    read_tables,
)
from headtypes.planning.config.schema import read_config
from headtypes.planning.plan import Plan
from headtypes.planning.results import paths


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
    levels = {}
    # The same partition name of two models and two partitions of one model, and conditions in another order each.
    for number, key in enumerate([("a", "p"), ("b", "p"), ("a", "q")]):
        for place, condition in enumerate(["baseline", "c"] if number % 2 else ["c", "baseline"]):
            levels[*key, condition] = 10.0 * (1 + 2 * number + place)
    keys = [*levels][::2] + [*levels][1::2]
    files = {key: tmp_path / "-".join(key) for key in keys}
    for key, file in files.items():
        scored(levels[key]).to_parquet(file)
    found = read_intervals_of(files, seed=3)
    assert list(found) == [("a", "p"), ("b", "p"), ("a", "q")]
    for key, interval in found.items():
        for condition in ("baseline", "c"):
            assert interval({condition: 1.0}, "exact_match")[0] == pytest.approx(levels[*key, condition])
        value, low, high, _ = interval({"baseline": 1, "c": -1}, "f1")
        assert [value, low, high] == pytest.approx([levels[*key, "baseline"] - levels[*key, "c"]] * 3)
    again, once = (it["a", "p"]({"c": 1}, "f1") for it in (read_intervals_of(files, seed=3), found))
    assert again[:3] == once[:3]
    assert read_intervals_of({}, seed=3) == {}


def test_files_of_other_questions_are_refused_within_a_partition_alone(tmp_path):
    scored(50).to_parquet(tmp_path / "all")
    scored(50).iloc[:8].to_parquet(tmp_path / "some")
    files = {
        (model, "p", condition): tmp_path / name for model, condition, name in (("a", "c", "all"), ("b", "c", "some"))
    }
    assert len(read_intervals_of(files, seed=0)) == 2
    with pytest.raises(InputError, match=r"all and .*some have different questions"):
        read_intervals_of({**files, ("b", "p", "d"): tmp_path / "all"}, seed=0)


def test_choices_are_those_of_clusterings_that_differ_in_k_or_method_alone(tmp_path):
    ways = [
        {"method": method, "k": k, "distance_bins": distance_bins, "heads_all_agree": base + k, "pairs_all_agree": 9.0}
        for base, (method, distance_bins) in enumerate([("kmeans", 16), ("kmeans", 8), ("gmm", 16)])
        for k in (1, 3, 4, 5)
    ]
    ways = pd.DataFrame(ways).reindex(columns=TABLE)
    ways["gap"] = ways["gap"].where(ways["method"] != "kmeans", ways["k"] / 8)
    ways["gap_error"] = 0.3
    # For one cluster there is only the gap, and a method may not divide the heads into so many, or not be halved so.
    ways.loc[ways["k"] == 1, list(STABILITY)] = np.nan
    ways.loc[ways["k"] == 5, "pairs_all_agree"] = np.nan
    agreement = pd.DataFrame(
        [
            ("kmeans", 16, "gmm", 16, 4, 0.7),
            ("kmeans", 16, "gmm", 16, 3, 0.6),
            ("kmeans", 8, "gmm", 8, 4, 0.5),
            ("kmeans", 16, "spectral", 16, 4, 0.4),
            ("kmeans", 8, "kmeans", 16, 4, 0.3),
            ("gmm", 16, "agglomerative", 16, 4, 0.2),
            ("kmeans", 16, "gmm-full", 16, 4, 0.1),
        ],
        columns=AGREEMENT,
    )
    paths = {}
    for name, table in {
        "qa.csv": ways,
        "mrpc.csv": ways.assign(heads_all_agree=ways["heads_all_agree"] + 50),
        "qa.agreement.csv": agreement,
        "mrpc.agreement.csv": agreement.iloc[3:5],
    }.items():
        paths[name] = tmp_path / name
        write_csv(paths[name], table)
    of_task = [{("a", task): paths[task + end] for task in ("qa", "mrpc")} for end in (".csv", ".agreement.csv")]
    same = {"model": "a", "task": "qa", "distance_bins": 16, "k": 4, "stability_models": 10}
    found = read_choices(
        [
            {**same, "partition": "p", "method": "kmeans"},
            {**same, "partition": "q", "method": "gmm", "k": 3},
            {**same, "partition": "r", "method": "kmeans", "task": "mrpc"},
            {**same, "partition": "s", "method": "spectral"},
            {**same, "partition": "imported", "method": None, "k": None},
        ],
        *of_task,
    )
    assert [it.pop("stability_models") for it in found.values()] == [10] * 5
    # k-means alone has a gap here.
    gap = {"gap": (4 - 1) / 8, "gap_error": pytest.approx(0.3 * 2**0.5)}
    three, five = {"stability.3.heads": 3, "stability.3.pairs": 9}, {"stability.5.heads": 5}
    assert found["a", "p"] == {**gap, **three, **five, "mixture_agreement.diag": 0.7, "mixture_agreement.full": 0.1}
    four = {"stability.4.heads": 6, "stability.4.pairs": 9}
    assert found["a", "q"] == {**four, "stability.5.heads": 7, "mixture_agreement.diag": 0.6}
    assert found["a", "r"] == {"stability.3.heads": 53, "stability.3.pairs": 9, "stability.5.heads": 55} | gap
    assert found["a", "s"] == found["a", "imported"] == {}


def test_a_parents_partition_is_the_one_of_the_same_name():
    read = {("base", "p"): "base p", ("base", "q"): "base q", ("fine", "p"): "fine p", ("fine", "r"): "fine r"}
    parents = {"base": None, "fine": "base", "finest": "fine"}
    partitions = [
        {"model": model, "partition": name, "parent": parents[model]} for model, name in (*read, ("finest", "p"))
    ]
    assert parents_of(partitions, read) == {("fine", "p"): "base p", ("finest", "p"): "fine p"}


def test_a_family_is_of_one_way_and_of_the_same_task_where_there_is_one():
    models = {"base": "pre-trained", "fine": "squad", "mrpc": "mrpc", "late": "mrpc", "other": None}
    names = [("base", "pairs-kmeans-k4"), ("base", "qa-kmeans-k4"), ("base", "qa-gmm-k4"), ("base", "qa-kmeans-k3")]
    names += [("fine", "qa-kmeans-k4"), ("fine", "qa-kmeans-k3"), ("fine", "mine"), ("other", "qa-kmeans-k4")]
    names += [("mrpc", "pairs-kmeans-k4"), ("mrpc", "more-kmeans-k4"), ("late", "qa-kmeans-k4")]
    partitions = []
    for model, name in names:
        _, _, way = name.partition("-")
        method, _, k = way.partition("-k")
        partitions.append(
            {"model": model, "partition": name, "published": models[model], "method": method or None, "k": k or None}
        )
    found = families_of(partitions, {name: "/".join(name) for name in names})
    assert found == {
        ("fine", "qa-kmeans-k4"): {
            "squad": "fine/qa-kmeans-k4",
            "pre-trained": "base/qa-kmeans-k4",
            "mrpc": "late/qa-kmeans-k4",
        },
        ("fine", "qa-kmeans-k3"): {"squad": "fine/qa-kmeans-k3", "pre-trained": "base/qa-kmeans-k3"},
    }
    without = families_of([it for it in partitions if it["model"] != "late"], {name: "/".join(name) for name in names})
    assert without["fine", "qa-kmeans-k4"]["mrpc"] == "mrpc/pairs-kmeans-k4"


def test_claims_are_judged_on_partitions_by_weights_alone():
    model = {"source": {"hub": "some/model"}, "tasks": ["squad"], "evaluate": "squad"}
    config = {"tasks": {"squad": {"source": {"hub": "some/questions"}}}, "models": {"one": model}}
    config["conditions"] = {"baseline": {}, "zero-dense": {"dense": "zero"}}

    def plan(*of):
        return Plan(read_config({**config, "clustering": {"of": list(of)}}))

    both, weights = plan("weights", "norms"), plan("weights")
    assert [partition.name for partition in both.ablated] == ["squad-kmeans-k4", "squad-norms-kmeans-k4"]
    assert GUAN2020.inputs(both, paths) == GUAN2020.inputs(weights, paths) != {}
    assert GUAN2020.spec(both) == GUAN2020.spec(weights)
    assert GUAN2020.inputs(plan("norms"), paths) == {}
