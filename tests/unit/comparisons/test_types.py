"""Types beside analyses: what the single tables say, beside random heads of the same layers."""

import itertools
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from headtypes.analyses.declaration import best_head, summaries
from headtypes.analyses.divergence.analysis import per_set
from headtypes.analyses.divergence.results import Divergence
from headtypes.analyses.gradients.results import ATTENDED, Gradients
from headtypes.analyses.relations.guesses import DIRECTIONS
from headtypes.analyses.surface.measure import COLUMNS, Surface
from headtypes.analyses.types.partitions import Partition
from headtypes.comparisons.types import (
    compare_files,
    compare_types,
    compared_types_figure,
    draw_heads,
    place_among,
    read_compared_types,
    shown_rows,
)
from headtypes.core.hdf5_files import write_arrays
from headtypes.core.table_files import write_csv, write_parquet
from tests.support.planted import typed

LAYERS, HEADS, SAMPLES = 3, 4, 6
EVERY = list(itertools.product(range(LAYERS), range(HEADS)))
_NAMES = ["dense", "dense", "vertical", "vertical", "diagonal", "dense", "vertical", "dense", *["vertical"] * 4]
TYPES = dict(zip(EVERY, _NAMES, strict=True))
TESTED = ["gradients", "divergence", "relations", "coreference", "detectors"]
OF_TYPE = {name: np.array(_NAMES) == name for name in ("dense", "diagonal", "vertical")}


def partition(doubtful: Sequence[str] = ()) -> Partition:
    return typed(np.reshape(_NAMES, (LAYERS, HEADS)), doubtful, near=2 / 21, special=4 / 21, far=15 / 21)


def row_of(table: pd.DataFrame, type_: str, quantity: str, statistic: str, analysis: str = "") -> pd.Series:
    table = table[table["analysis"].str.startswith(analysis)]
    is_row = (table["type"] == type_) & (table["quantity"] == quantity) & (table["statistic"] == statistic)
    ((_, row),) = table[is_row].iterrows()
    return row


def surface() -> Surface:
    patterns = np.random.default_rng(0).random((SAMPLES, LAYERS, HEADS, len(COLUMNS))).astype(np.float32)
    uniform = np.ones((SAMPLES, LAYERS), np.float32)
    return Surface(patterns, uniform, np.full(SAMPLES, 9, np.int32), [str(number) for number in range(SAMPLES)])


def divergence() -> Divergence:
    half = np.random.default_rng(1).random((LAYERS * HEADS, LAYERS * HEADS))
    total = half + half.T
    np.fill_diagonal(total, 0)
    return Divergence(total, rows=10, layers=LAYERS, sample_ids=["a"])


def accuracies() -> pd.DataFrame:
    relations = ("all", "nsubj", "nsubj:*", "det", "obj", "poss", "poss*")
    of = ("universal", "stanford"), relations, ("file", "even", "test"), range(LAYERS), range(HEADS), DIRECTIONS
    names = ["annotation", "relation", "part", "layer", "head", "direction"]
    table = pd.DataFrame(itertools.product(*of), columns=names)
    return table.assign(accuracy=np.random.default_rng(2).random(len(table)) * 100)


def mentions() -> pd.DataFrame:
    of = ["head"], ("words", "mentions"), ("all", "pronoun"), range(LAYERS), range(HEADS)
    table = pd.DataFrame(itertools.product(*of), columns=["system", "candidates", "type", "layer", "head"])
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
    table = table.assign(**dict.fromkeys(("null", "difference", "low", "high", "p", "corrected_p"), 0.5))
    return table.assign(above=0, sequences=9)


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, dict]:
    folder = tmp_path_factory.mktemp("results")
    write_arrays(folder / "surface.h5", surface(), {})
    write_arrays(folder / "divergence.h5", divergence(), {})
    write_csv(folder / "relations.csv", accuracies())
    write_csv(folder / "mentions.csv", mentions())
    values = np.random.default_rng(4).random((LAYERS, HEADS, len(ATTENDED)))
    write_csv(folder / "gradients.csv", Gradients(values, "masked_words", 5).table())
    write_csv(folder / "detectors.csv", detected())
    return {
        "surface": {"text": folder / "surface.h5"},
        "gradients": {"text": folder / "gradients.csv"},
        "divergence": {"text": folder / "divergence.h5"},
        "relations": {"bank": folder / "relations.csv"},
        "coreference": {"stories": folder / "mentions.csv"},
        "detectors": {"random tokens": folder / "detectors.csv"},
    }


@pytest.fixture(scope="module")
def compared_types(files) -> pd.DataFrame:
    return compare_files(partition(), files, tested=TESTED, seed=7)


def check_summaries(table: pd.DataFrame, name: str, quantity: str, analysis: str, values: np.ndarray) -> None:
    own = values[OF_TYPE[name]]
    for statistic, value in (("mean", own.mean()), ("smallest", own.min()), ("largest", own.max())):
        assert row_of(table, name, quantity, statistic, analysis)["value"] == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("name", OF_TYPE)
def test_values_are_those_that_are_counted_in_the_single_tables(files, compared_types, name):
    own = OF_TYPE[name]

    def value(*of: str) -> float:
        return row_of(compared_types, name, *of)["value"]

    for place, column in enumerate(COLUMNS):
        by_head = surface().patterns.astype(float).mean(0)[..., place].ravel()
        check_summaries(compared_types, name, column, "surface", by_head)
    gradients = pd.read_csv(files["gradients"]["text"])
    of_layer = gradients.groupby("layer")["all"].transform("mean")
    for kind in ATTENDED:
        check_summaries(compared_types, name, kind, "gradients", (gradients[kind] / of_layer).to_numpy())
    of_row = divergence().total / divergence().rows
    if own.sum() > 1:
        pairs = [of_row[a, b] for a, b in itertools.permutations(np.flatnonzero(own), 2)]
        assert value("divergence", "inside") == pytest.approx(np.mean(pairs))
    for other in OF_TYPE.keys() - {name}:
        assert value("divergence", f"to {other}") == pytest.approx(of_row[own][:, OF_TYPE[other]].mean())
    relations = pd.read_csv(files["relations"]["bank"]).query("part == 'file'")
    for annotation, rows in relations.groupby("annotation"):
        best = rows.pivot_table("accuracy", "relation", ["layer", "head"], "max")
        for relation, by_head in best.iterrows():
            assert value(f"{relation} ({annotation})", "best head") == pytest.approx(by_head[own].max())
        counted = best.drop(index=["all", "nsubj:*", "poss"]).to_numpy().argmax(1)
        assert value(f"relations ({annotation})", "best head here") == own[counted].sum()
    found = mentions().query("system == 'head' and candidates == 'words'").sort_values(["layer", "head"])
    for type_, rows in found.groupby("type"):
        assert value(f"antecedents ({type_})", "best head") == pytest.approx(rows["accuracy"][own].max())


@pytest.mark.parametrize("name", OF_TYPE)
def test_heads_that_detectors_find_are_counted_by_type(compared_types, name):
    for detector, rows in detected().sort_values(["layer", "head"]).groupby("detector"):
        check_summaries(compared_types, name, detector, "detectors", rows["score"].to_numpy())
        counted = row_of(compared_types, name, detector, "detected here", "detectors")
        assert counted["value"] == rows["detected"][OF_TYPE[name]].sum()
        assert counted["task"] == "random tokens"
    assert row_of(compared_types, "diagonal", "previous", "detected here")["value"] == 1


def test_a_head_is_not_compared_with_itself_nor_a_type_with_itself(files, compared_types):
    """Random heads may be of the type that they are compared with."""
    dense, between = np.zeros((2, LAYERS * HEADS), bool)
    dense[[1, 2]], between[[2, 3]] = True, True
    inside, to = per_set("t", files["divergence"]["text"], {"dense": dense}, seed=0)
    assert (inside.about, to.about) == (None, "dense")
    of_row = divergence().of_a_row
    assert to.values(between[None]) == pytest.approx(np.mean([of_row[2, 1], of_row[3, 1], of_row[3, 2]]))
    assert inside.values(between[None]) == pytest.approx(of_row[2, 3])
    assert not (compared_types["statistic"] == "to " + compared_types["type"]).any()


def drawn_from(own: np.ndarray, draws: int, seed: int) -> np.ndarray:
    return np.concatenate(list(draw_heads(own, draws, seed))).reshape(draws, *own.shape)


def test_random_heads_are_as_many_in_each_layer_as_the_type_has_there():
    own = partition().type_of == "dense"
    drawn = drawn_from(own, 500, seed=1)
    assert (drawn.sum(-1) == own.sum(-1)).all()
    # Each head of a layer is drawn as often as any other.
    np.testing.assert_allclose(drawn.mean(0), own.mean(-1, keepdims=True).repeat(HEADS, -1), atol=0.08)
    np.testing.assert_array_equal(drawn, drawn_from(own, 500, seed=1))
    assert (drawn != drawn_from(own, 500, seed=2)).any()


def every_set(own: np.ndarray) -> list[list[int]]:
    """All sets of heads that have as many heads in each layer as the own: the heads' numbers, layer by layer."""
    members = np.arange(own.size).reshape(own.shape).tolist()
    chosen = [itertools.combinations(some, int(own.flat[some].sum())) for some in members]
    return [[head for of_group in each for head in of_group] for each in itertools.product(*chosen)]


@pytest.mark.parametrize("of", [max, np.mean])
def test_p_is_that_of_all_sets_of_as_many_heads(of):
    rng = np.random.default_rng(8)
    types = partition()
    values = rng.random(LAYERS * HEADS)
    measure = best_head("a", "t", "q", values) if of is max else next(summaries("a", "t", "q", values))
    table = compare_types(types, [measure], [], tested=["a"], seed=3).set_index("type")
    for name in types.types:
        own = types.type_of == name
        value = of(values[own.ravel()])
        others = np.array([of(values[heads]) for heads in every_set(own)])
        tails = (np.mean(others >= value - 1e-12), np.mean(others <= value + 1e-12))
        found = table.loc[name]
        assert found["value"] == pytest.approx(value)
        assert found["random"] == pytest.approx(others.mean(), abs=0.01)
        # Of 20,000 draws a share scatters by at most .0035.
        assert found["p"] == pytest.approx(min(1, 2 * min(tails)), abs=0.02)
        shared = np.mean([own.flat[heads].mean() for heads in every_set(own)])
        assert found["overlap"] == pytest.approx(shared, abs=0.01)


def test_what_the_figure_shows_of_tested_analyses_is_corrected_and_nothing_else_has_p(compared_types):
    figure = shown_rows(compared_types)
    hidden = compared_types.drop(figure.index)
    assert {"smallest", "largest"} < set(hidden["statistic"])
    assert (hidden["quantity"] == "obj (universal)").any()
    described = compared_types[compared_types["analysis"] == "surface"]
    assert described["random"].notna().any()
    for untested in (hidden, described):
        assert untested[["p", "p_holm"]].isna().all(axis=None)
    tested = sorted(figure["p"].dropna())
    # Holm 1979, step by step.
    steps = itertools.accumulate((p * (len(tested) - place) for place, p in enumerate(tested)), max)
    corrected = {p: min(1, step) for p, step in zip(tested, steps, strict=True)}
    known = figure[figure["p"].notna()]
    assert known["p_holm"].tolist() == pytest.approx([corrected[p] for p in known["p"]])


def test_the_place_among_random_values_counts_the_value_itself():
    drawn = np.arange(1.0, 100.0)
    for value, rank, p in ((200.0, 1, 2 / 100), (0.0, 100, 2 / 100), (50.0, 51, 1)):
        place = place_among(value, drawn)
        assert (place["rank"], place["p"]) == (rank, pytest.approx(p))
    # A type that fills its layers is its own random heads.
    assert place_among(3.0, np.full(20, 3.0))["p"] == 1
    assert place_among(np.nan, drawn) == {"draws": 99}
    assert place_among(1.0, np.full(3, np.nan)) == {"draws": 0}


def compared_costs(folder, *tables: pd.DataFrame) -> pd.DataFrame:
    """What it costs to leave out the dense heads; tables: of controls, of scores and of the baseline."""
    paths = [folder / f"{name}.parquet" for name in ("controls", "scores", "baseline")]
    for path, table in zip(paths, tables, strict=True):
        write_parquet(path, table)
    about = {"type": "dense", "operation": "zero", "task": "qa"}
    return compare_files(partition(), {}, left_out=[(about, *paths)], tested=TESTED, seed=7)


def test_drops_stand_beside_those_of_the_random_heads_that_were_evaluated(tmp_path):
    ids = [str(number) for number in range(10)]
    of_all = pd.DataFrame({"id": [*ids, "not asked"], "exact_match": 100.0, "f1": 100.0})
    without = of_all.assign(exact_match=[0.0] * 6 + [100.0] * 5, f1=50.0)
    controls = pd.DataFrame(
        [(draw, id_, 100.0 * (int(id_) >= draw), 90.0, 0.25) for draw in range(3) for id_ in ids],
        columns=["draw", "id", "exact_match", "f1", "overlap"],
    )
    table = compared_costs(tmp_path, controls, without, of_all)
    assert table["type"].tolist() == ["dense", "dense"]
    found = row_of(table, "dense", "drop of exact_match", "zero")
    assert (found["value"], found["random"], found["draws"]) == (60, 10, 3)
    # Draws of heads that are mostly the type's own are no test.
    assert pd.isna([found["rank"], found["p"]]).all()
    assert found["low"] < 60 < found["high"]
    assert found["overlap"] == 0.25


def test_a_loss_stands_there_by_how_much_it_rises(tmp_path):
    before = pd.DataFrame({"id": ["a", "b", "c"], "loss": [10.0, 30.0, 5.0], "tokens": [10, 20, 5]})
    without = before.assign(loss=[20.0, 35.0, 5.0])
    draws = [before.assign(loss=[10.0 + draw, 30.0, 5.0], draw=draw, overlap=0.25) for draw in range(3)]
    table = compared_costs(tmp_path, pd.concat(draws, ignore_index=True), without, before)
    found = row_of(table, "dense", "rise of loss", "zero")
    assert (found["value"], found["random"]) == (pytest.approx(15 / 35), pytest.approx(1 / 35))
    assert found["draws"] == 3
    # So few documents say nothing of others.
    assert pd.isna(found["low"])


def test_doubtful_names_are_marked_in_the_table_and_the_figure(files, tmp_path):
    doubtful = partition(doubtful=["vertical"])
    table = compare_files(doubtful, files, tested=TESTED, seed=7)
    assert set(table.loc[table["doubtful"], "type"]) == {"vertical"}
    write_csv(tmp_path / "compared_types.csv", table)
    projection = pd.DataFrame({"layer": [0, 1], "head": [0, 1], "x": [0.0, 1.0], "y": [0.0, 1.0]})
    figure = compared_types_figure(read_compared_types(tmp_path / "compared_types.csv"), doubtful, {"text": projection})
    texts = {text.get_text() for axes in figure.axes for text in axes.texts}
    assert {"vertical?", "dense", "nsubj", "first", "first: heads"} <= texts
    shown = [patch for axes in figure.axes for patch in axes.patches if patch.get_gid()]
    assert len(shown) > 60


def test_a_model_without_a_loss_has_no_gradients(files):
    path = files["gradients"]["text"].with_name("none.csv")
    values = np.full((LAYERS, HEADS, len(ATTENDED)), np.nan)
    write_csv(path, Gradients(values, None, 0, "has no head for masked words").table())
    table = compare_files(partition(), {"gradients": {"text": path}}, tested=TESTED, seed=7)
    assert table.empty
    assert compared_types_figure(table, partition(), {}).axes
