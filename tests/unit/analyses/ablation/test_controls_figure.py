"""The figure of random heads shows the drops: read back from what was drawn."""

import numpy as np
import pandas as pd
import pytest

from headtypes.analyses.ablation.control_drops import DropsOfDraws, control_drops, read_drops_of_draws
from headtypes.analyses.ablation.controls_figure import controls_figure
from tests.support.planted import typed

OPERATIONS = {
    "zero-dense": {"dense": "zero"},
    "uniform-vertical": {"vertical": "uniform"},
    "zero-dense+vertical": {"dense": "zero", "vertical": "zero"},
    "one-head": {"1-2": "zero"},
}
DROPS = {
    name: DropsOfDraws("exact_match", own, own - 3, own + 4, np.array(draws), own / 100)
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


def test_the_numbers_are_those_of_table_2_by_the_score_that_tells_worse_answers_apart(tmp_path):
    rng = np.random.default_rng(0)
    questions = pd.DataFrame({"id": [f"q{number}" for number in range(30)], "article": "a"})
    tables = {
        name: questions.assign(exact_match=rng.integers(0, 2, 30), f1=rng.random(30)) for name in ("own", "baseline")
    }
    draws = [
        questions.head(20).assign(draw=draw, overlap=0.5, exact_match=rng.integers(0, 2, 20), f1=rng.random(20))
        for draw in range(5)
    ]
    tables["controls"] = pd.concat(draws)
    for name, table in tables.items():
        table.to_parquet(tmp_path / name)
    found = read_drops_of_draws(tmp_path / "controls", tmp_path / "own", tmp_path / "baseline")
    expected = control_drops(tables["controls"], tables["own"], tables["baseline"])
    assert found.metric == "f1"
    assert found.own == pytest.approx(expected["own_drop_f1"])
    assert found.low < found.own < found.high
    assert [found.draws.mean(), found.draws.min(), found.draws.max()] == pytest.approx(
        [expected[f"control_drop_f1{end}"] for end in ("", "_low", "_high")]
    )
    assert found.overlap == expected["control_overlap"] == 0.5
