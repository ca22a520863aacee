"""Files of figures."""

import os

import pytest
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from headtypes.core.style import save_figure
from headtypes.papers.guan2020.figures.figures_by_type import layers_figure
from tests.support.drawing import planted


def test_the_last_bits_of_a_layout_decide_nothing(tmp_path, monkeypatch):
    def saved(name):
        figure = Figure(layout="constrained")
        for part in figure.subfigures(2, 1):
            part.subplots(1, 2)
        save_figure(figure, tmp_path / f"{name}.pdf", tmp_path / f"{name}.png", {})
        return [(tmp_path / f"{name}.{kind}").read_bytes() for kind in ("pdf", "png")]

    def shifted(engine, figure, solved=ConstrainedLayoutEngine.execute):
        solved(engine, figure)
        for axes in figure.axes:
            axes._set_position(axes.get_position(original=True).translated(3e-13, -3e-13), which="original")

    before = saved("a")
    monkeypatch.setattr(ConstrainedLayoutEngine, "execute", shifted)
    assert saved("b") == before


def test_a_figure_is_written_whole_or_not_at_all(tmp_path):
    (tmp_path / "a.pdf").write_text("before")
    figure = layers_figure(planted()[1])
    figure.savefig = lambda *args, **kwargs: 1 / 0
    with pytest.raises(ZeroDivisionError):
        save_figure(figure, tmp_path / "a.pdf", tmp_path / "a.png", {})
    assert (tmp_path / "a.pdf").read_text() == "before"
    assert os.listdir(tmp_path) == ["a.pdf"]
    with pytest.raises(ValueError, match="pdf, svg or png"):
        save_figure(layers_figure(planted()[1]), tmp_path / "a.txt", tmp_path / "a.png", {})
