"""Curves: nested sets from none to all, in the orders they name, scored as conditions are."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headtypes import curves
from headtypes.curves import by_importance, evaluate_curve, growing_sets
from headtypes.errors import InputError
from headtypes.evaluation import evaluate_condition, summary
from headtypes.pairs import build_pairs
from headtypes.windows import build_windows
from tests.models import tiny_bert
from tests.records import PAIRS, classifier, questions, recorded, types_like

SETTINGS = {"precision": "float32", "batch_tokens": 512, "answer_tokens": 30}
IMPORTANCE = np.random.default_rng(5).random((3, 5))


@given(st.integers(1, 400), st.integers(2, 12))
def test_sets_grow_evenly_from_none_to_all_in_the_order_given(heads, points):
    order = np.random.default_rng(heads).permutation(np.argwhere(np.ones((20, 20))))[:heads]
    sets = growing_sets(order, points)
    sizes = [len(removed) for removed in sets]
    assert sizes[0] == 0
    assert sizes[-1] == heads
    assert len(sets) == min(points, heads + 1)
    assert np.ptp(np.diff(sizes)) <= 1
    for removed in sets:
        assert removed.tolist() == order[: len(removed)].tolist()


def test_the_least_important_heads_go_first_and_equal_ones_in_their_order():
    importance = np.array([[0.5, 0.1, 0.3], [0.1, 0.9, 0.2]])
    heads = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [1, 2]])
    assert by_importance(heads, importance).tolist() == [[0, 1], [1, 0], [1, 2], [0, 0], [1, 1]]
    many = np.argwhere(np.ones((20, 20)))
    of_three = np.random.default_rng(0).integers(0, 3, (20, 20)).astype(float)
    expected = sorted(many.tolist(), key=lambda head: (of_three[tuple(head)], head))
    assert by_importance(many, of_three).tolist() == expected


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """What curves of questions are evaluated on; the last layer's even heads are diagonal."""
    model, tokenizer = tiny_bert()
    record = recorded(model, tokenizer, tmp_path_factory.mktemp("model"))
    return questions(), build_windows(questions(), tokenizer, window=60), types_like(record), record


def removed_in(asked, monkeypatch, **arguments):
    """The table of a curve, and the heads [n, 2] that each of its rows takes away."""
    taken = []

    def spy(rows, windows, record, wanted, *rest):
        taken.extend(np.argwhere(operations == "zero").tolist() for operations in wanted)
        assert {name for operations in wanted for name in operations.flat} <= {"keep", "zero"}
        return evaluate_all(rows, windows, record, wanted, *rest)

    evaluate_all = curves.evaluate_all
    monkeypatch.setattr(curves, "evaluate_all", spy)
    return evaluate_curve(*asked, IMPORTANCE, **arguments, **SETTINGS), taken


def test_heads_of_a_type_are_removed_by_importance_and_at_random(asked, monkeypatch):
    found, taken = removed_in(asked, monkeypatch, type_name="dense", draws=3, seed=1)
    assert list(found) == ["order", "draw", "heads", "exact_match", "f1"]
    assert found["heads"].tolist() == [len(removed) for removed in taken]
    dense = np.argwhere(asked[2].type_of == "dense")
    by_order = {}
    for (order, draw, _), removed in zip(found[["order", "draw", "heads"]].itertuples(index=False), taken, strict=True):
        by_order.setdefault((order, draw), []).append({tuple(head) for head in removed})
    assert list(by_order) == [("importance", 0), ("random", 0), ("random", 1), ("random", 2)]
    for sets in by_order.values():
        assert len(sets) == 8
        assert all(smaller < larger for smaller, larger in pairwise(sets))
        assert sets[-1] == set(map(tuple, dense))
    for removed in by_order["importance", 0][1:-1]:
        stays = set(map(tuple, dense)) - removed
        assert max(IMPORTANCE[head] for head in removed) < min(IMPORTANCE[head] for head in stays)
    assert len({str(sorted(sets[1])) for sets in by_order.values()}) > 2


def test_the_ends_of_a_curve_are_the_model_and_the_condition(asked):
    found = evaluate_curve(*asked, IMPORTANCE, type_name="diagonal", draws=1, seed=1, **SETTINGS)
    for heads, operations in ((0, {}), (3, {"diagonal": "zero"})):
        _, scores = evaluate_condition(*asked, condition="c", operations=operations, **SETTINGS)
        expected = summary(scores)
        ends = found[found["heads"] == heads]
        assert len(ends) == 2
        for metric in ("exact_match", "f1"):
            assert (ends[metric] == expected[metric]).all()


def test_all_heads_are_removed_by_importance_whatever_their_type(asked, monkeypatch):
    found, taken = removed_in(asked, monkeypatch, type_name=None, draws=0, seed=1)
    assert set(found["order"]) == {"importance"}
    assert found["heads"].tolist() == [0, 2, 4, 6, 9, 11, 13, 15]
    least = np.argwhere(np.sort(IMPORTANCE.flat)[3] >= IMPORTANCE)
    assert taken[2] == least.tolist()


def test_curves_of_pairs_have_the_metrics_of_pairs(tmp_path):
    model, tokenizer = classifier(tiny_bert)
    record = recorded(model, tokenizer, tmp_path)
    windows = build_pairs(PAIRS, tokenizer, limit=60)
    settings = {"kind": "sentence_pair", "precision": "float32", "batch_tokens": 512}
    arguments = PAIRS, windows, types_like(record), record, IMPORTANCE
    found = evaluate_curve(*arguments, type_name="diagonal", draws=1, seed=0, **settings)
    assert list(found) == ["order", "draw", "heads", "accuracy", "f1"]
    pd.testing.assert_frame_equal(evaluate_curve(*arguments, type_name="diagonal", draws=1, seed=0, **settings), found)


def test_a_type_that_there_is_not_and_an_importance_of_another_model_are_refused(asked):
    with pytest.raises(InputError, match='has the type "vertical"'):
        evaluate_curve(*asked, IMPORTANCE, type_name="vertical", draws=1, seed=0, **SETTINGS)
    with pytest.raises(InputError, match="measured on another model"):
        evaluate_curve(*asked, IMPORTANCE[:2], type_name="dense", draws=1, seed=0, **SETTINGS)
