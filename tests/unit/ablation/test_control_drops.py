"""What random heads cost, beside what the condition costs, on exactly the questions that the controls were asked."""

import numpy as np
import pandas as pd
import pytest

from headtypes.ablation.control_drops import control_drops, read_control_drops

ASKED = ["q7", "q2", "q9"]


def scores(exact_match: list[float], ids: list[str], **more) -> pd.DataFrame:
    return pd.DataFrame({"id": ids, "article": "a", "exact_match": exact_match, "f1": np.add(exact_match, 1.0), **more})


def everywhere(of_asked: list[float], elsewhere: float) -> pd.DataFrame:
    """Scores of ten questions, of which the controls were asked three."""
    figures = {f"q{number}": elsewhere for number in range(10)} | dict(zip(ASKED, of_asked, strict=True))
    return scores(list(figures.values()), list(figures))


def drawn(*draws: tuple[list[float], float]) -> pd.DataFrame:
    """Exact match of the asked questions and overlap, of each draw."""
    return pd.concat(
        [scores(each, ASKED, overlap=overlap).assign(draw=draw) for draw, (each, overlap) in enumerate(draws)],
        ignore_index=True,
    )


def test_drops_are_those_on_the_questions_that_were_asked():
    controls = drawn(([90, 90, 60], 0.5), ([60, 0, 0], 0.25), ([90, 90, 90], 0.0))
    # Elsewhere the condition gains 100 points, which is no matter of the controls.
    found = control_drops(controls, everywhere([30, 60, 0], 100.0), everywhere([90, 90, 90], 0.0))
    assert found == {
        "control_draws": 3,
        "control_questions": 3,
        "control_overlap": 0.25,
        "control_drop_exact_match": pytest.approx((10 + 70 + 0) / 3),
        "control_drop_exact_match_low": pytest.approx(0),
        "control_drop_exact_match_high": pytest.approx(70),
        "own_drop_exact_match": pytest.approx(60),
        "control_drop_f1": pytest.approx((10 + 70 + 0) / 3),
        "control_drop_f1_low": pytest.approx(0),
        "control_drop_f1_high": pytest.approx(70),
        "own_drop_f1": pytest.approx(60),
    }


def test_pairs_have_accuracy_alone():
    baseline = pd.DataFrame({"id": ["a", "b", "c", "d"], "correct": [100.0, 100.0, 0.0, 0.0]})
    own = baseline.assign(correct=[0.0, 100.0, 100.0, 100.0])
    controls = pd.concat(
        [
            pd.DataFrame({"draw": draw, "id": ["b", "a"], "correct": correct, "overlap": 1.0})
            for draw, correct in enumerate([[100.0, 100.0], [0.0, 100.0]])
        ]
    )
    found = control_drops(controls, own, baseline)
    assert {name: found[name] for name in found if "drop" in name} == {
        "control_drop_accuracy": 25,
        "control_drop_accuracy_low": 0,
        "control_drop_accuracy_high": 50,
        "own_drop_accuracy": 50,
    }


def test_random_heads_that_gain_have_drops_below_zero():
    found = control_drops(drawn(([50, 50, 50], 0), ([80, 80, 80], 0)), everywhere([0] * 3, 0), everywhere([60] * 3, 0))
    names = ["control_drop_f1_low", "control_drop_f1", "control_drop_f1_high", "own_drop_f1"]
    assert [found[name] for name in names] == pytest.approx([-20, -5, 10, 60])


def test_all_questions_equal_a_naive_loop():
    rng = np.random.default_rng(0)
    ids = [f"q{number}" for number in range(50)]
    baseline, own = (scores(100 * rng.random(50), ids) for _ in range(2))
    draws = [100 * rng.random(50) for _ in range(4)]
    overlaps = rng.random(4)
    controls = pd.concat(
        [scores(draws[number], ids, overlap=overlaps[number]).assign(draw=number) for number in range(4)]
    )
    found = control_drops(controls, own, baseline.sample(frac=1, random_state=1))
    before = baseline["exact_match"].tolist()
    drops = [sum(before[place] - each[place] for place in range(50)) / 50 for each in draws]
    figures = [found[f"control_drop_exact_match{end}"] for end in ("", "_low", "_high")]
    assert figures == pytest.approx([sum(drops) / 4, min(drops), max(drops)])
    assert found["control_overlap"] == pytest.approx(overlaps.mean())
    assert found["own_drop_f1"] == pytest.approx((baseline["f1"] - own["f1"]).mean())


def test_files_give_what_the_tables_give(tmp_path):
    tables = drawn(([90, 90, 60], 0.5), ([60, 0, 0], 0.25)), everywhere([30, 60, 0], 50.0), everywhere([90] * 3, 0.0)
    paths = [tmp_path / name for name in ("controls", "own", "baseline")]
    for path, table in zip(paths, tables, strict=True):
        table.to_parquet(path)
    assert read_control_drops(*paths) == control_drops(*tables)
