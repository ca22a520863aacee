"""The atlas holds what the results hold: maps to the precision that is promised, columns, costs, names."""

import json

import numpy as np
import pandas as pd
import pytest

from headtypes.analyses.relations.analysis import per_head
from headtypes.pages.atlas.page import SAMPLES, gather, numbers_on, pack, pack_divergence, pack_maps
from tests.support.atlases import atlas, attention_in, made_up, maps_of, unpacked, write_relations

WORDS = ["[CLS]", "a", "b", "[SEP]"]


def test_attention_is_kept_to_one_part_in_510_of_the_largest_of_its_row():
    attention = maps_of(3, 2, [str(number) for number in range(17)], seed=0).attention
    # A head that looks nowhere stays dark.
    attention[1, 1] = 0
    found = attention_in(pack(pack_maps(attention)), 3, 2, 17)
    assert (np.abs(found - attention) <= attention.max(-1, keepdims=True) / 510 + 1 / 65535).all()
    assert not found[1, 1].any()


def test_divergences_come_back():
    divergence = np.array([[0, 0.3], [0.3, 0]])
    text, largest = pack_divergence(divergence)
    found = np.frombuffer(unpacked(text), "<u2").reshape(2, 2) / 65535 * largest
    np.testing.assert_allclose(found, divergence, atol=0.3 / 65535)


def test_every_head_has_its_values(tmp_path):
    data = atlas(tmp_path, 2, 4, [WORDS])
    columns = {column["key"]: column for column in data["columns"]}
    assert all(len(column["values"]) == 8 for column in columns.values())
    types = columns["type.qa-kmeans-k4"]
    assert [types["categories"][index]["name"] for index in types["values"][:4]] == [
        *("dense", "diagonal", "dense_vertical", "vertical")
    ]
    assert [category["doubtful"] for category in types["categories"]] == [False, False, False, True]
    assert columns["keeps.samples"]["values"] == list(range(8))
    assert columns["gradient.text.other"]["values"] == [index / 8 for index in range(8)]
    surface = 100 * pd.Series(columns["surface.text.entropy"]["values"])
    assert columns["surface.text.entropy"]["unit"] == "nats"
    assert surface.notna().all()
    # A label names all that the column counts.
    assert columns["surface.text.punctuation"]["label"] == "to comma and period"
    assert columns["surface.text.special"]["label"] == "to [CLS], [SEP], comma and period"
    assert columns["gradient.text.sep"]["values"] == [1e-5] * 8
    kinds = columns["detected"]
    assert [index if index is None else kinds["categories"][index]["name"] for index in kinds["values"]] == [
        *(None, None, "first", "first, induction")
    ] * 2
    assert columns["detector.induction"]["values"] == list(range(8))
    assert not {"gradient.text.punctuation"} & columns.keys()
    assert len(data["features"]["labels"]) == len(data["features"]["values"][0]) == 21
    assert sum(data["features"]["values"][5]) == pytest.approx(1, abs=1e-3)
    assert json.loads(json.dumps(data, allow_nan=False)) == data


def test_costs_are_those_of_conditions_that_do_something(tmp_path):
    data = atlas(tmp_path, 2, 4, [WORDS])
    assert [(cost["condition"], cost["operations"], cost["drops"]) for cost in data["costs"]] == [
        ("zero-dense", {"dense": "zero"}, [{"metric": "F1", "drop": 7.25, "low": 5, "high": 9.5}]),
        ("one-head", {"1-2": "zero"}, [{"metric": "F1", "drop": 0.5, "low": -1, "high": 2}]),
    ]


def test_samples_of_all_tasks_are_shown_in_turn_and_not_too_many():
    maps = {task: [maps_of(1, 1, WORDS, seed) for seed in range(5)] for task in ("qa", "pairs", "text")}
    data = gather(made_up(1, 1), list(maps.items()), {}, distance_bins=16, conditions={})
    shown = [(task, f"sample {seed}") for task in maps for seed in range(2 if task == "text" else 3)]
    assert [(sample["task"], sample["id"]) for sample in data["samples"]] == shown
    assert len(data["packed"]) == SAMPLES


def test_as_many_samples_are_shown_as_keep_the_page_small(monkeypatch):
    maps = [maps_of(2, 2, WORDS, seed) for seed in range(3)]
    one = len(pack(pack_maps(maps[0].attention)))
    monkeypatch.setattr("headtypes.pages.atlas.page.LARGEST", int(2.5 * one))
    data = gather(made_up(2, 2), [("qa", maps)], {}, distance_bins=16, conditions={})
    assert len(data["samples"]) == 2
    monkeypatch.setattr("headtypes.pages.atlas.page.LARGEST", 1)
    assert len(gather(made_up(2, 2), [("qa", maps)], {}, distance_bins=16, conditions={})["samples"]) == 1


def test_analyses_that_were_not_run_are_absent():
    data = gather(made_up(2, 2), [("qa", [maps_of(2, 2, WORDS, 0)])], {}, distance_bins=16, conditions={})
    assert (data["columns"], data["features"], data["main"], data["costs"], data["names"]) == ([], None, None, [], [])


def test_a_relation_is_a_heads_best_where_it_is_farthest_above_the_best_offset(tmp_path):
    accuracies = {"det": (90, 40, 10, 30), "nsubj": (80, 39, 5, 20), "all": (99, 99, 99, 99)}
    rows = [
        (relation, 0, head, direction, accuracy - (direction != "dependent_to_head"))
        for relation, of_heads in accuracies.items()
        for head, accuracy in enumerate(of_heads)
        for direction in ("dependent_to_head", "head_to_dependent")
    ]
    best = [
        ("det", "file", "file", 0, 0, "dependent_to_head", 90, 85, 5),
        ("nsubj", "file", "file", 0, 0, "dependent_to_head", 80, 38, 42),
        ("nsubj", "halves", "halves", None, None, None, 70, 38, 32),
    ]
    data = gather(made_up(1, 4), [], write_relations(tmp_path, rows, best), distance_bins=16, conditions={})
    relation, above = data["columns"]
    names = [None if index is None else relation["categories"][index]["name"] for index in relation["values"]]
    assert names == ["nsubj", "nsubj", None, None]
    assert above["values"] == [42, 1, None, None]
    assert [(name["head"], name["value"], name["above"]) for name in data["names"]] == [(0, 90, 5), (0, 80, 42)]
    assert "det, from dependent to head" in data["names"][0]["name"]


@pytest.mark.parametrize(("relation", "offset"), [("all", 5.0), ("det", 95.0)])
def test_a_treebank_in_which_no_head_stands_out_has_no_columns(tmp_path, relation, offset):
    """Totals are not relations, and fixed offsets may find more than any head does."""
    rows = [(relation, 0, head, "dependent_to_head", 90.0) for head in range(4)]
    best = [(relation, "file", "file", 0, 0, "dependent_to_head", 90.0, offset, 90.0 - offset)]
    write_relations(tmp_path, rows, best)
    assert per_head("trees", tmp_path / "relations.csv", tmp_path / "best.csv") == []


@pytest.mark.parametrize(("lengths", "short"), [([9], 1), ([16, 12], 2), ([17], 0), ([5, 40], 1)])
def test_bins_that_no_two_tokens_are_in_are_named(lengths, short):
    data = numbers_on("qa", np.zeros((2, 21)), np.array(lengths), 16, False)
    far = {
        16 * abs(query - key) // length
        for length in lengths
        for query in range(length)
        for key in range(length)
        if query != key
    }
    assert data["empty"] == [bin for bin in range(16) if bin not in far]
    assert (data["samples"], data["short"]) == (len(lengths), short)
    # The nearest bin is empty in just those that are called short.
    assert (0 in data["empty"]) == (short == len(lengths))
    assert data["labels"][:16] == [str(bin) for bin in range(16)]
