"""Files of figures."""

from fontTools.ttLib import TTFont
from matplotlib.figure import Figure
from matplotlib.font_manager import findfont, fontManager
from matplotlib.layout_engine import ConstrainedLayoutEngine

from headtypes.core.style import save_figure, style


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


def test_letters_that_our_font_lacks_are_drawn_in_another_of_the_machine_or_said_once(tmp_path, monkeypatch, capsys):
    """In the planted font, the shape of an O stands for a letter that the others lack."""
    lacking = "\u3400"
    font = TTFont(findfont("DejaVu Sans"))
    for table in font["cmap"].tables:
        table.cmap = {ord(lacking): "O"} if table.isUnicode() else {}
    for name in font["name"].names:
        name.string = "Planted"
    font.save(tmp_path / "planted.ttf")
    ours = [other for other in fontManager.ttflist if other.name.startswith(("DejaVu", "Last Resort"))]
    monkeypatch.setattr(fontManager, "ttflist", ours)

    def saved():
        with style():
            axes = Figure().subplots()
            axes.set_xticks([0, 1], [f"a {lacking}", "b"])
        save_figure(axes.figure, tmp_path / "x.pdf", tmp_path / "x.png", {})
        return [label.get_fontfamily() for label in axes.get_xticklabels()], capsys.readouterr().err

    families, said = saved()
    assert families == [["DejaVu Sans"]] * 2
    assert said.startswith(f"{tmp_path / 'x.png'}: no font of this machine has {lacking}, which are boxes there; inst")
    assert len(said.splitlines()) == 1
    fontManager.addfont(tmp_path / "planted.ttf")
    assert saved() == ([["DejaVu Sans", "Planted"], ["DejaVu Sans"]], "")
    assert b"Planted" in (tmp_path / "x.pdf").read_bytes()
