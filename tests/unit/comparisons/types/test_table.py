"""Types beside analyses: what the single tables say, beside random heads of the same layers."""

import itertools

import numpy as np
import pandas as pd
import pytest

from headtypes.analyses.divergence.analysis import per_set
from headtypes.analyses.divergence.results import Divergence, write_divergence
from headtypes.analyses.gradients.results import ATTENDED, Gradients
from headtypes.analyses.probes.of_types import _DRAWS
from headtypes.analyses.surface.results import COLUMNS, Surface, write_surface
from headtypes.analyses.types.partitions import build_partition
from headtypes.comparisons.types.figure import compared_types_figure, shade_of
from headtypes.comparisons.types.random_heads import draw_heads, overlap, place_among
from headtypes.comparisons.types.results import compare_files
from headtypes.comparisons.types.table import read_compared_types
from headtypes.core.errors import InputError
from headtypes.core.files import write_json
from headtypes.core.table_files import write_csv, write_parquet
from tests.support import second_comparison as second
from tests.support.places import ROOT

LAYERS, HEADS, SAMPLES = 3, 4, 6
EVERY = list(itertools.product(range(LAYERS), range(HEADS)))
_NAMES = ["dense", "dense", "vertical", "vertical", "diagonal", "dense", "vertical", "dense", *["vertical"] * 4]
TYPES = dict(zip(EVERY, _NAMES, strict=True))


def partition(doubtful: bool = False):
    features = np.full((LAYERS * HEADS, 21), 1 / 21)
    types = np.array(list(TYPES.values()), dtype=object)
    return build_partition(
        features,
        (LAYERS, HEADS),
        cluster=np.zeros(len(types), int),
        types=types,
        silhouette=np.zeros(len(types)),
        doubtful=(types == "vertical") & doubtful,
    )


def row_of(table: pd.DataFrame, type_: str, quantity: str, statistic: str, analysis: str = "") -> pd.Series:
    table = table[table["analysis"].str.startswith(analysis)]
    (row,) = table[
        (table["type"] == type_) & (table["quantity"] == quantity) & (table["statistic"] == statistic)
    ].to_dict("records")
    return pd.Series(row)


def surface(seed: int = 0) -> Surface:
    patterns = np.random.default_rng(seed).random((SAMPLES, LAYERS, HEADS, len(COLUMNS))).astype(np.float32)
    uniform = np.ones((SAMPLES, LAYERS), np.float32)
    return Surface(patterns, uniform, np.full(SAMPLES, 9, np.int32), [str(number) for number in range(SAMPLES)])


def divergence() -> Divergence:
    half = np.random.default_rng(1).random((LAYERS * HEADS, LAYERS * HEADS))
    total = half + half.T
    np.fill_diagonal(total, 0)
    return Divergence(total, rows=10, layers=LAYERS, sample_ids=["a"])


def accuracies() -> pd.DataFrame:
    rows = [
        (annotation, relation, part, layer, head, direction)
        for annotation in ("universal", "stanford")
        for relation in ("all", "nsubj", "nsubj:*", "det", "obj", "poss", "poss*")
        for part in ("file", "even", "test")
        for layer, head in EVERY
        for direction in ("dependent_to_head", "head_to_dependent")
    ]
    table = pd.DataFrame(rows, columns=["annotation", "relation", "part", "layer", "head", "direction"])
    return table.assign(accuracy=np.random.default_rng(2).random(len(table)) * 100)


def mentions() -> pd.DataFrame:
    rows = [
        ("head", candidates, type_, layer, head)
        for candidates in ("words", "mentions")
        for type_ in ("all", "pronoun")
        for layer, head in EVERY
    ]
    table = pd.DataFrame(rows, columns=["system", "candidates", "type", "layer", "head"])
    table = table.assign(chosen="documents", accuracy=np.random.default_rng(3).random(len(table)) * 100)
    table = table.assign(mentions=9, documents=3, low=0, high=100)
    baseline = {"system": "nearest", "candidates": "mentions", "type": "all", "accuracy": 99.0}
    return pd.concat([table, pd.DataFrame([baseline])]).sample(frac=1, random_state=0)


def detected() -> pd.DataFrame:
    """Heads by detector, in an order of their own; previous tokens are looked at by the diagonal head alone."""
    rows = [(name, *head) for name in ("previous", "first") for head in reversed(EVERY)]
    table = pd.DataFrame(rows, columns=["detector", "layer", "head"])
    table["score"] = np.random.default_rng(6).random(len(table))
    diagonal = np.array([TYPES[layer, head] == "diagonal" for _, layer, head in rows])
    table["detected"] = np.where(table["detector"] == "first", table["head"] == 0, diagonal)
    return table.assign(**dict.fromkeys(("null", "difference", "low", "high", "p", "corrected_p"), 0.5))


def type_probes() -> dict:
    """The words that probes find in two sentences: dense heads more, and diagonal heads fewer, than random heads."""
    random = [[1, 2], [2, 3], [1, 3], [1, 1], [2, 2]]
    right = {"dense": [[4, 5], [4, 5]], "diagonal": [[0, 0], [1, 0]], "vertical": [[1, 3], [1, 3]]}
    types = {name: {"heads": 1, "right": found, "random": random} for name, found in right.items()}
    return {"types": types, "words": [4, 6]}


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, dict]:
    folder = tmp_path_factory.mktemp("results")
    write_surface(folder / "surface.h5", surface(), {})
    write_divergence(folder / "divergence.h5", divergence(), {})
    write_csv(folder / "relations.csv", accuracies())
    write_csv(folder / "mentions.csv", mentions())
    values = np.random.default_rng(4).random((LAYERS, HEADS, len(ATTENDED)))
    write_csv(folder / "gradients.csv", Gradients(values, "masked_words", 5).table())
    layer, head = np.array(EVERY).T
    importance = np.random.default_rng(5).random(len(EVERY))
    write_csv(folder / "importance.csv", pd.DataFrame({"layer": layer, "head": head, "normalised": importance}))
    write_json(folder / "probes.json", type_probes())
    write_csv(folder / "detectors.csv", detected())
    return {
        "surface": {"text": folder / "surface.h5"},
        "gradients": {"text": folder / "gradients.csv"},
        "divergence": {"text": folder / "divergence.h5"},
        "relations": {"bank": folder / "relations.csv"},
        "coreference": {"stories": folder / "mentions.csv"},
        "importance": {"qa": folder / "importance.csv"},
        "probes": {"bank": folder / "probes.json"},
        "detectors": {"random tokens": folder / "detectors.csv"},
    }


@pytest.fixture(scope="module")
def compared_types(files) -> pd.DataFrame:
    return compare_files(partition(), files, seed=7)


@pytest.mark.parametrize("name", ["dense", "diagonal", "vertical"])
def test_values_are_those_that_a_second_program_counts_from_the_single_tables(files, compared_types, name):
    heads = second.heads_of(TYPES, name)
    by_head = surface().patterns.astype(float).mean(0)
    for place, column in enumerate(COLUMNS):
        values = {head: by_head[(*head, place)] for head in EVERY}
        for statistic, value in second.summaries(values, heads).items():
            assert row_of(compared_types, name, column, statistic, "surface")["value"] == pytest.approx(value, abs=1e-9)
    gradients = pd.read_csv(files["gradients"]["text"]).set_index(["layer", "head"])
    for kind in ATTENDED:
        of_layer = gradients["all"].groupby("layer").mean()
        values = {head: gradients.loc[head, kind] / of_layer[head[0]] for head in EVERY}
        for statistic, value in second.summaries(values, heads).items():
            assert row_of(compared_types, name, kind, statistic, "gradients")["value"] == pytest.approx(value)
    of_row = (divergence().total / divergence().rows).tolist()
    places = {other: [EVERY.index(head) for head in second.heads_of(TYPES, other)] for other in set(TYPES.values())}
    if len(heads) > 1:
        expected = second.inside(of_row, places[name])
        assert row_of(compared_types, name, "divergence", "inside")["value"] == pytest.approx(expected)
    for other in places.keys() - {name}:
        expected = second.between(of_row, places[name], places[other])
        assert row_of(compared_types, name, "divergence", f"to {other}")["value"] == pytest.approx(expected)
    relations = pd.read_csv(files["relations"]["bank"]).query("part == 'file'")
    for annotation, rows in relations.groupby("annotation"):
        for relation, of_relation in rows.groupby("relation"):
            value = row_of(compared_types, name, f"{relation} ({annotation})", "best head")["value"]
            assert value == pytest.approx(second.best(of_relation.to_dict("records"), heads))
        counted = second.best_heads(rows[~rows["relation"].isin(["all", "nsubj:*", "poss"])].to_dict("records"), heads)
        assert row_of(compared_types, name, f"relations ({annotation})", "best head here")["value"] == counted
    found = mentions().query("system == 'head' and candidates == 'words'")
    for type_, rows in found.groupby("type"):
        value = row_of(compared_types, name, f"antecedents ({type_})", "best head")["value"]
        assert value == pytest.approx(second.best(rows.to_dict("records"), heads))


@pytest.mark.parametrize("name", ["dense", "diagonal", "vertical"])
def test_heads_that_detectors_find_are_counted_by_type(compared_types, name):
    heads = second.heads_of(TYPES, name)
    for detector, rows in detected().groupby("detector"):
        rows = rows.set_index(["layer", "head"])
        for statistic, value in second.summaries(rows["score"].to_dict(), heads).items():
            assert row_of(compared_types, name, detector, statistic, "detectors")["value"] == pytest.approx(value)
        counted = row_of(compared_types, name, detector, "detected here", "detectors")
        assert counted["value"] == rows.loc[heads, "detected"].sum()
        assert counted["task"] == "random tokens"
    assert row_of(compared_types, "diagonal", "previous", "detected here")["value"] == 1


def test_a_head_is_not_compared_with_itself_nor_a_type_with_itself(files, compared_types):
    """Random heads may be of the type that they are compared with."""
    dense, between = np.zeros((2, LAYERS * HEADS), bool)
    dense[[1, 2]], between[[2, 3]] = True, True
    inside, to = per_set("t", files["divergence"]["text"], {"dense": dense}, seed=0)
    assert (inside.about, to.about) == (None, "dense")
    of_row = divergence().of_a_row
    assert to.of(between[None]) == pytest.approx(np.mean([of_row[2, 1], of_row[3, 1], of_row[3, 2]]))
    assert inside.of(between[None]) == pytest.approx(of_row[2, 3])
    assert not (compared_types["statistic"] == "to " + compared_types["type"]).any()


def test_the_interval_of_random_values_holds_95_percent_of_them():
    assert place_among(0.0, np.arange(1001.0))[1:3] == (25, 975)


def test_random_heads_are_as_many_in_each_layer_as_the_type_has_there():
    own = partition().type_of == "dense"
    drawn = draw_heads(own, 500, seed=1)
    assert (drawn.sum(-1) == own.sum(-1)).all()
    # Each head of a layer is drawn as often as any other.
    np.testing.assert_allclose(drawn[:, 0].mean(0), 2 / HEADS, atol=0.08)
    np.testing.assert_array_equal(drawn, draw_heads(own, 500, seed=1))
    assert (drawn != draw_heads(own, 500, seed=2)).any()


def test_a_type_that_fills_its_layer_is_its_own_random_heads(compared_types):
    own = np.zeros((2, 3), bool)
    own[1] = True
    drawn = draw_heads(own, 20, seed=1)
    assert (drawn == own).all()
    assert overlap(own, drawn) == 1
    assert place_among(3.0, np.full(20, 3.0)).p == 1


def test_what_only_the_type_has_is_beyond_its_random_heads(files):
    """Every dense head looks at the previous token, and no other head does."""
    planted = surface()
    planted.patterns[..., COLUMNS.index("previous")] = np.where(partition().type_of == "dense", 0.9, 0.1)
    path = files["surface"]["text"].with_name("planted.h5")
    write_surface(path, planted, {})
    table = compare_files(partition(), {"surface": {"text": path}}, seed=7)
    found = row_of(table, "dense", "previous", "mean")
    assert found["value"] == pytest.approx(0.9)
    assert found["random_low"] < found["random"] < 0.7
    # Four of twelve heads in two layers: 24 sets, of which the type is one.
    assert found["p"] == pytest.approx(2 / 24, abs=0.04)
    assert found["rank"] == pytest.approx(1000 / 24, abs=20)
    assert found["low"] == found["high"] == pytest.approx(0.9)


def test_the_place_among_random_values_counts_the_value_itself():
    drawn = np.arange(1.0, 100.0)
    assert place_among(200.0, drawn).rank == 1
    assert place_among(200.0, drawn).p == pytest.approx(2 / 100)
    assert place_among(0.0, drawn).rank == 100
    assert place_among(0.0, drawn).p == pytest.approx(2 / 100)
    assert place_among(50.0, drawn).p == 1
    assert place_among(np.nan, drawn).rank is None
    assert place_among(1.0, np.full(3, np.nan)).draws == 0


def test_drops_stand_beside_those_of_the_random_heads_that_were_evaluated(tmp_path):
    ids = [str(number) for number in range(10)]
    of_all = pd.DataFrame({"id": [*ids, "not asked"], "exact_match": 100.0, "f1": 100.0})
    without = of_all.assign(exact_match=[0.0] * 6 + [100.0] * 5, f1=50.0)
    controls = pd.DataFrame(
        [(draw, id_, 100.0 * (int(id_) >= draw), 90.0, 0.25) for draw in range(3) for id_ in ids],
        columns=["draw", "id", "exact_match", "f1", "overlap"],
    )
    # Heads from elsewhere are no matter of this table.
    controls = pd.concat([controls.assign(family="layer"), controls.assign(family="others", exact_match=0.0)])
    paths = [tmp_path / f"{name}.parquet" for name in ("controls", "scores", "baseline")]
    for path, table in zip(paths, (controls, without, of_all), strict=True):
        write_parquet(path, table)
    about = {"type": "dense", "operation": "zero", "task": "qa"}
    table = compare_files(partition(), {}, left_out=[(about, *paths)], seed=7)
    assert table["type"].tolist() == ["dense", "dense"]
    found = row_of(table, "dense", "drop of exact_match", "zero")
    assert (found["value"], found["random"], found["rank"], found["draws"]) == (60, 10, 1, 3)
    assert found["p"] == pytest.approx(2 / 4)
    assert found["low"] < 60 < found["high"]
    assert found["overlap"] == 0.25


def test_a_loss_stands_there_by_how_much_it_rises(tmp_path):
    before = pd.DataFrame({"id": ["a", "b", "c"], "loss": [10.0, 30.0, 5.0], "tokens": [10, 20, 5]})
    without = before.assign(loss=[20.0, 35.0, 5.0])
    draws = [before.assign(loss=[10.0 + draw, 30.0, 5.0], draw=draw, overlap=0.25, family="layer") for draw in range(3)]
    paths = [tmp_path / f"{name}.parquet" for name in ("controls", "scores", "baseline")]
    for path, table in zip(paths, (pd.concat(draws, ignore_index=True), without, before), strict=True):
        write_parquet(path, table)
    about = {"type": "dense", "operation": "zero", "task": "texts"}
    table = compare_files(partition(), {}, left_out=[(about, *paths)], seed=7)
    found = row_of(table, "dense", "rise of loss", "zero")
    assert (found["value"], found["random"]) == (pytest.approx(15 / 35), pytest.approx(1 / 35))
    assert (found["rank"], found["draws"]) == (1, 3)
    # No document loses more than 1 a token.
    assert 0 <= found["low"] < 15 / 35 < found["high"] <= 1


def test_probes_of_a_type_stand_beside_those_of_their_random_heads(compared_types):
    found = {
        name: row_of(compared_types, name, "uas", "attention of these heads")
        for name in ("dense", "diagonal", "vertical")
    }
    assert [found[name]["value"] for name in found] == pytest.approx([90, 5, 40])
    assert [found[name]["rank"] for name in found] == [1, 6, 4]
    assert all(row["random"] == pytest.approx(36) and row["draws"] == 5 for row in found.values())
    assert found["dense"]["p"] == pytest.approx(2 / 6)
    # Which heads were drawn is not kept.
    assert np.isnan(found["dense"]["overlap"])
    assert found["dense"]["low"] < 90 < found["dense"]["high"]


def test_doubtful_names_are_marked_in_the_table_and_the_figure(files, tmp_path):
    doubtful = partition(doubtful=True)
    table = compare_files(doubtful, files, seed=7)
    assert set(table.loc[table["doubtful"], "type"]) == {"vertical"}
    write_csv(tmp_path / "compared_types.csv", table)
    projection = pd.DataFrame({"layer": [0, 1], "head": [0, 1], "x": [0.0, 1.0], "y": [0.0, 1.0]})
    figure = compared_types_figure(read_compared_types(tmp_path / "compared_types.csv"), doubtful, {"text": projection})
    texts = {text.get_text() for axes in figure.axes for text in axes.texts}
    assert {"vertical?", "dense", "nsubj", "first", "first: heads"} <= texts
    shown = [patch for axes in figure.axes for patch in axes.patches if patch.get_gid()]
    assert len(shown) > 60


@pytest.mark.parametrize("name", ["None", "NA", "null", "nan", "7"])
def test_a_type_and_a_task_may_have_any_name(compared_types, name, tmp_path):
    table = compared_types.assign(task=name, type=compared_types["type"].replace("vertical", name))
    write_csv(tmp_path / "compared_types.csv", table)
    pd.testing.assert_frame_equal(read_compared_types(tmp_path / "compared_types.csv"), table, rtol=1e-8)


def test_without_language_the_analyses_stand_in_both_columns(compared_types):
    figure = compared_types_figure(
        compared_types[compared_types["analysis"].isin(["surface", "divergence"])], partition(), {}
    )
    left, right, _ = figure.axes
    headings = [[text.get_text() for text in axes.texts if text.get_weight() == "bold"] for axes in (left, right)]
    assert [[heading.split()[0] for heading in column] for column in headings] == [["where"], ["divergence"]]


def test_cells_are_shaded_by_p_and_direction():
    assert shade_of(2, 1, 0.2) == (0, 0)
    assert shade_of(2, 1, 0.03) == (1, 1)
    assert shade_of(1, 2, 0.002) == (-1, 2)
    assert shade_of(1, np.nan, np.nan) == (0, 0)


def test_the_caption_says_how_many_draws_a_colour_needs_and_how_many_probes_have():
    enough, too_few = place_among(50.0, np.arange(40.0)), place_among(50.0, np.arange(39.0))
    assert shade_of(50, enough.mean, enough.p) != (0, 0) == shade_of(50, too_few.mean, too_few.p)
    caption = " ".join((ROOT / "report/compared_types.rst").read_text().split())
    assert f"for probes {_DRAWS}; fewer than 40 give no colour" in caption


def test_a_model_without_a_loss_has_no_gradients(files):
    path = files["gradients"]["text"].with_name("none.csv")
    values = np.full((LAYERS, HEADS, len(ATTENDED)), np.nan)
    write_csv(path, Gradients(values, None, 0, "has no head for masked words").table())
    table = compare_files(partition(), {"gradients": {"text": path}}, seed=7)
    assert table.empty
    assert compared_types_figure(table, partition(), {}).axes


def test_analyses_of_other_heads_are_refused(files):
    path = files["importance"]["qa"].with_name("other.csv")
    write_csv(path, pd.DataFrame({"layer": [0, 0], "head": [0, 1], "normalised": [0.5, 0.5]}))
    with pytest.raises(InputError, match="importance on qa are of other heads"):
        compare_files(partition(), {"importance": {"qa": path}}, seed=7)
