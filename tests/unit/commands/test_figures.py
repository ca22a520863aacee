"""Figures for a paper: in one folder, each with a caption that names its model."""

from pathlib import Path

import pytest

from commands.figures import figures
from headtypes.core.errors import InputError
from headtypes.core.files import write_text


def test_each_figure_is_copied_with_its_caption(plan):
    write_text("results/guan2020/tuned/qa-kmeans-k4/figure2.pdf", "of another model")
    write_text("results/guan2020/bert/qa-kmeans-k4/figure2.pdf", "in two dimensions")
    write_text("results/guan2020/kmeans-k4/figure4.pdf", "of all models")
    assert figures(plan, Path("paper")) == 2
    copied = {path.name: path.read_text() for path in Path("paper").glob("*.pdf")}
    assert copied == {
        "guan2020-bert-qa-kmeans-k4-figure2.pdf": "in two dimensions",
        "guan2020-kmeans-k4-figure4.pdf": "of all models",
    }
    captions = Path("paper/captions.md").read_text().split("## ")[1:]
    assert [caption.partition("\n")[0] for caption in captions] == sorted(copied)
    assert "Heads in two dimensions. The heads of bert in two dimensions, by t-SNE" in captions[0]
    assert not any("{{" in caption for caption in captions)


def test_a_run_without_figures_is_told_so(plan):
    with pytest.raises(InputError, match="no figure yet; run snakemake first"):
        figures(plan, Path("paper"))
