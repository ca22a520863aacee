"""The figure of confidence shows every head, paler and with a number where clusterings disagree."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb

from headtypes.analyses.types.confidence_figure import confidence_figure
from headtypes.analyses.types.partitions import Partition
from headtypes.analyses.types.style import type_styles
from headtypes.core.style import PAGE, PAGE_HEIGHT
from tests.support.drawing import check_lettering
from tests.support.planted import typed


def planted(layers: int = 2, heads: int = 3, percent=100.0) -> tuple[pd.DataFrame, Partition]:
    partition = typed([["dense" if head % 2 else "vertical" for head in range(heads)]] * layers)
    kept = {"keeps_type_samples": np.full(layers * heads, percent), "keeps_type_seeds": 100.0}
    return pd.DataFrame(kept), partition


def test_a_head_is_the_paler_the_fewer_clusterings_give_it_its_type():
    confidence, partition = planted()
    confidence.loc[4, "keeps_type_samples"] = 25
    confidence.loc[5, "keeps_type_seeds"] = 99.7
    samples, seeds = confidence_figure(confidence, partition).axes
    for axes in (samples, seeds):
        shades = np.asarray(axes.images[0].get_array())
        for place, name in enumerate(partition.type_of.reshape(-1)):
            if not (axes is samples and place == 4):
                assert shades.reshape(-1, 3)[place] == pytest.approx(to_rgb(type_styles([name])[name].colour), abs=0.01)
    pale = np.asarray(samples.images[0].get_array())[1, 1]
    assert (pale > np.asarray(samples.images[0].get_array())[0, 1]).all()
    # Heads and layers from 1, and no full certainty where there is none.
    assert [(text.get_position(), text.get_text()) for text in samples.texts] == [((2, 2), "25")]
    assert [(text.get_position(), text.get_text()) for text in seeds.texts] == [((3, 2), "99")]


def test_what_was_not_measured_has_no_panel():
    confidence, partition = planted()
    (seeds,) = confidence_figure(confidence.assign(keeps_type_samples=np.nan), partition).axes
    assert "random starts" in seeds.get_title()


@pytest.mark.parametrize(("layers", "heads"), [(1, 2), (6, 12), (24, 16), (48, 25)])
def test_lettering_lies_apart_and_inside(layers, heads):
    figure = confidence_figure(*planted(layers, heads, 50))
    assert figure.get_figwidth() == PAGE
    assert figure.get_figheight() <= PAGE_HEIGHT
    check_lettering(figure)
