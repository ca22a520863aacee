"""Controls: as many heads of each layer as the condition has, drawn from all, and scored as the condition is."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as numpy_st

from headtypes.analyses.ablation.controls import evaluate_controls, overlap, sample_heads
from headtypes.analyses.ablation.evaluation import Settings, evaluate_all, evaluate_condition
from headtypes.core.errors import InputError
from headtypes.data.kinds.question_answering.windows import build_windows
from headtypes.data.kinds.sentence_pair import build_pairs
from tests.support.models import tiny_bert
from tests.support.records import PAIRS, classifier, questions, recorded, types_like

NAMES = ["keep", "zero", "uniform", "mean", "drop_intra"]
OPERATIONS = numpy_st.arrays(object, st.tuples(st.integers(1, 5), st.integers(1, 8)), elements=st.sampled_from(NAMES))
SETTINGS = {"kind": "question_answering", "precision": "float32", "batch_tokens": 512, "max_answer_length": 30}


@given(OPERATIONS, st.integers(0, 99))
def test_a_draw_has_as_many_heads_of_each_layer_under_each_operation(operations, seed):
    before = operations.copy()
    drawn = sample_heads(operations, np.random.default_rng(seed))
    for layer, of_layer in zip(drawn, operations, strict=True):
        assert sorted(layer) == sorted(of_layer)
    assert (operations == before).all()


def test_every_head_of_a_layer_is_drawn_as_often_as_another():
    operations = np.array([["zero", "zero", "keep", "keep", "keep"], ["keep"] * 5], dtype=object)
    rng = np.random.default_rng(0)
    drawn = np.mean([sample_heads(operations, rng) == "zero" for _ in range(4000)], axis=0)
    np.testing.assert_allclose(drawn, [[0.4] * 5, [0] * 5], atol=0.03)


def test_overlap_is_the_share_of_the_conditions_heads_under_the_same_operation():
    operations = np.array([["zero", "uniform", "keep", "keep"], ["zero", "zero", "keep", "keep"]], dtype=object)
    drawn = np.array([["uniform", "zero", "keep", "keep"], ["zero", "keep", "zero", "keep"]], dtype=object)
    assert overlap(drawn, operations) == 0.25
    assert overlap(operations, operations) == 1


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """What the controls of questions are evaluated on."""
    model, tokenizer = tiny_bert()
    record = recorded(model, tokenizer, tmp_path_factory.mktemp("model"))
    return questions(), build_windows(questions(), tokenizer, max_seq_length=60), types_like(record), record


def test_each_draw_is_scored_as_its_heads_are(asked):
    rows, windows, _, record = asked
    arguments = {"condition": "c", "operations": {"diagonal": "uniform", "1-1": "zero"}, **SETTINGS}
    found = evaluate_controls(*asked, draws=5, questions="all", seed=7, **arguments)
    assert list(found) == ["draw", "id", "article", "exact_match", "f1", "overlap"]
    assert found["draw"].tolist() == [draw for draw in range(5) for _ in rows]
    operations = np.full((3, 5), "keep", dtype=object)
    operations[2, ::2], operations[0, 0] = "uniform", "zero"
    for draw, scores in found.groupby("draw"):
        drawn = sample_heads(operations, np.random.default_rng([7, draw]))
        ((_, expected),) = evaluate_all(rows, windows, record, [drawn], None, Settings(**SETTINGS), "test")
        scores = scores.reset_index(drop=True)
        pd.testing.assert_frame_equal(scores[["id", "article", "exact_match", "f1"]], expected)
        assert (scores["overlap"] == overlap(drawn, operations)).all()
    pd.testing.assert_frame_equal(evaluate_controls(*asked, draws=5, questions="all", seed=7, **arguments), found)
    fewer = evaluate_controls(*asked, draws=2, questions="all", seed=7, **arguments)
    pd.testing.assert_frame_equal(fewer, found[found["draw"] < 2])
    other = evaluate_controls(*asked, draws=5, questions="all", seed=8, **arguments)
    assert other["overlap"].tolist() != found["overlap"].tolist()


def test_a_part_of_the_questions_is_scored_as_among_all(asked):
    arguments = {"condition": "c", "operations": {"diagonal": "zero"}, "draws": 3, **SETTINGS}
    whole = evaluate_controls(*asked, questions="all", seed=4, **arguments)
    found = evaluate_controls(*asked, questions=2, seed=4, **arguments)
    ids = [question.id for question in asked[0]]
    by_draw = [scores["id"].tolist() for _, scores in found.groupby("draw")]
    assert len(set(by_draw[0])) == 2
    assert by_draw == 3 * [[name for name in ids if name in by_draw[0]]]
    expected = whole[whole["id"].isin(by_draw[0])].reset_index(drop=True)
    pd.testing.assert_frame_equal(found, expected)
    others = [evaluate_controls(*asked, questions=2, seed=seed, **arguments)["id"].tolist() for seed in range(5)]
    assert len({str(each) for each in others}) > 1


def test_where_a_type_fills_its_layers_the_draw_is_the_type(asked):
    arguments = {"condition": "c", "operations": {"dense": "zero", "diagonal": "zero"}, **SETTINGS}
    found = evaluate_controls(*asked, draws=2, questions="all", seed=0, **arguments)
    _, expected = evaluate_condition(*asked, **arguments)
    assert (found["overlap"] == 1).all()
    for _, scores in found.groupby("draw"):
        assert scores["f1"].tolist() == expected["f1"].tolist()


def test_controls_of_pairs_have_the_columns_of_pairs(tmp_path):
    model, tokenizer = classifier(tiny_bert)
    record = recorded(model, tokenizer, tmp_path)
    windows, head_outputs = build_pairs(PAIRS, tokenizer, max_length=60), np.ones((3, 5, 7), np.float32)
    settings = {"kind": "sentence_pair", "precision": "float32", "batch_tokens": 512, "draws": 2, "seed": 0}
    settings |= {"condition": "c", "operations": {"diagonal": "mean"}}
    arguments = PAIRS, windows, types_like(record), record, head_outputs
    found = evaluate_controls(*arguments, questions="all", **settings)
    assert list(found) == ["draw", "id", "label", "predicted", "correct", "overlap"]
    assert found["id"].tolist() == 2 * [pair.id for pair in PAIRS]
    assert found["label"].cat.categories.tolist() == ["LABEL_0", "LABEL_1"]
    some = evaluate_controls(*arguments, questions=3, **settings)
    assert len(some) == 6
    pd.testing.assert_frame_equal(some, found[found["id"].isin(some["id"])].reset_index(drop=True))


def test_a_condition_that_changes_no_head_has_no_controls(asked):
    with pytest.raises(InputError, match=r"conditions.baseline changes no head"):
        evaluate_controls(*asked, condition="baseline", operations={}, draws=2, questions="all", seed=0, **SETTINGS)
