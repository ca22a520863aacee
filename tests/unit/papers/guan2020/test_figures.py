"""Figures show the data that they were given: read back from what was drawn."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch, Rectangle

from headtypes.analyses.maps import AttentionMaps
from headtypes.analyses.types.clustering import embed_heads
from headtypes.analyses.types.partitions import Partition
from headtypes.analyses.types.style import type_styles
from headtypes.core.style import save_figure
from headtypes.papers.guan2020.figures import (
    atlas_figure,
    heads_figure,
    layers_figure,
    models_figure,
    projection_figure,
)
from tests.support.drawing import HEADS, LAYERS, colour, lettering, planted, texts
from tests.support.places import ROOT, SCRIPTS
from tests.support.planted import TYPES, typed

WORDS = ["[CLS]", "who", "$", "$x$", ",", "it", "[SEP]"]


def planted_maps() -> AttentionMaps:
    attention = np.random.default_rng(1).dirichlet(np.ones(len(WORDS)), (LAYERS, HEADS, len(WORDS))).astype(np.float32)
    return AttentionMaps(attention, WORDS, "0", False)


def legend_texts(figure: Figure) -> list[str]:
    legends = figure.legends or [figure.axes[0].get_legend()]
    return [text.get_text() for text in legends[0].get_texts()]


def family() -> tuple[dict[str, Partition], dict[str, str | None]]:
    partitions = {name: planted(seed)[1] for seed, name in enumerate(("bert", "bert_squad", "bert_mrpc", "other"))}
    partitions["bert_mrpc"] = planted(2, doubtful=())[1]
    return partitions, {"bert": None, "bert_squad": "bert", "bert_mrpc": "bert", "other": "elsewhere"}


def test_figure_1_shows_of_each_type_the_two_heads_of_largest_silhouette():
    features, partition = planted()
    maps = planted_maps()
    figure = heads_figure(maps, features, partition)
    images = [axes for axes in figure.axes if axes.images and axes.get_title()]
    assert len(images) == 8
    for place, name in enumerate(TYPES):
        mine = [(row_.silhouette, row_.layer, row_.head) for row_ in partition.table.itertuples() if row_.type == name]
        best = sorted(mine, key=lambda each: -each[0])[:2]
        for row, (axes, (_, layer, head)) in enumerate(zip(images[2 * place : 2 * place + 2], best, strict=True)):
            assert axes.get_title() == f"head {layer + 1}-{head + 1}"
            np.testing.assert_array_equal(axes.images[0].get_array(), maps.attention[layer, head])
            # Queries downwards: the first row is at the top.
            assert axes.get_ylim()[0] > axes.get_ylim()[1]
            # The tokens stand below the last map of a type, and beside the first of a row.
            assert [label.get_text() for label in axes.get_xticklabels()] == (WORDS if row else [])
            assert [label.get_text() for label in axes.get_yticklabels()] == ([] if place else WORDS)


def test_figure_1_boxes_are_those_of_the_types_features():
    features, partition = planted()
    figure = heads_figure(planted_maps(), features, partition)
    plots = [axes for axes in figure.axes if axes.get_title().endswith(" of 24 heads")]
    types = partition.type_of.reshape(-1)
    for axes, name in zip(plots, TYPES, strict=True):
        mine = features[types == name]
        boxes = [patch for patch in axes.patches if isinstance(patch, PathPatch)]
        assert {to_hex(box.get_facecolor()) for box in boxes} == {colour(name)}
        heights = [box.get_path().vertices[:, 1] for box in boxes]
        ends = [[height.min(), height.max()] for height in heights]
        np.testing.assert_allclose(ends, np.percentile(mine, [25, 75], axis=0).T, atol=1e-12)
        assert f"{len(mine)} of 24 heads" == axes.get_title()
        labels = [label.get_text() for label in axes.get_xticklabels()]
        assert labels == [*map(str, range(16)), "self", "[CLS]", "[SEP]", "comma", "period"]
    assert len({axes.get_ylim() for axes in plots}) == 1
    assert "vertical (doubtful)" in texts(figure)


def in_two_dimensions(layers: int, heads: int) -> pd.DataFrame:
    layer, head = np.indices((layers, heads)).reshape(2, -1)
    x, y = np.random.default_rng(0).normal(size=(2, layers * heads))
    return pd.DataFrame({"layer": layer, "head": head, "x": x, "y": y})


def test_figure_2_draws_every_head_where_it_is_in_its_types_colour():
    _, partition = planted()
    places = in_two_dimensions(LAYERS, HEADS)
    figure = projection_figure(places, partition)
    types = partition.type_of.reshape(-1)
    groups = figure.axes[0].collections
    assert sum(len(group.get_offsets()) for group in groups) == len(places)
    for group, name in zip(groups, TYPES, strict=True):
        np.testing.assert_array_equal(group.get_offsets(), places.loc[types == name, ["x", "y"]])
        assert to_hex(group.get_facecolor()[0]) == colour(name)
    assert legend_texts(figure) == ["dense: 9", "diagonal: 6", "dense_vertical: 5", "vertical (doubtful): 4"]


def test_figure_3_counts_heads_by_layer_from_1():
    _, partition = planted()
    figure = layers_figure(partition)
    bars = figure.axes[0].containers
    assert [container.get_label() for container in bars] == list(TYPES)
    for container in bars:
        name = container.get_label()
        for number, bar in enumerate(container, start=1):
            assert bar.get_x() + bar.get_width() / 2 == pytest.approx(number)
            assert bar.get_height() == sum(partition.type_of[number - 1] == name)
            assert to_hex(bar.get_facecolor()) == colour(name)
    tops = [bar.get_y() + bar.get_height() for bar in bars[-1]]
    assert tops == [HEADS] * LAYERS
    assert legend_texts(figure) == ["dense", "diagonal", "dense_vertical", "vertical (doubtful)"]


def panels(figure: Figure) -> tuple[list[Axes], list[Axes]]:
    strips = [axes for axes in figure.axes if axes.containers[0].get_label() == "kept"]
    return [axes for axes in figure.axes if axes not in strips], strips


def by_row(axes: Axes) -> dict[float, list[str]]:
    rows = {}
    for text in sorted(axes.texts, key=lambda text: text.get_position()[0]):
        if text.get_transform() == axes.transData:
            rows.setdefault(text.get_position()[1], []).append(text.get_text())
    return rows


def test_figure_4_shows_which_heads_keep_their_cluster_whatever_its_name():
    partitions, parents = family()
    parent = partitions["bert"]
    exchanged = {"dense": "vertical", "vertical": "dense"}
    types = np.vectorize(lambda name: exchanged.get(name, name))(parent.type_of).astype(object)
    # Two heads of the second layer move.
    types[1, :2] = [next(name for name in TYPES if name != moved) for moved in types[1, :2]]
    partitions["bert_squad"] = Partition(parent.table.assign(type=types.reshape(-1), doubtful=False))
    layers, strips = panels(models_figure(partitions, parents))
    assert len(strips) == 2
    assert [bar.get_width() for bar in strips[0].containers[0]] == [100, 75, 100]
    assert list(by_row(strips[0]).values())[:3] == [["100"], ["75"], ["100"]]
    *_, title, note = layers[1].texts
    assert [title.get_text(), note.get_text()] == ["bert_squad", "names exchanged: dense, vertical"]
    assert (note.get_weight(), note.get_color()) == ("bold", "black")


@pytest.mark.parametrize("models", [1, 4, 6, 7])
def test_figure_4_of_any_number_of_models_numbers_every_head_of_bert_large(models):
    rng = np.random.default_rng(0)
    types = rng.choice(TYPES, 384).astype(object)
    children = [np.where(rng.random(384) < 0.1, rng.choice(TYPES, 384), types) for _ in range(models)]
    partitions = {f"m{number}": typed(child.reshape(24, 16), ["dense"]) for number, child in enumerate(children)}
    figure = models_figure(partitions, dict.fromkeys(partitions, "m0") | {"m0": None})
    lettering(figure)
    layers, strips = panels(figure)
    assert (len(layers), len(strips)) == (models, models - 1)
    for axes, partition in zip(layers, partitions.values(), strict=True):
        rows, bars = by_row(axes), {container.get_label(): container for container in axes.containers}
        for layer, of_layer in enumerate(partition.type_of):
            heads = {name: int((of_layer == name).sum()) for name in partition.types}
            assert {name: bars[name][layer].get_width() for name in heads} == heads
            assert rows[layer + 1] == [str(number) for number in heads.values() if number]
        # A number is as wide as its part of the bar at most.
        one = axes.get_window_extent().width / 16
        for text in (text for text in axes.texts if text.get_text().isdigit()):
            assert text.get_window_extent().width <= one * int(text.get_text()) + 0.5
    # The paper's four models, and its pre-trained model on three tasks beside the others, are on one page.
    assert models > 6 or figure.get_figheight() <= 9.21


def test_every_head_is_once_in_the_atlas_in_its_place_and_its_types_colour():
    _, partition = planted()
    maps = planted_maps()
    figure = atlas_figure(maps, partition)
    axes = figure.axes[0]
    images = {image.get_gid(): image for image in axes.images}
    frames = {patch.get_gid(): patch for patch in axes.patches if isinstance(patch, Rectangle)}
    assert len(images) == len(axes.images) == len(frames) == len(axes.patches) == LAYERS * HEADS
    for layer, head in np.ndindex(LAYERS, HEADS):
        image, frame = images[f"map-{layer + 1}-{head + 1}"], frames[f"frame-{layer + 1}-{head + 1}"]
        np.testing.assert_array_equal(image.get_array(), maps.attention[layer, head])
        left, right, bottom, top = image.get_extent()
        assert ((left + right) / 2, (bottom + top) / 2) == pytest.approx((head, layer))
        assert bottom > top  # Downwards: the first query is at the top.
        assert frame.get_center() == pytest.approx((head, layer))
        # The frame hides no token.
        line = frame.get_linewidth() / 72 / (figure.get_figwidth() * axes.get_position().width / HEADS)
        assert frame.get_width() - line >= right - left - 1e-9
        assert to_hex(frame.get_edgecolor()) == colour(partition.type_of[layer, head])
        assert frame.get_linestyle() == type_styles(TYPES)[partition.type_of[layer, head]].dashes
    assert [label.get_text() for label in axes.get_xticklabels()] == [str(head) for head in range(1, HEADS + 1)]
    assert [label.get_text() for label in axes.get_yticklabels()] == [str(layer) for layer in range(1, LAYERS + 1)]
    assert axes.get_ylim()[0] > axes.get_ylim()[1]


def save_two(folder: Path) -> dict[str, str]:
    features, partition = planted()
    save_figure(
        projection_figure(embed_heads(features, partition.shape, 0), partition), folder / "2.pdf", folder / "2.png", {}
    )
    save_figure(layers_figure(partition), folder / "3.svg", folder / "3.png", {})
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def test_equal_inputs_give_equal_bytes_in_another_process_at_another_time_under_other_settings(tmp_path):
    here = save_two(tmp_path / "here")
    (tmp_path / "matplotlibrc").write_text("font.size: 30\naxes.facecolor: red\nsavefig.dpi: 50\n")
    program = (
        "import json, pathlib, sys\nfrom tests.unit.papers.guan2020.test_figures import save_two\n"
        "print(json.dumps(save_two(pathlib.Path(sys.argv[1]))))"
    )
    environment = {"PYTHONPATH": f"{SCRIPTS}:{ROOT}", "PYTHONHASHSEED": "7"}
    environment["MATPLOTLIBRC"] = str(tmp_path / "matplotlibrc")
    command = [sys.executable, "-c", program, str(tmp_path / "there")]
    # Dates in files count in seconds, of which the start of another process takes more than one.
    done = subprocess.run(command, env=os.environ | environment, check=True, capture_output=True, text=True)
    assert json.loads(done.stdout) == here
