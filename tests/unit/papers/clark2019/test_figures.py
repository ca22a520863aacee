"""Clark's figures show the data that they were given: read back from what was drawn."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from headtypes.analyses.maps import PATTERNS, Examples
from headtypes.papers.clark2019.claims.statistics import published_statistics, whole_statistics
from headtypes.papers.clark2019.figures import (
    _BEHAVIOURS,
    divergence_figure,
    entropy_figure,
    examples_figure,
    gradient_figure,
    surface_figure,
)
from tests.support.clark_results import (
    HEADS,
    LAYERS,
    PUBLISHED,
    UNIFORM,
    gradients_of,
    head_values,
    layers_of,
    surface_of,
)
from tests.support.drawing import drawn, planted, texts

MEANS = published_statistics(PUBLISHED)
GONE = ("next", "cls", "sep", "special", "sep_to_sep", "other_to_sep", "entropy_cls")


def ours(**changed: np.ndarray):
    return whole_statistics(surface_of(head_values() | changed), None, PUBLISHED)


def names(figure: Figure) -> set[str]:
    return {artist.get_gid() for artist in figure.findobj(lambda artist: artist.get_gid() is not None)}


def some_examples(tokens: int = 15, patterns=tuple(PATTERNS)) -> Examples:
    number = np.arange(len(patterns))
    heads = np.stack([number, np.full_like(number, 3)], axis=1)
    rows = np.random.default_rng(0).dirichlet(np.ones(tokens), (len(patterns), tokens)).astype(np.float32)
    words = ["[SEP]", *(f"w{number}" for number in range(tokens - 2)), "antidisestablishmentarian"]
    return Examples(list(patterns), heads, 0.25 * number, rows, words, False, "s")


def test_figure_1_draws_a_line_for_every_weight_as_dark_as_the_weight():
    examples = some_examples()
    figure = examples_figure(examples)
    for (layer, _), pattern, attention in zip(examples.heads, examples.patterns, examples.attention, strict=True):
        lines = drawn(figure, f"{pattern}-others")
        ends = [tuple(map(tuple, segment)) for segment in lines.get_segments()]
        assert ends == [((0, query), (1, key)) for query in range(15) for key in range(15)]
        np.testing.assert_allclose(lines.get_alpha(), attention.ravel())
        # Downwards: the first token is at the top.
        assert lines.axes.get_ylim()[0] > lines.axes.get_ylim()[1]
        assert f"head {layer + 1}-4" in lines.axes.get_title()
    assert {"antidisest…", "mean entropy: 0.00 nats", "mean attention: 0.50"} <= set(texts(figure))


def test_figure_1_says_what_a_model_cannot_show():
    shown = texts(examples_figure(some_examples(patterns=("broad", "punctuation"))))
    assert "no token looks\nat the next one" in shown
    assert "the input has\nno [SEP]" in shown


def check_series(figure: Figure, statistics, name: str, means: bool = True) -> None:
    dots = drawn(figure, f"heads-{name}")
    np.testing.assert_array_equal(dots.get_ydata(), statistics.heads[name].ravel())
    np.testing.assert_array_equal(np.round(dots.get_xdata()), np.repeat(np.arange(LAYERS) + 1, HEADS))
    if means:
        line, published = drawn(figure, f"mean-{name}"), drawn(figure, f"published-{name}")
        np.testing.assert_allclose(line.get_ydata(), statistics.layers[name])
        np.testing.assert_array_equal(published.get_ydata(), PUBLISHED.digitised.by_layer[name])
        assert line.get_color() == published.get_color()
        assert published.get_alpha() < 0.5


def test_figure_2_has_a_dot_for_each_head_and_a_line_through_the_means():
    statistics = ours()
    figure = surface_figure(statistics, MEANS)
    for name in ("cls", "sep", "punctuation", "sep_to_sep", "other_to_sep"):
        check_series(figure, statistics, name)
    for name in ("previous", "next", "self"):
        check_series(figure, statistics, name, means=False)
    assert "heads-first" not in names(figure)
    assert texts(figure).count("published means") == 2


def test_published_means_are_drawn_beside_the_papers_own_model_alone():
    assert not [name for name in names(surface_figure(ours(), None)) if name.startswith("published")]
    values = {name: value[::2] for name, value in head_values().items()}
    shallow = whole_statistics(surface_of(values), None, PUBLISHED)
    for draw in (surface_figure, entropy_figure):
        figure = draw(shallow, MEANS)
        assert not [name for name in names(figure) if name.startswith("published")]
        assert "published means" not in texts(figure)


def test_figure_2_of_a_model_without_separators_shows_the_first_token_and_says_why():
    values = {name: np.full((LAYERS, HEADS), np.nan) for name in GONE}
    figure = surface_figure(ours(**values, first=np.full((LAYERS, HEADS), 0.3)), None)
    assert {"heads-first", "heads-punctuation", "heads-previous"} <= names(figure)
    assert not {"heads-cls", "heads-sep", "heads-next"} & names(figure)
    assert "its inputs have no [SEP]" in texts(figure)
    assert "first token" in texts(figure)


def test_figure_4_has_entropies_and_the_line_of_uniform_attention():
    statistics = ours()
    figure = entropy_figure(statistics, MEANS)
    for name in ("entropy", "entropy_cls"):
        check_series(figure, statistics, name)
    uniform = [line for axes in figure.axes for line in axes.lines if line.get_gid() == "uniform"]
    assert len(uniform) == 2
    for line in uniform:
        np.testing.assert_allclose(line.get_ydata(), UNIFORM, rtol=1e-6)
        assert line.axes.get_ylim()[1] > UNIFORM
    empty = entropy_figure(ours(entropy_cls=np.full((LAYERS, HEADS), np.nan)), None)
    assert "the model lets [CLS] look at itself alone" in texts(empty)


def test_figure_3_has_each_kind_in_units_of_the_loss_and_divided_by_all_tokens():
    gradients = gradients_of()
    values, ratios = gradient_figure(gradients).axes
    shown = {line.get_gid(): line.get_ydata() for line in values.lines}
    assert shown.keys() == {"all", "sep", "punctuation", "cls"}
    # 1e-4 times the layer's number, up to 1.2e-3: shown in thousandths.
    np.testing.assert_allclose(shown["all"], (1 + np.arange(LAYERS)) / 10, rtol=1e-12)
    assert values.get_ylabel() == "mean |∂L/∂A| / 10⁻³"
    by_kind = {line.get_gid(): line.get_ydata() for line in ratios.lines}
    np.testing.assert_allclose(by_kind["sep"], [0.9] * 4 + [0.2] * 8)
    for kind, ratio in {"all": 1, "punctuation": 1.5, "cls": 0.8}.items():
        np.testing.assert_allclose(by_kind[kind], ratio)
    assert values.get_title(loc="left") == "loss of masked words"
    assert values.get_ylim()[0] == ratios.get_ylim()[0] == 0


def test_figure_3_says_why_a_model_has_no_gradients():
    assert "No gradients: the model has no head for masked words." in texts(gradient_figure(gradients_of(loss=None)))


def projection() -> tuple[pd.DataFrame, dict, np.ndarray]:
    _, partition = planted()
    layers, heads = partition.shape
    layer, head = np.indices((layers, heads)).reshape(2, -1)
    x, y = np.random.default_rng(2).normal(0, 0.2, (2, layers * heads))
    places = pd.DataFrame({"layer": layer, "head": head, "x": x, "y": y})
    summary = {"rows": 100, "stress": 0.213, "correlation": 0.912, "layers": layers_of()}
    behaviours = np.array(["", *_BEHAVIOURS] * 8, dtype=object)[: layers * heads].reshape(layers, heads)
    return places, summary, behaviours


def test_figure_6_shows_the_same_places_three_times():
    places, summary, behaviours = projection()
    _, partition = planted()
    figure = divergence_figure(places, summary, behaviours, partition, {})
    panels = {axes.get_title(loc="left"): axes for axes in figure.axes if axes.collections}
    types = [f"{name} (doubtful)" if name in partition.doubtful else name for name in partition.type_of.ravel()]
    of_head = {
        "by behaviour": [_BEHAVIOURS[name][0] if name else "none of these" for name in behaviours.ravel()],
        "by layer": [str(layer + 1) for layer in places["layer"]],
        "by Guan's type": types,
    }
    for name, labels in of_head.items():
        shown = {it.get_gid(): np.asarray(it.get_offsets()) for it in panels[name].collections if it.get_gid()}
        assert shown.keys() == set(labels)
        for label, points in shown.items():
            np.testing.assert_array_equal(points, places.loc[np.array(labels) == label, ["x", "y"]])
    fit = "stress-1: 0.21; correlation of distances: 0.91"
    assert f"{fit}; mean divergence within layers 0.240, between 0.300 nats a row" in texts(figure)


def test_figure_6_marks_the_best_heads_of_relations_and_of_coreference():
    places, summary, behaviours = projection()
    best = {(0, 3): "det, dobj", (2, 1): "coreference"}
    figure = divergence_figure(places, summary, behaviours, None, best)
    panel = figure.axes[0]
    for (layer, head), what in best.items():
        (points,) = [it for it in panel.collections if it.get_gid() == f"{what}: {layer + 1}-{head + 1}"]
        place = places[(places["layer"] == layer) & (places["head"] == head)]
        np.testing.assert_array_equal(points.get_offsets(), place[["x", "y"]])
    assert {f"{what}: {layer + 1}-{head + 1}" for (layer, head), what in best.items()} <= set(texts(figure))
