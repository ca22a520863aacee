"""What random heads cost, beside what the condition costs, on exactly the questions that the controls were asked."""

import numpy as np
import pandas as pd
import pytest

from headtypes.analyses.ablation.controls import DropsOfDraws, control_drops, controls_figure, drops_of_draws
from headtypes.data.tasks import EXACT_MATCH
from tests.support.planted import typed

ASKED = ["q7", "q2", "q9"]
METRICS = ("exact_match", "f1")


def scores(exact_match: list[float], ids: list[str], **more) -> pd.DataFrame:
    return pd.DataFrame({"id": ids, "article": "a", "exact_match": exact_match, "f1": np.add(exact_match, 1.0), **more})


def everywhere(of_asked: list[float], elsewhere: float) -> pd.DataFrame:
    """Scores of ten questions, of which the controls were asked three."""
    figures = {f"q{number}": elsewhere for number in range(10)} | dict(zip(ASKED, of_asked, strict=True))
    return scores(list(figures.values()), list(figures))


def test_drops_are_those_on_the_questions_that_were_asked():
    draws = (([90, 90, 60], 0.5), ([60, 0, 0], 0.25), ([90, 90, 90], 0.0))
    controls = pd.concat(
        [scores(exact_match, ASKED, overlap=share, draw=draw) for draw, (exact_match, share) in enumerate(draws)]
    )
    # Elsewhere the condition gains 100 points, which does not concern the controls.
    found = control_drops(
        controls.sample(frac=1, random_state=0), everywhere([30, 60, 0], 100.0), everywhere([90, 90, 90], 0.0)
    )
    of_metric = {
        "control_drop_{}": pytest.approx((10 + 70 + 0) / 3),
        "control_drop_{}_low": pytest.approx(0),
        "control_drop_{}_high": pytest.approx(70),
        "own_drop_{}": pytest.approx(60),
    }
    assert found == {
        "control_draws": 3,
        "control_questions": 3,
        "control_overlap": 0.25,
        **{name.format(metric): value for metric in METRICS for name, value in of_metric.items()},
    }


def test_a_loss_drops_where_it_rises_and_is_that_of_a_token():
    baseline = pd.DataFrame({"id": ["a", "b", "c"], "loss": [10.0, 30.0, 9.0], "tokens": [10, 20, 3]})
    own = baseline.assign(loss=[20.0, 50.0, 9.0])
    losses = ([16.0, 30.0], [30.0, 70.0], [4.0, 33.0])
    controls = pd.concat(
        [baseline.iloc[:2].assign(loss=loss, overlap=0.5, draw=draw) for draw, loss in enumerate(losses)]
    )
    found = control_drops(controls, own, baseline)
    assert found["own_drop_loss"] == pytest.approx(30 / 30)
    of_draws = found["control_drop_loss"], found["control_drop_loss_low"], found["control_drop_loss_high"]
    assert of_draws == pytest.approx((63 / 3 / 30, -3 / 30, 60 / 30))
    assert found["control_questions"] == 2


OPERATIONS = {
    "zero-dense": {"dense": "zero"},
    "uniform-vertical": {"vertical": "uniform"},
    "zero-dense+vertical": {"dense": "zero", "vertical": "zero"},
    "one-head": {"1-2": "zero"},
}
DROPS = {
    name: DropsOfDraws(EXACT_MATCH, own, own - 3, own + 4, np.array(draws), own / 100)
    for (name, own, draws) in zip(
        OPERATIONS, (20.0, 5, 9, 7), ([1, 2, 3], [6, 5, 4], [10, 11, 12], [6, 8, 2]), strict=True
    )
}


def test_every_condition_stands_beside_its_draws_with_what_both_have_in_common():
    (axes,) = controls_figure(DROPS, OPERATIONS, typed([["dense", "vertical"] * 3] * 2)).axes
    drawn = {line.get_gid(): line for line in axes.lines}
    for row, (name, drops) in enumerate(DROPS.items()):
        assert drawn[f"draws-{name}"].get_xdata().tolist() == [drops.draws.min(), drops.draws.max()]
        assert drawn[f"mean-{name}"].get_xdata().tolist() == [drops.draws.mean()]
        assert drawn[f"interval-{name}"].get_xdata().tolist() == [drops.low, drops.high]
        assert drawn[f"own-{name}"].get_xdata().tolist() == [drops.own]
        for line in ("draws", "mean", "own"):
            assert set(drawn[f"{line}-{name}"].get_ydata()) == {row}
    assert [label.get_text() for label in axes.get_yticklabels()] == list(OPERATIONS)
    assert [text.get_text() for text in axes.texts] == ["20 %", "5 %", "9 %", "7 %", "in common"]


def test_a_drop_has_its_interval_and_the_drop_of_every_draw():
    rng = np.random.default_rng(0)
    before, after = rng.integers(0, 2, (2, 30)) * 100.0
    ids = [f"q{number}" for number in range(30)]
    draws = [scores(100.0 * rng.integers(0, 2, 20), ids[:20], draw=draw, overlap=0.5) for draw in range(5)]
    found = drops_of_draws(pd.concat(draws), scores(after, ids), scores(before, ids))
    assert list(found) == [*METRICS]
    for metric, it in found.items():
        assert it.own == pytest.approx((before - after)[:20].mean())
        assert it.low < it.own < it.high
        of_draws = [(before + (metric == "f1"))[:20].mean() - draw[metric].mean() for draw in draws]
        np.testing.assert_allclose(it.draws, of_draws)
        assert it.overlap == 0.5
