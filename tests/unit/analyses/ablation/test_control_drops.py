"""What random heads cost, beside what the condition costs, on exactly the questions that the controls were asked."""

import numpy as np
import pandas as pd
import pytest

from headtypes.analyses.ablation.control_drops import control_drops

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
