"""Profiles of heads: what is known of all models, in shares on which a difference means the same."""

import numpy as np
import pandas as pd
import pytest

from headtypes.analyses.detectors.results import COLUMNS as DETECTED
from headtypes.analyses.distances.columns import COLUMNS
from headtypes.analyses.distances.results import Features, write_features
from headtypes.comparisons.heads.kinds import find_kinds
from headtypes.comparisons.heads.profiles import read_profiles
from headtypes.core.errors import InputError
from headtypes.core.table_files import write_csv

MODELS, HEADS = ["a", "b", "c", "d"], 3
WAYS = ("dependent_to_head", "head_to_dependent")
SETTINGS = {"task": "text", "distance_bins": 16, "first_token": True}


def features_file(path, shares: np.ndarray):
    stored = np.zeros((1, *shares.shape[:2], COLUMNS), dtype=np.float32)
    stored[..., 64] = shares
    stored[..., 0] = 1 - shares
    write_features(path, Features(stored, np.array([5]), np.array([False]), ["s"]), {})
    return path


@pytest.fixture
def features(tmp_path):
    """Of four models with three heads each, which attend alike."""
    return {name: features_file(tmp_path / f"{name}.h5", np.full((1, HEADS), 0.5)) for name in MODELS}


def file_of(path, table: pd.DataFrame):
    write_csv(path, table)
    return path


COUNTED = {"annotation": "universal", "part": "file", "sentences_above": 1, "sentences_below": 1}


def of_heads(values, **more) -> pd.DataFrame:
    return pd.DataFrame({"layer": 0, "head": range(len(values)), **more})


def relations(folder, accuracies: dict[str, list[float]], offset: float) -> dict:
    """The files of relations, the same for every model; accuracies: of each head from dependent to head."""
    rows = [
        of_heads(of_heads_, **COUNTED, relation=name, direction=way, accuracy=values)
        for name, of_heads_ in accuracies.items()
        for way, values in zip(WAYS, (of_heads_, [np.nan] * len(of_heads_)), strict=True)
    ]
    best = pd.DataFrame({"relation": list(accuracies), "offset_accuracy": offset})
    best = best.assign(annotation="universal", chosen="file", scored="file", direction=WAYS[0])
    best = best.assign(**dict.fromkeys(("words", "layer", "head", "offset", "accuracy"), 1))
    best = best.assign(other_accuracy=1, above_offset=1)
    files = file_of(folder / "trees.csv", pd.concat(rows)), file_of(folder / "trees.best.csv", best)
    names = ("relations", "relations_best")
    return {name: {(model, "trees"): file for model in MODELS} for name, file in zip(names, files, strict=True)}


def detectors(folder, scores: list[float]) -> dict:
    table = of_heads(scores, score=scores).assign(detector="induction", detected=False, above=1, sequences=1)
    file = file_of(folder / "detectors.csv", table.reindex(columns=list(DETECTED), fill_value=0.5))
    return {"detectors": {(model, "random tokens"): file for model in MODELS}}


def test_profiles_are_the_shares_that_are_known_of_all_models(tmp_path):
    own = {"a": np.array([[0.1, 0.9]]), "b": np.array([[0.2], [0.4], [0.6]])}
    files = {name: features_file(tmp_path / f"{name}.h5", shares) for name, shares in own.items()}
    profiles = read_profiles(files, {}, **SETTINGS)
    assert profiles.heads.to_numpy().tolist() == [["a", 0, 0], ["a", 0, 1], ["b", 0, 0], ["b", 1, 0], ["b", 2, 0]]
    column = profiles.columns.index("to itself")
    np.testing.assert_allclose(profiles.shares[:, column], [0.1, 0.9, 0.2, 0.4, 0.6], rtol=1e-6)
    np.testing.assert_allclose(profiles.shares.sum(1), 1, rtol=1e-6)
    (tmp_path / "b.h5").write_bytes(b"damaged")
    with pytest.raises(InputError, match=r"b\.h5"):
        read_profiles(files, {}, **SETTINGS)


def alone(profiles) -> dict[str, list[float]]:
    """The shares that stand alone, of the heads of the first model."""
    columns = profiles.columns[len(profiles.columns) - profiles.alone :]
    return {name: profiles.shares[:HEADS, profiles.columns.index(name)].tolist() for name in columns}


def test_an_accuracy_counts_from_that_of_the_best_fixed_offset(features, tmp_path):
    """Totals are no relations, and a direction in which some model sees no word is not known of all."""
    accuracies = {"obj": [62.0, 10.0, 30.0], "all": [90.0, 9.0, 9.0]}
    profiles = read_profiles(features, relations(tmp_path, accuracies, offset=30), **SETTINGS)
    assert alone(profiles) == {"of obj in trees (dependent to head)": pytest.approx([0.62, 0.3, 0.3])}


def test_the_score_of_a_detector_is_a_share_by_itself(features, tmp_path):
    profiles = read_profiles(features, detectors(tmp_path, [0.9, 0.1, 0.0]), **SETTINGS)
    assert alone(profiles) == {"by detector induction": pytest.approx([0.9, 0.1, 0.0])}


@pytest.mark.parametrize(
    "made",
    [
        lambda folder, values: relations(folder, {"obj": values, "det": [35.0] * HEADS}, offset=30),
        lambda folder, values: detectors(folder, [value / 100 for value in values]),
    ],
    ids=["relations", "detectors"],
)
def test_heads_that_attend_alike_are_told_apart_by_what_else_all_models_have(features, tmp_path, made):
    assert find_kinds(read_profiles(features, {}, **SETTINGS)).tolist() == [1] * HEADS * len(MODELS)
    profiles = read_profiles(features, made(tmp_path, [70.0, 5.0, 4.0]), **SETTINGS)
    first, second, third = find_kinds(profiles)[:HEADS]
    assert first != second == third
    assert find_kinds(profiles).tolist() == [first, second, third] * len(MODELS)
    alike = read_profiles(features, made(tmp_path, [5.0, 5.0, 3.0]), **SETTINGS)
    assert find_kinds(alike).tolist() == [1] * HEADS * len(MODELS)


def test_a_file_of_other_heads_is_refused(features, tmp_path):
    with pytest.raises(InputError, match=r"a\.h5 is of 3 heads, and other results of a are not"):
        read_profiles(features, detectors(tmp_path, [0.5, 0.5]), **SETTINGS)
