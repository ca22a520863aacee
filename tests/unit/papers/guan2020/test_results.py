"""Results on disk reach the comparison under the names that belong to them."""

import numpy as np
import pandas as pd
import pytest

from headtypes.core.errors import InputError
from headtypes.core.files import write_json
from headtypes.core.table_files import write_csv
from headtypes.papers.guan2020.paper import GUAN2020
from headtypes.papers.guan2020.quantities import _numbered_conditions, models_beside, read_answers, read_stabilities
from headtypes.planning.config import read_config
from headtypes.planning.plan import Plan
from tests.support.planted import typed
from tests.unit.papers.guan2020.test_claims import REFERENCE


def scored(level: float) -> pd.DataFrame:
    names, figures = list("abcdefghij"), level + np.tile([-1.0, 1.0], 5)
    return pd.DataFrame({"id": names, "article": names, "exact_match": figures, "f1": figures + 10})


def test_answers_are_those_of_each_partitions_own_files(tmp_path):
    levels = {}
    # The same partition name of two models and two partitions of one model, and conditions in another order each.
    for number, key in enumerate([("a", "p"), ("b", "p"), ("a", "q")]):
        for place, condition in enumerate(["baseline", "c"] if number % 2 else ["c", "baseline"]):
            levels[*key, condition] = 10.0 * (1 + 2 * number + place)
    keys = [*levels][::2] + [*levels][1::2]
    files = {key: tmp_path / "-".join(key) for key in [*keys, ("pairs", "p", "c")]}
    for key in keys:
        scored(levels[key]).to_parquet(files[key])
    pd.DataFrame({"id": ["1"], "correct": [100.0]}).to_parquet(files["pairs", "p", "c"])
    found = read_answers(files)
    assert list(found) == [("a", "p"), ("b", "p"), ("a", "q")]
    for key, answers in found.items():
        assert answers.n_questions == 10
        for condition in ("baseline", "c"):
            assert answers.scores["exact_match"].sum({condition: 1.0}).value == pytest.approx(levels[*key, condition])
        drop = answers.scores["f1"].sum({"baseline": 1, "c": -1}, "baseline")
        assert drop.value == pytest.approx(levels[*key, "baseline"] - levels[*key, "c"])
        assert drop.low < drop.value < drop.high


def test_a_condition_has_the_papers_number_and_the_first_of_equals_counts():
    rows = [("c", {"diagonal": "zero"}), ("again", {"diagonal": "zero"}), ("nothing", {}), ("own", {"dense": "mean"})]
    about = {"model": "a", "partition": "p"}
    found = _numbered_conditions([about | {"condition": name, "operations": done} for name, done in rows], REFERENCE)
    assert found == {("a", "p"): {3: "c", 1: "nothing"}}


def test_a_partition_is_judged_by_its_stability_and_by_clusterings_that_differ_in_k_alone(tmp_path):
    numbers = pd.DataFrame({"k": [1, 2, 3, 5], "heads_all_agree": [np.nan, 3.0, 4, 5], "pairs_all_agree": 9.0})
    # A method may not divide the heads into so many, or not be halved so.
    numbers.loc[numbers["k"].isin([1, 5]), "pairs_all_agree"] = np.nan
    write_csv(tmp_path / "numbers.csv", numbers.assign(samples_all_agree=np.nan))
    halves = {"heads": {"all_agree": 95.0}, "samples": {"all_agree": 96.0}, "pairs": None, "own_cluster": 80.0}
    write_json(tmp_path / "p.json", halves | {"gaps": {"line": 12.0, "paths": 13.0}, "mixtures": {"diag": 0.7}})
    write_json(tmp_path / "q.json", halves | {"gaps": None, "mixtures": {}})
    files, number_files = (
        {("a", name): tmp_path / file.format(name) for name in "pq"} for file in ("{}.json", "numbers.csv")
    )
    partitions = {**dict.fromkeys(files, typed([["dense", "diagonal"]])), ("a", "imported"): typed([["dense"]])}
    found = read_stabilities(partitions, files, number_files)
    both = {"stability.2.heads": 95.0, "stability.2.samples": 96.0, "own_cluster": 80.0, "stability.3.heads": 4.0}
    both |= {"stability.3.pairs": 9.0, "stability.5.heads": 5.0}
    values = {key: {name: it.value for name, it in measured.items()} for key, measured in found.items()}
    gaps = [values["a", "p"].pop(name) for name in ("dips.line", "dips.paths")]
    assert all(0 < value <= 13 for value in gaps)
    assert values == {("a", "p"): both | {"mixture_agreement.diag": 0.7}, ("a", "q"): both}
    write_json(tmp_path / "p.json", {})
    with pytest.raises(InputError, match=r"p\.json is damaged or does not say how stable types are"):
        read_stabilities(partitions, files, number_files)


def test_a_family_is_of_one_way_and_of_the_same_task_where_there_is_one():
    models = {"base": "pre-trained", "fine": "squad", "mrpc": "mrpc", "late": "mrpc", "other": None}
    names = [("base", "pairs-kmeans-k4"), ("base", "qa-kmeans-k4"), ("base", "qa-gmm-k4"), ("base", "qa-kmeans-k3")]
    names += [("fine", "qa-kmeans-k4"), ("fine", "qa-kmeans-k3"), ("fine", "mine"), ("other", "qa-kmeans-k4")]
    names += [("mrpc", "pairs-kmeans-k4"), ("mrpc", "more-kmeans-k4"), ("late", "qa-kmeans-k4")]
    partitions = []
    for model, name in names:
        method, _, k = name.partition("-")[2].partition("-k")
        about = {"model": model, "partition": name, "published": models[model]}
        partitions.append(about | {"method": method or None, "k": k or None})
    read = {name: "/".join(name) for name in names}
    found = models_beside(partitions, read)
    with_3 = {"squad": "fine/qa-kmeans-k3", "pre-trained": "base/qa-kmeans-k3"}
    with_4 = {"squad": "fine/qa-kmeans-k4", "pre-trained": "base/qa-kmeans-k4", "mrpc": "late/qa-kmeans-k4"}
    assert found == {("fine", "qa-kmeans-k3"): with_3, ("fine", "qa-kmeans-k4"): with_4}
    without = models_beside([it for it in partitions if it["model"] != "late"], read)
    assert without["fine", "qa-kmeans-k4"]["mrpc"] == "mrpc/pairs-kmeans-k4"


def test_claims_are_judged_on_partitions_by_weights_alone():
    model = {"source": {"hub": "some/model"}, "tasks": ["squad"], "evaluate": "squad"}
    config = {"tasks": {"squad": {"source": {"hub": "some/questions"}}}, "models": {"one": model}}
    config["conditions"] = {"baseline": {}, "zero-dense": {"dense": "zero"}}

    def plan(*of):
        return Plan(read_config({**config, "clustering": {"of": list(of)}}))

    both, weights = plan("weights", "norms"), plan("weights")
    assert [partition.name for partition in both.ablated] == ["squad-kmeans-k4", "squad-norms-kmeans-k4"]
    assert GUAN2020.inputs(both) == GUAN2020.inputs(weights) != {}
    assert GUAN2020.spec(both) == GUAN2020.spec(weights)
    assert GUAN2020.inputs(plan("norms")) == {}
