"""Curves: nested sets from none to all, in the orders they name, scored as conditions are."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headtypes.analyses.ablation import curves, evaluation
from headtypes.analyses.ablation.curve_sets import POINTS
from headtypes.analyses.ablation.curves import evaluate_curves, growing_sets
from headtypes.analyses.types.partitions import Partition
from headtypes.data.kinds.registry import KINDS
from tests.support.models import tiny_bert
from tests.support.records import ANSWERING, asked_of, types_like

EVERY = {"questions": "all", "seed": 1}
IMPORTANCE = np.random.default_rng(5).random((3, 5))


@given(st.integers(1, 400))
def test_sets_grow_evenly_from_none_to_all_in_the_order_given(heads):
    order = np.random.default_rng(heads).permutation(np.argwhere(np.ones((20, 20))))[:heads]
    sets = growing_sets(order)
    sizes = [len(removed) for removed in sets]
    assert sizes[0] == 0
    assert sizes[-1] == heads
    assert len(sets) == min(POINTS, heads + 1)
    assert np.ptp(np.diff(sizes)) <= 1
    for removed in sets:
        assert removed.tolist() == order[: len(removed)].tolist()


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """What curves of questions are evaluated on; the last layer's even heads are diagonal."""
    rows, windows, record = asked_of(*tiny_bert(), tmp_path_factory.mktemp("model"), max_seq_length=60)
    return rows, windows, types_like(record), record


def removed_in(asked, monkeypatch, **arguments):
    """The table of the curves, and the heads {(layer, head), ...} that each of its rows takes away."""
    taken = []

    def spy(rows, windows, record, wanted, *rest):
        taken.extend({tuple(head) for head in np.argwhere(operations == "zero")} for operations in wanted)
        assert {name for operations in wanted for name in operations.flat} <= {"keep", "zero"}
        return evaluate_all(rows, windows, record, wanted, *rest)

    evaluate_all = evaluation.evaluate_all
    monkeypatch.setattr(curves, "evaluate_all", spy)
    return evaluate_curves(*asked, IMPORTANCE, **arguments, **ANSWERING), taken


def test_heads_of_each_type_and_of_all_are_removed_by_importance_and_at_random(asked, monkeypatch):
    found, taken = removed_in(asked, monkeypatch, orders=3, **EVERY)
    assert list(found) == ["type", "order", "draw", "heads", "exact_match", "f1"]
    assert found["heads"].tolist() == [len(removed) for removed in taken]
    curve = list(found[["type", "order", "draw"]].itertuples(index=False, name=None))
    by_curve = {}
    for name, removed in zip(curve, taken, strict=True):
        by_curve.setdefault(name, []).append(removed)
    orders = [("importance", 0), ("random", 0), ("random", 1), ("random", 2)]
    assert list(by_curve) == [(name, *order) for name in ("dense", "diagonal", "all") for order in orders]
    of_type = {name: {tuple(head) for head in np.argwhere(asked[2].type_of == name)} for name in ("dense", "diagonal")}
    heads = of_type | {"all": of_type["dense"] | of_type["diagonal"]}
    sizes = {"dense": [0, 2, 5, 7, 10, 12], "diagonal": [0, 1, 2, 3], "all": [0, 3, 6, 9, 12, 15]}
    for (name, order, _), sets in by_curve.items():
        assert [len(removed) for removed in sets] == sizes[name]
        assert all(smaller < larger for smaller, larger in pairwise(sets))
        assert sets[-1] == heads[name]
        for removed in sets[1:-1] if order == "importance" else ():
            stays = heads[name] - removed
            assert max(IMPORTANCE[head] for head in removed) < min(IMPORTANCE[head] for head in stays)
    assert len({str(sorted(sets[1])) for (name, *_), sets in by_curve.items() if name == "dense"}) > 2


def test_as_many_heads_of_any_type_are_removed_as_there_are_of_each(asked):
    rows, windows, partition, record = asked
    types = partition.table.assign(type=["dense"] * 7 + ["diagonal"] * 8)
    found = evaluate_curves(rows, windows, Partition(types), record, IMPORTANCE, orders=1, **EVERY, **ANSWERING)
    for _, curve in found[found["type"] == "all"].groupby("order"):
        assert curve["heads"].tolist() == [0, 3, 6, 7, 8, 9, 12, 15]
    assert set(found.loc[found["type"] == "dense", "heads"]) == {0, 1, 3, 4, 6, 7}


def test_every_set_is_scored_as_its_heads_are(asked, monkeypatch):
    rows, windows, _, record = asked
    found, taken = removed_in(asked, monkeypatch, orders=2, **EVERY)
    sets = []
    for removed in taken:
        sets.append(np.full((3, 5), "keep", dtype=object))
        for head in removed:
            sets[-1][head] = "zero"
    scored = evaluation.evaluate_all(rows, windows, record, sets, None, evaluation.Settings(**ANSWERING), "test")
    figures = pd.DataFrame([KINDS["question_answering"].mean_scores(scores) for _, scores in scored])
    pd.testing.assert_frame_equal(found[["exact_match", "f1"]], figures[["exact_match", "f1"]])
    assert len(set(found["f1"])) > 1


def test_the_seed_says_what_is_random(asked, monkeypatch):
    settings = {"orders": 1, "questions": "all"}
    first, again, other = (removed_in(asked, monkeypatch, seed=seed, **settings)[1] for seed in (1, 1, 2))
    assert first == again != other
