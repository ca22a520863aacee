"""The figure to choose by shows the figures that it was given: read back from what was drawn."""

import itertools

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Annotation, Text

from headtypes.analyses.types.choice import BINS, COUNTS, best_choices
from headtypes.analyses.types.choice_figure import COLOURS, MARKERS, choice_figure
from headtypes.analyses.types.choice_files import AGREEMENT, STABILITY, TABLE, Choice, read_choice
from headtypes.analyses.types.names import METHODS
from headtypes.core.style import PAGE, PAGE_HEIGHT, PALETTE
from headtypes.core.table_files import write_csv
from tests.support.drawing import DEFICIENCIES, lab, lettering


def made_up(counts=COUNTS, distance_bins: int = 16, seed: int = 0) -> Choice:
    """Figures at random, every one of its own value."""
    rng = np.random.default_rng(seed)
    every = sorted({*BINS, distance_bins})
    rows = []
    for method, count, k in itertools.product(METHODS, every, (1, *counts)):
        here = count == distance_bins
        if k == 1 and not here:
            continue
        row = dict.fromkeys(TABLE, np.nan) | {"method": method, "distance_bins": count, "k": k}
        if k > 1:
            row |= {"silhouette": rng.uniform(-0.1, 0.9), "smallest": 1, "chance": rng.uniform(10, 60)}
        if here:
            row |= {"gap": rng.uniform(0, 2), "gap_error": rng.uniform(0.01, 0.2)}
        if here and k > 1:
            row |= dict(zip(STABILITY, rng.uniform(20, 100, len(STABILITY)), strict=True))
        rows.append(row)
    table = pd.DataFrame(rows, columns=list(TABLE))
    ways = list(itertools.product(METHODS, every, counts))
    pairs = [
        (*one[:2], *other[:2], one[2], rng.uniform(-0.1, 1))
        for one, other in itertools.combinations(ways, 2)
        if one[2] == other[2] and (one[0] == other[0]) != (one[1] == other[1])
    ]
    agreement = pd.DataFrame(pairs, columns=list(AGREEMENT))
    return Choice(table, agreement, best_choices(table[table["distance_bins"] == distance_bins]))


def panels(figure: Figure) -> dict:
    return {axes.get_title(): axes for axes in figure.findobj(lambda artist: hasattr(artist, "get_xlabel"))}


def drawn(axes, method: str, full: bool = True):
    """Numbers of clusters and values of a method's line, full or dashed."""
    [line] = [
        line
        for line in axes.lines
        if to_hex(line.get_color()) == COLOURS[method].lower() and line.get_linestyle() == ("-" if full else "--")
    ]
    assert line.get_marker() == MARKERS[method]
    k = np.round(line.get_xdata()).astype(int)
    assert np.abs(line.get_xdata() - k).max() < 0.3
    return k.tolist(), line.get_ydata()


def whiskers(axes, method: str) -> np.ndarray:
    [bars] = [each for each in axes.collections
              if hasattr(each, "get_segments") and to_hex(each.get_color()[0]) == COLOURS[method].lower()]  # fmt: skip
    return np.array([segment[:, 1] for segment in bars.get_segments()])


def ring(axes, method: str):
    [line] = [
        line for line in axes.lines
        if line.get_linestyle() == "None" and to_hex(line.get_color()) == COLOURS[method].lower()
        and line.get_markersize() > 6
    ]  # fmt: skip
    return round(line.get_xdata()[0]), line.get_ydata()[0]


@pytest.mark.parametrize("distance_bins", [8, 16])
def test_each_panel_shows_its_criterion(distance_bins):
    choice = made_up(distance_bins=distance_bins)
    axes = panels(choice_figure(choice, distance_bins))
    silhouettes = axes[f"silhouette, {distance_bins} distance bins (whiskers: other numbers)"]
    gaps = axes["gap statistic, with its standard error"]
    halves = {half: axes[f"stability: models of half of the {half}"] for half in ("heads", "samples")}
    best = choice.best.set_index("method")
    for method in METHODS:
        everywhere = choice.table[(choice.table["method"] == method) & (choice.table["k"] > 1)]
        mine = choice.table[
            (choice.table["method"] == method) & (choice.table["distance_bins"] == distance_bins)
        ].set_index("k")

        k, values = drawn(silhouettes, method)
        assert k == list(COUNTS)
        np.testing.assert_array_equal(values, mine.loc[list(COUNTS), "silhouette"])
        spread = everywhere.groupby("k")["silhouette"].agg(["min", "max"])
        np.testing.assert_allclose(whiskers(silhouettes, method), spread)
        assert ring(silhouettes, method) == (best.loc[method, "silhouette_k"], best.loc[method, "silhouette"])

        k, values = drawn(gaps, method)
        assert k == [1, *COUNTS]
        np.testing.assert_array_equal(values, mine["gap"])
        ends = np.stack([mine["gap"] - mine["gap_error"], mine["gap"] + mine["gap_error"]], axis=1)
        np.testing.assert_allclose(whiskers(gaps, method), ends)
        chosen = best.loc[method, "gap_k"]
        assert ring(gaps, method) == (chosen, mine.loc[chosen, "gap"])

        for half, panel in halves.items():
            k, values = drawn(panel, method)
            np.testing.assert_array_equal(values, mine.loc[list(COUNTS), f"{half}_pairwise"])
            _, values = drawn(panel, method, full=False)
            np.testing.assert_array_equal(values, mine.loc[list(COUNTS), f"{half}_all_agree"])
            chosen = best.loc[method, f"{half}_k"]
            assert ring(panel, method) == (chosen, mine.loc[chosen, f"{half}_pairwise"])


def numbers(axes) -> dict[str, list[str]]:
    """The numbers in a table of shades, by row."""
    rows = [label.get_text() for label in axes.get_yticklabels()]
    found = {row: [None] * len(axes.get_xticklabels()) for row in rows}
    for text in axes.texts:
        if isinstance(text, Annotation):  # The panel's letter.
            continue
        column, row = text.get_position()
        found[rows[row]][column] = text.get_text()
    return found


def shown(value: float) -> str:
    text = f"{value:.2f}".replace("-", "\N{MINUS SIGN}")
    return "0.00" if text.endswith("0.00") else text


def test_the_shades_are_the_adjusted_rand_indices():
    choice = made_up()
    here = choice.agreement.index[(choice.agreement[["distance_bins", "other_distance_bins"]] == 16).all(axis=1)]
    choice.agreement.loc[here[:3], "adjusted_rand"] = -0.004, -0.996, 1.0
    axes = panels(choice_figure(choice, 16))
    pairs = {(row.method, row.distance_bins, row.other_method, row.other_distance_bins, row.k): shown(row.adjusted_rand)
             for row in choice.agreement.itertuples()}  # fmt: skip
    methods = numbers(axes["adjusted Rand index of methods"])
    assert methods == {
        f"{one}, {other}": [pairs[one, 16, other, 16, k] for k in COUNTS]
        for one, other in itertools.combinations(METHODS, 2)
    }
    distance_bins = numbers(axes["adjusted Rand index with 16 distance bins"])
    assert distance_bins == {
        f"{method}: {count}": [pairs[method, min(count, 16), method, max(count, 16), k] for k in COUNTS]
        for method in METHODS
        for count in (4, 8, 32)
    }


def test_colours_of_methods_stay_apart_for_colour_blind_readers_and_from_those_of_types():
    for deficiency in DEFICIENCIES:
        seen = [lab(colour, deficiency) for colour in COLOURS.values()]
        assert min(np.linalg.norm(one - other) for one, other in itertools.combinations(seen, 2)) > 20, deficiency
    types = [lab(colour, "none") for colour in PALETTE[:4]]
    assert min(np.linalg.norm(lab(one, "none") - other) for one in COLOURS.values() for other in types) > 20
    assert len(set(MARKERS.values())) == 4


def test_what_is_drawn_are_the_tables_as_they_are_on_disk(tmp_path):
    choice = one_method_fails(made_up())
    paths = [tmp_path / f"{name}.csv" for name in ("ways", "agreement", "best")]
    for path, table in zip(paths, (choice.table, choice.agreement, choice.best), strict=True):
        write_csv(path, table)
    read = read_choice(*paths)
    for name in ("table", "agreement", "best"):
        made = getattr(choice, name).reset_index(drop=True)
        pd.testing.assert_frame_equal(getattr(read, name), made, check_dtype=name == "best")


def nothing_done(choice: Choice) -> Choice:
    return Choice(choice.table.iloc[:0], choice.agreement.iloc[:0], choice.best.iloc[:0])


def one_method_fails(choice: Choice) -> Choice:
    lost = (choice.table["method"] == "gmm") & (choice.table["k"] > 1)
    table = choice.table.copy()
    table.loc[lost, list(TABLE[3:])] = np.nan
    agreement = choice.agreement[(choice.agreement[["method", "other_method"]] != "gmm").all(axis=1)]
    return Choice(table, agreement, best_choices(table[table["distance_bins"] == 16]))


MADE_UP = {
    "full": (made_up(), 16),
    "no other bins": (made_up(distance_bins=64), 64),
    "three heads": (made_up(counts=(2,)), 16),
    "nothing": (nothing_done(made_up()), 16),
    "one method fails": (one_method_fails(made_up()), 16),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", MADE_UP)
def test_the_figure_fits_a_page_and_nothing_is_written_over(name):
    figure = choice_figure(*MADE_UP[name])
    width, height = figure.get_size_inches()
    assert (width, height) <= (PAGE, PAGE_HEIGHT)
    boxes = [(text.get_text(), text.get_window_extent()) for text in written(figure)]
    for text, box in boxes:
        assert box.x0 >= -0.5, text
        assert box.y0 >= -0.5, text
        assert box.x1 <= figure.bbox.x1 + 0.5, text
        assert box.y1 <= figure.bbox.y1 + 0.5, text
    for (one, box), (other, beside) in itertools.combinations(boxes, 2):
        wide = min(box.x1, beside.x1) - max(box.x0, beside.x0)
        tall = min(box.y1, beside.y1) - max(box.y0, beside.y0)
        assert min(wide, tall) < 2, (one, other)


def written(figure: Figure) -> list[Text]:
    found = lettering(figure)
    assert all(text.get_fontsize() >= 5 for text in found)
    return found
