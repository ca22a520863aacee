"""The figure of what heads write: its lettering can be read, and its legend names what is drawn."""

import numpy as np
import pandas as pd
import pytest

from headtypes.analyses.outputs.tables import outputs_figure
from tests.support.drawing import check_lettering

LAYERS, HEADS = 6, 12


def drawn(first, relative, off):
    layer, head = np.indices((LAYERS, HEADS)).reshape(2, -1)
    heads = pd.DataFrame({"layer": layer, "head": head, "written": 0.1, "first": first, "relative": relative})
    layers = pd.DataFrame({"layer": np.arange(LAYERS), "largest": 10.0, "median": 0.3})
    return outputs_figure(heads.assign(off=off), layers)


@pytest.mark.parametrize(
    "least", [[0.47, 0.52, 0.58, 0.61, 0.68, 0.81], [0.01] * 6, [0.95, 0.97, 0.97, 0.98, 0.99, 1.0]]
)
def test_names_of_heads_that_stand_close_together_are_apart(least):
    """The less they write, the more they look at the first token, as in models of which heads are off there."""
    first, relative = np.random.default_rng(0).uniform([[0], [0.7]], [[0.5], [1.8]], (2, LAYERS * HEADS))
    first[:6], relative[:6] = least, [0.65, 0.64, 0.60, 0.57, 0.56, 0.47]
    figure = drawn(first, relative, off=0)
    figure.draw_without_rendering()
    check_lettering(figure)


@pytest.mark.parametrize(("off", "named"), [(0, False), (90, True)])
def test_the_legend_names_heads_that_are_off_where_some_are(off, named):
    figure = drawn(0.5, np.linspace(0.3, 1, LAYERS * HEADS), off)
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert ("off on most samples" in labels) is named
    assert "limit" in labels
