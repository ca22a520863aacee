"""Files of figures."""

from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from headtypes.core.style import save_figure


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
