"""Controls: as many heads as the condition has, drawn from a family, and scored as the condition is."""

from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as numpy_st

from headtypes.analyses.ablation import controls
from headtypes.analyses.ablation.control_drops import of_family
from headtypes.analyses.ablation.controls import (
    ALL_DRAWN,
    UNDECIDABLE,
    evaluate_controls,
    overlap,
    sample_heads,
)
from headtypes.analyses.ablation.evaluation import Settings, evaluate_all, evaluate_condition
from headtypes.analyses.types.partitions import Partition, profile_groups
from headtypes.core.errors import InputError
from headtypes.data.kinds.question_answering.windows import build_windows
from tests.support.models import tiny_bert
from tests.support.records import questions, recorded, types_like

NAMES = ["keep", "zero", "uniform", "mean", "drop_intra"]
OPERATIONS = numpy_st.arrays(object, st.tuples(st.integers(1, 5), st.integers(1, 8)), elements=st.sampled_from(NAMES))
SETTINGS = {"kind": "question_answering", "precision": "float32", "batch_tokens": 512, "max_answer_length": 30}
ALONE = {"all_draws": False}


@given(OPERATIONS, st.integers(0, 99), st.booleans())
def test_a_draw_has_as_many_heads_of_each_group_under_each_operation(operations, seed, of_layers):
    before, groups = operations.copy(), np.indices(operations.shape)[0]
    if not of_layers:
        groups = np.random.default_rng(seed).integers(0, 3, operations.shape)
    drawn = sample_heads(operations, groups, np.random.default_rng(seed))
    for group in np.unique(groups):
        assert sorted(drawn[groups == group]) == sorted(operations[groups == group])
    assert (operations == before).all()


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
    types = types_like(record).table
    profiles = np.random.default_rng(0).dirichlet(np.ones(3), len(types))
    types = Partition(types.assign(**dict(zip(("near", "special", "far"), profiles.T, strict=True))))
    return questions(), build_windows(questions(), tokenizer, max_seq_length=60), types, record


def under(asked, operations: dict, **settings) -> pd.DataFrame:
    """The scores of each question under a condition."""
    return evaluate_condition(*asked, condition="c", operations=operations, **(settings or SETTINGS))[1]


MIXED = {"diagonal": "uniform", "1-1": "zero"}


def test_each_draw_is_scored_as_its_heads_are(asked):
    rows, windows, _, record = asked
    own = under(asked, MIXED)
    arguments = {
        "condition": "c",
        "operations": MIXED,
        "questions": "all",
        "profile": True,
        **ALONE,
        **SETTINGS,
    }
    found = evaluate_controls(*asked, own, draws=5, seed=7, **arguments)
    about = ["overlap", "planned", "stopped"]
    assert list(found) == ["family", "draw", "id", "article", "exact_match", "f1", *about]
    assert found["planned"].eq(5).all()
    operations = np.full((3, 5), "keep", dtype=object)
    operations[2, ::2], operations[0, 0] = "uniform", "zero"
    groups = {"layer": np.indices((3, 5))[0], "profile": profile_groups(asked[2])}
    assert found["family"].unique().tolist() == ["layer", "profile"]
    for place, family in ((0, "layer"), (2, "profile")):
        for draw, scores in of_family(found, family).groupby("draw"):
            drawn = sample_heads(operations, groups[family], np.random.default_rng([7, place, draw]))
            ((_, expected),) = evaluate_all(rows, windows, record, [drawn], None, Settings(**SETTINGS), "test")
            scores = scores.reset_index(drop=True)
            pd.testing.assert_frame_equal(scores[["id", "article", "exact_match", "f1"]], expected)
            assert (scores["overlap"] == overlap(drawn, operations)).all()
    pd.testing.assert_frame_equal(evaluate_controls(*asked, own, draws=5, seed=7, **arguments), found)
    fewer = evaluate_controls(*asked, own, draws=2, seed=7, **arguments)
    pd.testing.assert_frame_equal(
        fewer.drop(columns=about), found[found["draw"] < 2].reset_index(drop=True).drop(columns=about)
    )
    other = evaluate_controls(*asked, own, draws=5, seed=8, **arguments)
    assert other["overlap"].tolist() != found["overlap"].tolist()
    alone = evaluate_controls(*asked, own, draws=5, seed=7, **arguments | {"profile": False})
    pd.testing.assert_frame_equal(alone, of_family(found))


class Planted:
    """Scores that sets of heads are given instead of a model's, and how many sets were scored."""

    def __init__(self, asked, monkeypatch, score):
        self.scored = 0
        own = under(asked, {"diagonal": "zero"})

        @contextmanager
        def evaluator(*_):
            def evaluate(wanted):
                self.scored += len(wanted)
                return [(None, own.assign(**score(operations))) for operations in wanted]

            yield evaluate

        monkeypatch.setattr(controls, "evaluator", evaluator)
        self.own = own


@pytest.mark.parametrize(
    ("exact_match", "f1", "made", "stopped"),
    # Of 40 draws, two that cost as much leave no p of 5 %; in every score, since each is tested.
    [(0, 0, 2, UNDECIDABLE), (0, 100, 40, ALL_DRAWN), (100, 100, 40, ALL_DRAWN), (50, 50, 2, UNDECIDABLE)],
)
def test_draws_end_once_no_score_can_be_told_from_random_any_more(exact_match, f1, made, stopped, asked, monkeypatch):
    planted = Planted(asked, monkeypatch, lambda _: {"exact_match": exact_match, "f1": f1})
    own = planted.own.assign(exact_match=50, f1=50)
    arguments = {
        "condition": "c",
        "operations": {"1-1": "zero", "2-1": "mean", "3-1": "zero"},
        "questions": "all",
        **SETTINGS,
    }
    found = evaluate_controls(*asked, own, draws=40, profile=False, seed=0, **ALONE, **arguments)
    assert found["draw"].nunique() == made
    assert found["stopped"].unique().tolist() == [stopped]
    assert planted.scored <= made


def test_where_other_models_have_the_same_draws_all_are_made(asked, monkeypatch):
    planted = Planted(asked, monkeypatch, lambda _: {"exact_match": 0, "f1": 0})
    arguments = {"condition": "c", "operations": {"1-1": "zero", "2-1": "zero"}, "questions": "all", **SETTINGS}
    found = evaluate_controls(*asked, planted.own, draws=40, profile=False, seed=0, all_draws=True, **arguments)
    assert found["draw"].nunique() == 40
    assert found["stopped"].unique().tolist() == [ALL_DRAWN]


@given(OPERATIONS, st.integers(0, 99))
def test_with_one_seed_heads_are_permuted_alike_whatever_is_done_to_them(operations, seed):
    """So that models whose types differ in a few heads have draws that differ in as few."""
    layers = np.indices(operations.shape)[0]
    heads = np.indices(operations.shape)[1]
    permuted = sample_heads(heads, layers, np.random.default_rng(seed))
    expected = np.take_along_axis(operations, permuted, axis=1)
    assert (sample_heads(operations, layers, np.random.default_rng(seed)) == expected).all()


def test_a_part_of_the_questions_is_scored_as_among_all(asked):
    arguments = {
        "condition": "c",
        "operations": {"diagonal": "zero"},
        "draws": 3,
        "profile": False,
        **ALONE,
        **SETTINGS,
    }
    own = under(asked, {"diagonal": "zero"})
    whole = evaluate_controls(*asked, own, questions="all", seed=4, **arguments)
    found = evaluate_controls(*asked, own, questions=2, seed=4, **arguments)
    ids = [question.id for question in asked[0]]
    by_draw = [scores["id"].tolist() for _, scores in found.groupby("draw")]
    assert len(set(by_draw[0])) == 2
    assert by_draw == 3 * [[name for name in ids if name in by_draw[0]]]
    expected = whole[whole["id"].isin(by_draw[0])].reset_index(drop=True)
    pd.testing.assert_frame_equal(found, expected)
    others = [evaluate_controls(*asked, own, questions=2, seed=seed, **arguments)["id"].tolist() for seed in range(5)]
    assert len({str(each) for each in others}) > 1


def test_where_a_type_fills_its_layers_the_draw_is_the_type(asked):
    arguments = {"condition": "c", "operations": {"dense": "zero", "diagonal": "zero"}, **SETTINGS}
    _, expected = evaluate_condition(*asked, **arguments)
    found = evaluate_controls(*asked, expected, draws=2, questions="all", profile=False, seed=0, **ALONE, **arguments)
    assert (found["overlap"] == 1).all()
    for _, scores in found.groupby("draw"):
        assert scores["f1"].tolist() == expected["f1"].tolist()


def test_a_condition_that_changes_no_head_has_no_controls(asked):
    with pytest.raises(InputError, match=r"conditions.baseline changes no head"):
        evaluate_controls(
            *asked,
            None,
            condition="baseline",
            operations={},
            draws=2,
            questions="all",
            profile=False,
            seed=0,
            **ALONE,
            **SETTINGS,
        )
