"""Controls: as many heads of the same layers as the condition has, scored as the condition is."""

import numpy as np
import pandas as pd
import pytest

from headtypes.analyses.ablation.controls import evaluate_controls, overlap
from headtypes.analyses.ablation.evaluation import Evaluator, Settings
from tests.support.models import tiny_bert
from tests.support.records import ANSWERING, asked_of, types_like

MIXED = {"diagonal": "uniform", "1-1": "zero"}


def test_overlap_is_the_share_of_the_conditions_heads_under_the_same_operation():
    operations = np.array([["zero", "uniform", "keep", "keep"], ["zero", "zero", "keep", "keep"]], dtype=object)
    drawn = np.array([["uniform", "zero", "keep", "keep"], ["zero", "keep", "zero", "keep"]], dtype=object)
    assert overlap(drawn, operations) == 0.25
    assert overlap(operations, operations) == 1


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """What the controls of questions are evaluated on."""
    rows, windows, record = asked_of(*tiny_bert(), tmp_path_factory.mktemp("model"), max_seq_length=60)
    return rows, windows, types_like(record), record


def controlled(asked, **changed) -> pd.DataFrame:
    how = {"condition": "c", "operations": MIXED, "draws": 5, "questions": "all", "seed": 7}
    return evaluate_controls(*asked, **how | changed, **ANSWERING)


def test_each_draw_is_scored_as_its_heads_are_and_has_as_many_in_each_layer(asked):
    rows, windows, _, record = asked
    found = controlled(asked)
    assert list(found) == ["draw", "id", "article", "exact_match", "f1", "overlap"]
    operations = np.full((3, 5), "keep", dtype=object)
    operations[2, ::2], operations[0, 0] = "uniform", "zero"
    for draw, scores in found.groupby("draw"):
        drawn = np.random.default_rng([7, draw]).permuted(operations, axis=1)
        assert (np.sort(drawn, axis=1) == np.sort(operations, axis=1)).all()
        ((_, expected),) = Evaluator(rows, windows, record, None, Settings(**ANSWERING)).evaluate([drawn], "test")
        scores = scores.reset_index(drop=True)
        pd.testing.assert_frame_equal(scores[["id", "article", "exact_match", "f1"]], expected)
        assert (scores["overlap"] == overlap(drawn, operations)).all()
    pd.testing.assert_frame_equal(controlled(asked, draws=2), found[found["draw"] < 2].reset_index(drop=True))
    assert controlled(asked, seed=8)["overlap"].tolist() != found["overlap"].tolist()


def test_a_part_of_the_questions_is_scored_as_among_all(asked):
    whole, found = (controlled(asked, draws=3, questions=questions) for questions in ("all", 2))
    by_draw = [scores["id"].tolist() for _, scores in found.groupby("draw")]
    assert len(set(by_draw[0])) == 2
    assert by_draw == 3 * [[question.id for question in asked[0] if question.id in by_draw[0]]]
    pd.testing.assert_frame_equal(found, whole[whole["id"].isin(by_draw[0])].reset_index(drop=True))
    others = [controlled(asked, draws=1, questions=2, seed=seed)["id"].tolist() for seed in range(5)]
    assert len({str(each) for each in others}) > 1
