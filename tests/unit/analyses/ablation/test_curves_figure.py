"""The figure of curves shows its table: read back from what was drawn."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headtypes.analyses.ablation.curves_figure import curves_figure
from tests.support.planted import typed

FOUR = {"dense": 28, "diagonal": 6, "dense_vertical": 19, "vertical": 19}
EIGHT = {f"type-{1 + place}": count for place, count in enumerate((100, 60, 1, 90, 51, 12, 40, 30))}
SHAPES = {72: (6, 12), 384: (24, 16), 3: (1, 3)}


def planted(counts: dict[str, int], doubtful: tuple[str, ...] = (), draws: int = 4, metrics=("exact_match", "f1")):
    """Falling scores of each type and of all heads, in no order, and the partition."""
    rng = np.random.default_rng(2)
    names = np.repeat(np.array(list(counts), dtype=object), list(counts.values()))
    partition = typed(names.reshape(SHAPES[len(names)]), doubtful)
    rows = []
    for name, count in {**counts, "all": len(names)}.items():
        for order, draw in [("importance", 0), *(("random", draw) for draw in range(draws))]:
            for heads in np.unique(np.linspace(0, count, 6).round().astype(int)):
                scores = 80 * (1 - heads / count) ** 0.5 + 15 * rng.random(len(metrics))
                rows.append((name, order, draw, heads, *scores))
    curves = pd.DataFrame(rows, columns=["type", "order", "draw", "heads", *metrics])
    return curves.sample(frac=1, random_state=3), partition


def panels(figure: Figure) -> tuple[dict[str, Axes], Axes]:
    """Those of the types, by title, and that of all heads."""
    by_title = {axes.get_title().replace("\n", " "): axes for axes in figure.axes}
    (together,) = [title for title in by_title if title.startswith("heads of any type")]
    return by_title, by_title.pop(together)


def lines(axes: Axes) -> dict:
    return {line.get_gid(): line for line in axes.lines}


def assert_drawn(axes: Axes, curves: pd.DataFrame, metric: str, name: str) -> None:
    """That a panel has both lines and the band of a type, or of `all`."""
    scores = curves[curves["type"] == name].groupby(["order", "heads"])[metric].agg(["mean", "min", "max"])
    for order in ("importance", "random"):
        line = lines(axes)[f"{order}-{name}"]
        np.testing.assert_array_equal(line.get_xdata(), scores.loc[order].index)
        np.testing.assert_allclose(line.get_ydata(), scores.loc[order, "mean"], rtol=1e-12)
    (band,) = [each for each in axes.collections if each.get_gid() == f"range-{name}"]
    edges = pd.DataFrame(band.get_paths()[0].vertices).groupby(0)[1].agg(["min", "max"])
    np.testing.assert_array_equal(edges.index, scores.loc["random"].index)
    np.testing.assert_allclose(edges, scores.loc["random", ["min", "max"]], atol=1e-12)


PAIRS = {"metrics": ("accuracy", "f1")}


@pytest.mark.parametrize(
    ("counts", "given", "metric", "label"),
    [(EIGHT, {}, "exact_match", "exact match, %"), (FOUR, PAIRS, "accuracy", "accuracy, %")],
    ids=["questions", "pairs"],
)
def test_each_type_has_a_panel_of_its_curves_and_those_of_any_type_in_the_tasks_first_metric(
    counts, given, metric, label
):
    curves, partition = planted(counts, **given)
    by_type, together = panels(curves_figure(curves, partition))
    assert list(by_type) == list(counts)
    for name, axes in by_type.items():
        assert_drawn(axes, curves, metric, name)
        assert_drawn(axes, curves, metric, "all")
        assert len(axes.lines) == 4
        assert lines(axes)[f"random-{name}"].get_marker() == "None"
        assert [text.get_text() for text in axes.texts] == [f"{counts[name]} head{'' if counts[name] == 1 else 's'}"]
    assert_drawn(together, curves, metric, "all")
    by_importance = {f"importance-{name}" for name in counts}
    assert lines(together).keys() == by_importance | {"importance-all", "random-all"}
    for name, axes in by_type.items():
        one, other = (lines(panel)[f"importance-{name}"].get_xydata() for panel in (together, axes))
        np.testing.assert_array_equal(one, other)
    assert {by_type[next(iter(counts))].get_ylabel(), together.get_ylabel()} == {label}
