"""Sets of heads: scored as conditions are, and the cheapest chosen on one half and measured on the other."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from headtypes.analyses.ablation.evaluation import Settings, evaluate_all
from headtypes.analyses.effects import draws
from headtypes.analyses.effects.analysis import per_head, per_set
from headtypes.analyses.effects.costs import costs_of
from headtypes.analyses.effects.draws import draw_sets, evaluate_cheapest, evaluate_subsets
from headtypes.analyses.effects.figure import effects_figure
from headtypes.analyses.effects.measure import measure_effects
from headtypes.analyses.effects.results import read_effects
from headtypes.core.errors import InputError
from headtypes.core.statistics import mean_intervals
from headtypes.core.table_files import write_csv
from headtypes.data.kinds.question_answering.windows import build_windows
from headtypes.models.records import ModelRecord
from tests.support.models import tiny_bert
from tests.support.records import described, questions, recorded
from tests.unit.analyses.effects.test_measure import groups_of, scores_of

SETTINGS = {"kind": "question_answering", "precision": "float32", "batch_tokens": 512, "max_answer_length": 30}


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """Questions, their windows, and a model of 3 x 5 heads."""
    model, tokenizer = tiny_bert()
    rows = [replace(it, id=f"{it.id}-{copy}") for copy in range(3) for it in questions()]
    record = recorded(model, tokenizer, tmp_path_factory.mktemp("model"))
    return rows, build_windows(rows, tokenizer, max_seq_length=60), record


def test_every_draw_is_scored_as_its_heads_are_and_none_left_out_first(asked):
    rows, windows, record = asked
    found = evaluate_subsets(*asked, subsets=4, share=0.3, questions="all", seed=7, **SETTINGS)
    assert list(found) == ["draw", "removed", "id", "article", "exact_match", "f1"]
    removed = np.vstack([np.zeros(15, bool), draw_sets(4, 15, 0.3, seed=7)]).reshape(5, 3, 5)
    for draw, scores in found.groupby("draw"):
        operations = np.where(removed[draw], "zero", "keep").astype(object)
        ((_, expected),) = evaluate_all(rows, windows, record, [operations], None, Settings(**SETTINGS), "test")
        pd.testing.assert_frame_equal(scores[expected.columns].reset_index(drop=True), expected)
        names = " ".join(f"{layer + 1}-{head + 1}" for layer, head in np.argwhere(removed[draw]))
        assert set(scores["removed"]) == {names}
    sets, costs = costs_of(found, 3, 5)
    assert (sets == removed[1:].reshape(4, -1)).all()
    by_draw = found.pivot_table("f1", "draw", "id", sort=False).to_numpy()
    np.testing.assert_allclose(costs["f1"], by_draw[0] - by_draw[1:])
    more = evaluate_subsets(*asked, subsets=5, share=0.3, questions=4, seed=7, **SETTINGS)
    same = more[more["draw"] < 5].merge(found, on=["draw", "id"], suffixes=("", "_of_all"))
    assert (same["f1"] == same["f1_of_all"]).all()
    assert len(same) == 5 * more["id"].nunique() == 5 * 4


def test_too_few_questions_for_two_halves_are_refused(asked):
    with pytest.raises(InputError, match="at least 4"):
        evaluate_subsets(*asked, subsets=2, share=0.3, questions=3, seed=7, **SETTINGS)


def test_what_a_loss_costs_is_its_rise_per_token():
    scores = pd.DataFrame({"draw": [0, 0, 1, 1], "removed": ["", "", "1-2", "1-2"], "id": ["a", "b"] * 2})
    scores["loss"], scores["tokens"] = [10.0, 60.0, 14.0, 66.0], [10, 30] * 2
    removed, costs = costs_of(scores, 1, 3)
    assert removed.tolist() == [[False, True, False]]
    np.testing.assert_allclose(costs["loss"].mean(1), [10 / 40])
    np.testing.assert_allclose(costs["loss"][0, 1] / costs["loss"][0, 0], 6 / 4)


class Planted:
    """In place of a model: heads cost what they are said to, another sum for each half of the questions."""

    def __init__(self, effects: np.ndarray, noise: np.ndarray):
        self.effects, self.noise, self.calls = effects, noise, []

    def scores(self, removed: np.ndarray) -> pd.DataFrame:
        """Scores of the questions without some heads."""
        lost = self.effects @ removed + self.noise * removed.any()
        ids = [f"q{index}" for index in range(len(self.effects))]
        return pd.DataFrame({"id": ids, "article": "a", "f1": 50 - lost})

    def evaluate_all(self, rows, windows, record, wanted, *rest):
        self.calls.append(wanted)
        return [({}, self.scores((operations == "zero").ravel())) for operations in wanted]


def test_the_cheapest_heads_of_each_half_are_measured_on_the_other(monkeypatch):
    rng = np.random.default_rng(1)
    of_head = np.arange(20.0)
    # Heads 0 to 3 are the cheapest; a question may lose more or less.
    planted = Planted(of_head * rng.uniform(0.5, 1.5, (30, 1)), rng.normal(size=30))
    monkeypatch.setattr(draws, "evaluate_all", planted.evaluate_all)
    removed = np.vstack([np.zeros(20, bool), draw_sets(80, 20, 0.1, seed=2)])
    named = [" ".join(f"{1 + head // 5}-{1 + head % 5}" for head in np.flatnonzero(of)) for of in removed]
    scores = pd.concat(
        [planted.scores(of).assign(draw=draw, removed=named[draw]) for draw, of in enumerate(removed)],
        ignore_index=True,
    )
    record = ModelRecord(**{**vars(described("m", 9)), "layers": 4, "heads": 5})

    class Windows:
        def of_questions(self, chosen):
            assert chosen.tolist() == list(range(30))
            return self

    rows = [type("Row", (), {"id": f"q{index}"}) for index in range(30)]
    found = evaluate_cheapest(rows, Windows(), record, scores, seed=3, **SETTINGS)
    assert found["heads"].tolist() == [1, 2, 4]
    assert set(found["metric"]) == {"f1"}
    for _, row in found.iterrows():
        size, first, second = row["heads"], row["first"].split(), row["second"].split()
        assert len(first) == len(second) == size
        assert set(first) | set(second) <= {"1-1", "1-2", "1-3", "1-4", "1-5"}
        half = np.random.default_rng(3).permutation(30) % 2
        # What the first half has chosen is measured on the second.
        by_half = [
            np.array([f"{1 + head // 5}-{1 + head % 5}" in own for head in range(20)]) for own in (first, second)
        ]
        lost = np.array([50 - planted.scores(by_half[1 - half[index]])["f1"][index] for index in range(30)])
        lost -= 50 - planted.scores(np.zeros(20, bool))["f1"]
        assert row["cost"] == pytest.approx(lost.mean())
        low, high = mean_intervals(lost, seed=3)
        assert (row["cost_low"], row["cost_high"]) == (pytest.approx(low), pytest.approx(high))
        assert row["random_low"] <= row["random"] <= row["random_high"]
        assert row["saved"] == pytest.approx(row["random"] - row["cost"])
        assert row["saved_low"] > 0
        assert row["predicted"] == pytest.approx(row["cost"], abs=4)


def test_what_is_shown_of_the_tables(tmp_path):
    rng = np.random.default_rng(5)
    effect = np.concatenate([[9.0], np.zeros(11)])
    scores = scores_of(rng, 90, effect)
    tables = measure_effects(scores, {"weights": groups_of(rng, 12)}, (3, 4), share=0.2, seed=1)
    cheapest = {"metric": "f1", "heads": [1, 2], "cost": [0.5, 1], "cost_low": 0.1, "cost_high": 2.0, "predicted": 0.2}
    files = {
        **tables._asdict(),
        "cheapest": pd.DataFrame({**cheapest, "random": 3.0, "random_low": 1, "random_high": 5}),
    }
    for name, table in files.items():
        write_csv(tmp_path / f"{name}.csv", table)
    (column,) = per_head("qa", tmp_path / "heads.csv")
    assert (column.label, column.unit) == ("drop of F1 on qa", "points")
    np.testing.assert_allclose(column.values, tables.heads["effect"])
    np.testing.assert_allclose(column.low, tables.heads["low"])
    mean, *_ = per_set("qa", tmp_path / "heads.csv", {}, seed=0)
    np.testing.assert_allclose(mean.of(np.eye(12, dtype=bool)), tables.heads["effect"])
    read = {name: read_effects(tmp_path / f"{name}.csv", name) for name in ("heads", "draws", "fit", "cheapest")}
    figure = effects_figure(**read)
    left, right = figure.axes
    told, others = (next(it for it in left.lines if it.get_gid() == f"{name}-f1") for name in ("told", "others"))
    assert told.get_xdata().tolist() == [0]
    assert len(others.get_xdata()) == 11
    assert [text.get_text() for text in left.texts] == ["1-1"]
    drawn = next(it for it in right.lines if it.get_gid() == "draws-f1")
    np.testing.assert_allclose(drawn.get_ydata(), tables.draws["cost"])
    assert (
        right.get_title(loc="left")
        == f"R² {tables.fit['r2'][0]:.2f} ({tables.fit['r2_low'][0]:.2f} to {tables.fit['r2_high'][0]:.2f})"
    )
