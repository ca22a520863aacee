"""Sets of heads in random company: which heads are drawn, what is lost, and how they are taken up again."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from headtypes.analyses.ablation.evaluation import Asked, evaluate_condition
from headtypes.analyses.company import sets as module
from headtypes.analyses.company.costs import head_costs
from headtypes.analyses.company.results import Company
from headtypes.analyses.company.sets import draw_sets, evaluate_company, kept_for, run
from headtypes.core.errors import InputError
from headtypes.core.files import write_json
from headtypes.core.hdf5_files import read_arrays, write_arrays
from headtypes.data.kinds.question_answering import answer_positions, build_windows
from headtypes.data.tasks import write_records
from headtypes.models.fetching import fetch_model, load_tokenizer
from tests.support.models import tiny_bert
from tests.support.places import SHARED_DATA
from tests.support.records import ANSWERING, asked_of, inputs_of, read_squad, types_like

HOW = {"sets": 10, "per_layer": None, "operation": "zero", "questions": "all", "seed": 3, **ANSWERING}


@pytest.mark.parametrize(
    ("layers", "heads", "per_layer", "away", "sets"),
    [(6, 12, None, 6, 156), (12, 12, None, 12, 156), (24, 16, None, 8, 624), (30, 9, None, 10, 351), (3, 5, 2, 6, 150)],
)
def test_every_head_is_away_equally_often_in_sets_of_a_few_heads_of_every_layer(layers, heads, per_layer, away, sets):
    drawn = draw_sets(layers, heads, sets=None, per_layer=per_layer, seed=0)
    assert drawn.shape == (sets, layers, heads)
    assert set(drawn.sum((1, 2))) == {away}
    of_layer = per_layer or max(1, round(heads / 12))
    assert set(drawn.sum(2).ravel()) <= {0, of_layer}
    counts = drawn.sum(0)
    assert counts.min() >= 13
    if heads % of_layer == 0 and sets % (heads // of_layer) == 0:
        assert np.ptp(counts) == 0


def test_more_sets_do_not_change_the_first_ones_and_another_seed_draws_others():
    few, many = (draw_sets(6, 12, sets=sets, per_layer=None, seed=1) for sets in (30, 100))
    np.testing.assert_array_equal(few, many[:30])
    assert (few != draw_sets(6, 12, sets=30, per_layer=None, seed=2)).any()
    # Heads of different layers are away together at random.
    pairs = [np.argwhere(of_set).tolist() for of_set in many]
    assert len({str(pair) for pair in pairs}) == 100


def test_what_cannot_be_drawn_is_said_in_a_sentence():
    with pytest.raises(
        InputError, match=r"company\.per_layer asks for 13 heads of a layer, but a layer of the model has"
    ):
        draw_sets(6, 12, sets=None, per_layer=13, seed=0)
    with pytest.raises(InputError, match=r"company\.sets asks for 11 sets.*would never be away; ask for at least 12"):
        draw_sets(6, 12, sets=11, per_layer=None, seed=0)


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    rows, windows, record = asked_of(*tiny_bert(), tmp_path_factory.mktemp("model"), max_seq_length=60)
    return rows, windows, record


def evaluated(asked, **changed) -> Company:
    *_, company = evaluate_company(*asked, **HOW | changed)
    return company


def test_each_set_is_scored_as_a_condition_with_the_same_heads_by_name(asked):
    rows, windows, record = asked
    company = evaluated(asked)
    of_all = Asked(rows, windows, types_like(record), record)
    for index, of_set in enumerate(company.away):
        heads = {f"{layer + 1}-{head + 1}": "zero" for layer, head in np.argwhere(of_set)}
        _, scores = evaluate_condition(of_all, condition="c", operations=heads, **ANSWERING)
        assert company.metrics == ["loss", "exact_match", "f1"]
        # A question whose right answer is in no window has no loss.
        asked_of_all = scores.set_index("id").loc[company.units]
        np.testing.assert_array_equal(company.scores[index, :, 1:], asked_of_all[["exact_match", "f1"]])
    _, scores = evaluate_condition(of_all, condition="c", operations={}, **ANSWERING)
    np.testing.assert_array_equal(
        company.whole[:, 1:], scores.set_index("id").loc[company.units, ["exact_match", "f1"]]
    )
    assert (company.lost("f1") == company.whole[:, 2] - company.scores[..., 2]).all()


def test_the_loss_is_that_of_the_first_and_the_last_token_of_the_right_span(asked):
    rows, windows, _ = asked
    model, _ = tiny_bert()
    company, expected = evaluated(asked), {}
    positions = answer_positions(rows, windows)
    for window in range(len(windows)):
        with torch.inference_mode():
            output = model(**inputs_of(windows, window))
        if (positions[window] >= 0).all():
            logits = zip((output.start_logits, output.end_logits), positions[window], strict=True)
            loss = np.mean([-float(of[0].log_softmax(-1)[place]) for of, place in logits])
            expected.setdefault(windows.question_ids[windows.question[window]], []).append(loss)
    assert list(company.units) == [row.id for row in rows if row.id in expected]
    np.testing.assert_allclose(company.whole[:, 0], [np.mean(expected[unit]) for unit in company.units], atol=1e-5)


@pytest.fixture
def counted(monkeypatch):
    evaluations, plain = [], module.Evaluator.evaluate
    monkeypatch.setattr(
        module.Evaluator, "evaluate", lambda self, sets, what: evaluations.append(len(sets)) or plain(self, sets, what)
    )
    return evaluations


def test_sets_are_taken_up_where_they_stopped_and_added_without_the_first_again(asked, counted):
    whole = evaluated(asked, sets=25, made="x")
    stopped = next(evaluate_company(*asked, **HOW | {"sets": 25, "made": "x"}))
    assert len(stopped.away) == 10
    counted.clear()
    found = evaluated(asked, sets=25, made="x", earlier=stopped)
    assert counted == [10, 5]
    np.testing.assert_array_equal(found.scores[:10], stopped.scores)
    np.testing.assert_allclose(found.scores, whole.scores, rtol=1e-5)
    counted.clear()
    evaluated(asked, sets=12, made="x", earlier=whole)
    assert counted == [], "fewer sets are the first of those that are known"
    evaluated(asked, sets=12, made="y", earlier=whole)
    assert sum(counted) == 13, "what was made in another way does not count"


def test_a_job_goes_on_from_the_sets_that_are_kept(asked, tmp_path, counted, monkeypatch):
    rows, windows, record = asked
    write_records(tmp_path / "questions", rows)
    write_arrays(tmp_path / "windows", windows, {})
    write_json(tmp_path / "model", vars(record))
    monkeypatch.setattr(module, "read_model_record", lambda _: record)
    inputs = {name: str(tmp_path / name) for name in ("questions", "windows", "model")} | {"company_outputs": []}
    outputs = SimpleNamespace(company=str(tmp_path / "results/task.h5"))
    provenance = {"code": "one", "rule": "evaluate_company", "wildcards": {}}
    for sets, code, expected in ((10, "one", [1, 10]), (15, "one", [5]), (15, "two", [1, 10, 5])):
        counted.clear()
        run(SimpleNamespace(**inputs), {**HOW, "sets": sets}, outputs, {**provenance, "code": code})
        assert counted == expected
        assert len(read_arrays(outputs.company, Company).away) == sets
    kept_for(outputs.company).write_bytes(b"damaged")
    counted.clear()
    run(SimpleNamespace(**inputs), {**HOW, "sets": 10}, outputs, provenance)
    assert counted == [1, 10]


# Of SQuAD's dev set, some on which the two heads matter, as they do on most that have longer contexts.
ASKED = """571c3a685efbb31900334db5 571cde695efbb31900334e16 5725ba5038643c19005acbe8 5725d51589a1e219009abf70
57269698dd62a815002e8a6f 572685cd5951b619008f7576 5726b9e15951b619008f7bf5 572757bef1498d1400e8f693"""


@pytest.mark.slow
@pytest.mark.real
@pytest.mark.skipif(not SHARED_DATA.exists(), reason="no real data")
def test_two_heads_of_minilm_cost_most_on_squad():
    """3-10 and 2-2, which look at the same word in the other text."""
    questions = [row for row in read_squad(SHARED_DATA / "squad" / "dev-v1.1.json") if row.id in ASKED.split()]
    record = fetch_model("minilm", {"folder": str(SHARED_DATA / "models" / "minilm-squad")})
    windows = build_windows(questions, load_tokenizer(record))
    *_, company = evaluate_company(questions, windows, record, **HOW | {"sets": 36, "seed": 2455708774})
    costs, _ = head_costs(company, seed=0)
    costliest = costs.nlargest(2, "cost")
    assert {*zip(costliest["layer"], costliest["head"], strict=True)} == {(2, 9), (1, 1)}
