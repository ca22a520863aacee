"""Files of figures."""

import os

import pytest

from headtypes.core.style import save_figure
from headtypes.papers.guan2020.figure3 import layers_figure
from tests.support.drawing import planted


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
