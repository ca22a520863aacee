"""Controls: as many heads as the condition has, drawn from a family, and scored as the condition is."""

from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as numpy_st

from headtypes.analyses.ablation import controls
from headtypes.analyses.ablation.control_drops import control_drops, of_family
from headtypes.analyses.ablation.controls import (
    ALL_DRAWN,
    UNDECIDABLE,
    evaluate_controls,
    overlap,
    same_mass,
    sample_heads,
)
from headtypes.analyses.ablation.evaluation import Settings, evaluate_all, evaluate_condition
from headtypes.analyses.types.partitions import Partition, profile_groups
from headtypes.attention.operations import operations_by_head
from headtypes.core.seeds import derive_seed
from tests.support.models import tiny_bert
from tests.support.records import ANSWERING, asked_of, types_like

NAMES = ["keep", "zero", "uniform", "mean", "drop_intra"]
OPERATIONS = numpy_st.arrays(object, st.tuples(st.integers(1, 5), st.integers(1, 8)), elements=st.sampled_from(NAMES))


@given(OPERATIONS, st.integers(0, 99), st.booleans())
def test_heads_are_drawn_within_their_groups_and_alike_whatever_is_done_to_them(operations, seed, of_layers):
    """So that models whose types differ in a few heads have draws that differ in as few."""
    heads, groups = np.arange(operations.size).reshape(operations.shape), np.indices(operations.shape)[0]
    if not of_layers:
        groups = np.random.default_rng(seed).integers(0, 3, operations.shape)
    drawn = sample_heads(heads, groups, np.random.default_rng(seed))
    assert sorted(drawn.flat) == sorted(heads.flat)
    assert (groups.ravel()[drawn] == groups).all()
    assert (sample_heads(operations, groups, np.random.default_rng(seed)) == operations.ravel()[drawn]).all()


def test_overlap_is_the_share_of_the_conditions_heads_under_the_same_operation():
    operations = np.array([["zero", "uniform", "keep", "keep"], ["zero", "zero", "keep", "keep"]], dtype=object)
    drawn = np.array([["uniform", "zero", "keep", "keep"], ["zero", "keep", "zero", "keep"]], dtype=object)
    assert overlap(drawn, operations) == 0.25
    assert overlap(operations, operations) == 1


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """What the controls of questions are evaluated on."""
    rows, windows, record = asked_of(*tiny_bert(), tmp_path_factory.mktemp("model"), max_seq_length=60)
    types = types_like(record).table
    profiles = np.random.default_rng(0).dirichlet(np.ones(3), len(types))
    types = Partition(types.assign(**dict(zip(("near", "special", "far"), profiles.T, strict=True))))
    return rows, windows, types, record


ZERO = {"diagonal": "zero"}
MIXED = {"diagonal": "uniform", "1-1": "zero"}
ABOUT = ["overlap", "planned", "stopped"]


def under(asked, operations: dict) -> pd.DataFrame:
    """The scores of each question under a condition."""
    return evaluate_condition(*asked, condition="c", operations=operations, **ANSWERING)[1]


def controlled(asked, own: pd.DataFrame, operations: dict, **changed) -> pd.DataFrame:
    """The scores under draws of a condition, whose own scores are given."""
    how = {
        "condition": "c",
        "draws": 5,
        "questions": "all",
        "profile": False,
        "mass": False,
        "all_draws": False,
        "seed": 7,
    }
    return evaluate_controls(*asked, own, operations=operations, **how | changed, **ANSWERING)


def test_each_draw_is_scored_as_its_heads_are(asked):
    rows, windows, _, record = asked
    own = under(asked, MIXED)
    found = controlled(asked, own, MIXED, profile=True)
    assert list(found) == ["family", "draw", "id", "article", "exact_match", "f1", *ABOUT]
    assert found["planned"].eq(5).all()
    operations = np.full((3, 5), "keep", dtype=object)
    operations[2, ::2], operations[0, 0] = "uniform", "zero"
    groups = {"layer": np.indices((3, 5))[0], "profile": profile_groups(asked[2])}
    assert found["family"].unique().tolist() == ["layer", "profile"]
    for place, family in ((0, "layer"), (2, "profile")):
        for draw, scores in of_family(found, family).groupby("draw"):
            drawn = sample_heads(operations, groups[family], np.random.default_rng([7, place, draw]))
            ((_, expected),) = evaluate_all(rows, windows, record, [drawn], None, Settings(**ANSWERING), "test")
            scores = scores.reset_index(drop=True)
            pd.testing.assert_frame_equal(scores[["id", "article", "exact_match", "f1"]], expected)
            assert (scores["overlap"] == overlap(drawn, operations)).all()
    fewer = controlled(asked, own, MIXED, profile=True, draws=2).drop(columns=ABOUT)
    pd.testing.assert_frame_equal(fewer, found[found["draw"] < 2].reset_index(drop=True).drop(columns=ABOUT))
    other = controlled(asked, own, MIXED, profile=True, seed=8)
    assert other["overlap"].tolist() != found["overlap"].tolist()
    pd.testing.assert_frame_equal(controlled(asked, own, MIXED), of_family(found))


def test_as_much_attention_is_taken_of_the_same_heads_where_a_condition_drops_any(asked):
    rows, windows, _, record = asked
    dropped = {"dense": "drop_inter", "1-1": "zero"}
    own = under(asked, dropped)
    found = of_family(controlled(asked, own, dropped, mass=True, draws=2), "mass")
    by_head = operations_by_head(asked[2].type_of, dropped, "c")
    taken = [same_mass(by_head, derive_seed(7, "mass", draw)) for draw in range(2)]
    assert (taken[0] != taken[1]).sum() == (by_head == "drop_inter").sum() > 0
    expected = evaluate_all(rows, windows, record, taken, None, Settings(**ANSWERING), "test")
    for (_, scores), (_, of_draw) in zip(found.groupby("draw"), expected, strict=True):
        assert scores["f1"].tolist() == of_draw["f1"].tolist()
    assert found["overlap"].isna().all()
    assert control_drops(found, own, own, seed=0)["mass_control_draws"] == 2
    assert set(controlled(asked, under(asked, ZERO), ZERO, mass=True, draws=2)["family"]) == {"layer"}


@pytest.mark.parametrize(
    ("f1", "all_draws", "made", "stopped"),
    # Of 40 draws, two that cost as much leave no p of 5 %; where other models have the same draws, all are made.
    [(0, False, 2, UNDECIDABLE), (100, False, 40, ALL_DRAWN), (50, False, 2, UNDECIDABLE), (0, True, 40, ALL_DRAWN)],
)
def test_draws_end_once_the_score_cannot_be_told_from_random_any_more(f1, all_draws, made, stopped, asked, monkeypatch):
    own, scored = under(asked, ZERO).assign(exact_match=50, f1=50), []

    @contextmanager
    def evaluator(*_):
        yield lambda wanted: scored.extend(wanted) or [(None, own.assign(exact_match=0, f1=f1)) for _ in wanted]

    monkeypatch.setattr(controls, "evaluator", evaluator)
    operations = {"1-1": "zero", "2-1": "mean", "3-1": "zero"}
    found = controlled(asked, own, operations, draws=40, seed=0, all_draws=all_draws)
    assert found["draw"].nunique() == made >= len(scored)
    assert found["stopped"].unique().tolist() == [stopped]


def test_a_part_of_the_questions_is_scored_as_among_all(asked):
    own = under(asked, ZERO)
    whole, found = (controlled(asked, own, ZERO, draws=3, questions=questions) for questions in ("all", 2))
    by_draw = [scores["id"].tolist() for _, scores in found.groupby("draw")]
    assert len(set(by_draw[0])) == 2
    assert by_draw == 3 * [[question.id for question in asked[0] if question.id in by_draw[0]]]
    pd.testing.assert_frame_equal(found, whole[whole["id"].isin(by_draw[0])].reset_index(drop=True))
    others = [controlled(asked, own, ZERO, draws=1, questions=2, seed=seed)["id"].tolist() for seed in range(5)]
    assert len({str(each) for each in others}) > 1
