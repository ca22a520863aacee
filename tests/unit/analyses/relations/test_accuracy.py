"""Planted heads are found for what they are, and nothing that cannot be guessed is right or wrong."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from headtypes.analyses.relations import analysis
from headtypes.analyses.relations.accuracy import measure_relations
from headtypes.analyses.relations.guesses import DIRECTIONS, ArcGuesses
from headtypes.analyses.relations.measure import Guesses
from headtypes.core.table_files import write_csv
from tests.support.word_maps import read_planted, sentence, tokens_of

FORWARD, BACKWARD = DIRECTIONS
# Each with the subwords of its words: one to five, and sentences of one and of two words.
BANK = [
    (sentence("the cat saw a dog", (2, 3, 0, 5, 3), "det nsubj root det obj"), (1, 2, 1, 1, 5)),
    (
        sentence("a young man ate the old bread", (3, 3, 4, 0, 7, 7, 4), "det amod nsubj root det amod obj"),
        (1, 3, 1, 4, 2, 1, 1),
    ),
    (sentence("yes", (0,), "root"), (3,)),
    (sentence("dogs bark", (2, 0), "nsubj root"), (2, 1)),
    (sentence("bark", (0,), "root"), (1,)),
    (sentence("read the long books there", (0, 4, 4, 1, 1), "root det amod obj advmod"), (1, 1, 5, 2, 1)),
]
SENTENCES = [each for each, _ in BANK]
DETERMINER, PREVIOUS, OBJECT = 0, 1, 2


def looks(sentence, subwords, wanted) -> np.ndarray:
    """Attention of tokens, [token, token], under which each word looks at the word that is wanted, or at `[CLS]`."""
    word_of = np.array(tokens_of(subwords))
    attention = np.zeros((len(word_of), len(word_of)))
    for token, word in enumerate(word_of):
        target = None if word < 0 else wanted(sentence, word)
        at = word_of == target if target is not None else np.arange(len(word_of)) == 0
        # A little everywhere else, a little more on the word itself, which is not a candidate.
        attention[token] = 0.1 / len(word_of) + 0.3 * (word_of == word) / max(1, (word_of == word).sum())
        attention[token] += 0.6 * at / at.sum()
    return attention / attention.sum(-1, keepdims=True)


def head_of_determiner(sentence, word):
    return sentence.heads[word] - 1 if sentence.relations[word] == "det" else None


def previous(sentence, word):
    return word - 1 if word else None


def own_object(sentence, word):
    objects = [
        n
        for n, (head, label) in enumerate(zip(sentence.heads, sentence.relations, strict=True))
        if head == word + 1 and label == "obj"
    ]
    return objects[0] if objects else None


@pytest.fixture(scope="module")
def arcs() -> ArcGuesses:
    tokens = [tokens_of(subwords) for _, subwords in BANK]
    maps = [
        np.stack([looks(*each, wanted) for wanted in (head_of_determiner, previous, own_object)])[None] for each in BANK
    ]
    order = sorted(range(len(BANK)), key=lambda number: len(tokens[number]))
    found = read_planted(Guesses([tokens[number] for number in order]), [maps[number] for number in order])
    found = [found[order.index(number)] for number in range(len(BANK))]
    return ArcGuesses(
        np.arange(len(BANK), dtype=np.int32),
        np.array([len(guess) for guess, *_ in found], np.int32),
        *map(np.concatenate, zip(*found, strict=True)),
    )


@pytest.fixture(scope="module")
def tables(arcs):
    return measure_relations({"file": SENTENCES}, {"file": arcs}, least=3)


def best(tables, relation) -> dict:
    rows = tables.best.query("annotation == 'universal' and relation == @relation and chosen == 'file'")
    (row,) = rows.to_dict("records")
    return row


def test_the_determiner_head_is_the_best_at_determiners(tables):
    row = best(tables, "det")
    assert (row["layer"], row["head"], row["direction"], row["accuracy"]) == (0, DETERMINER, FORWARD, 100)
    assert (row["words"], row["offset"], row["offset_accuracy"]) == (5, 2, 60)
    assert (row["above_offset"], row["visible"], row["visible_accuracy"]) == (40, 5, 100)


def test_a_head_that_finds_objects_only_from_the_verb_is_found_in_that_direction(tables):
    row = best(tables, "obj")
    assert (row["head"], row["direction"], row["accuracy"]) == (OBJECT, BACKWARD, 100)
    rows = tables.heads.query("relation == 'obj' and head == @OBJECT and direction == @FORWARD")
    assert rows["accuracy"].max() < 50
    assert row["forward_above_backward"] == pytest.approx(row["other_accuracy"] - 100)


def test_the_previous_word_head_guesses_the_offset(arcs, tables):
    words = np.concatenate([np.arange(1, length + 1) for length in arcs.length])
    forward, backward = arcs.guess[:, 0, PREVIOUS].T
    np.testing.assert_array_equal(forward[words > 1], words[words > 1] - 1)
    # From head to dependent, the word behind.
    last = np.repeat(arcs.length, arcs.length) == words
    np.testing.assert_array_equal(backward[~last], words[~last] + 1)
    row = best(tables, "amod")
    assert (row["head"], row["direction"], row["accuracy"]) == (PREVIOUS, BACKWARD, 100)
    assert (row["offset"], row["offset_accuracy"], row["above_offset"]) == (1, 100, 0)


def test_totals_count_the_root_which_nobody_finds(tables):
    words = {name: best(tables, name)["words"] for name in ("all", "without punctuation and root")}
    assert words == {"all": 21, "without punctuation and root": 15}
    rows = tables.heads.query("relation == 'all'")
    assert (rows["visible"] == 15).all()
    np.testing.assert_allclose(rows["accuracy"] * 21, rows["visible_accuracy"] * 15)


def test_roots_and_relations_of_few_words_are_no_rows(tables):
    assert set(tables.best.query("annotation == 'universal'")["relation"]) >= {"det", "obj", "nsubj", "amod"}
    assert not set(tables.best["relation"]) & {"root", "advmod"}


def test_the_test_file_is_scored_with_the_choices_of_the_file(arcs):
    swapped = replace(arcs, guess=arcs.guess[:, :, ::-1])
    parts = {"file": SENTENCES, "test": SENTENCES}
    tables = measure_relations(parts, {"file": arcs, "test": swapped}, least=3)
    row = tables.best.query("annotation == 'universal' and relation == 'det' and scored == 'test'").iloc[0]
    # The third head of the test part is the determiner head.
    assert row["head"] == DETERMINER
    assert (
        row["accuracy"]
        == tables.heads.query(
            "annotation == 'universal' and relation == 'det' and part == 'file'"
            " and head == @OBJECT and direction == @FORWARD"
        )["accuracy"].item()
    )
    assert set(tables.best["scored"]) == {"file", "test"}


def test_what_a_causal_model_cannot_guess_is_empty(arcs):
    words = np.concatenate([np.arange(1, length + 1) for length in arcs.length])
    visible = np.stack(
        [
            np.stack([np.ones_like(words), words - 1], -1),
            np.stack([words + 1, np.repeat(arcs.length, arcs.length)], -1),
        ],
        1,
    )[:, None]
    visible = np.where(visible[..., :1] > visible[..., 1:], -1, visible).astype(np.int16)
    causal = replace(arcs, guess=np.where(visible[:, :, None, :, 0] < 0, -1, arcs.guess), visible=visible)
    tables = measure_relations({"file": SENTENCES}, {"file": causal}, least=3)
    # The head of a determiner stands behind it, so that only the head can look at the determiner.
    rows = tables.heads.query("relation == 'det' and annotation == 'universal'")
    assert rows.query("direction == @FORWARD")[["accuracy", "visible_accuracy"]].isna().all(axis=None)
    assert rows.query("direction == @BACKWARD")["accuracy"].notna().all()
    row = best(tables, "det")
    assert row["direction"] == BACKWARD
    assert np.isnan(row["other_accuracy"])
    assert np.isnan(row["forward_above_backward_low"])


def test_best_heads_are_those_of_the_guesses_that_can_be_right(tmp_path):
    """The best head of each relation is counted, but for one of which no head can be right."""
    accuracies = {"det": (50, 10), "nsubj": (np.nan, 40), "expl": (np.nan, np.nan)}
    rows = [
        ("universal", relation, "file", 0, head, FORWARD, accuracy)
        for relation, of_heads in accuracies.items()
        for head, accuracy in enumerate(of_heads)
    ]
    columns = ["annotation", "relation", "part", "layer", "head", "direction", "accuracy"]
    write_csv(tmp_path / "heads.csv", pd.DataFrame(rows, columns=columns))
    *_, counted = analysis.per_set("bank", tmp_path / "heads.csv", None, 0)
    assert counted.statistic == "best head here"
    assert counted.of(np.array([[True, False], [False, True]])).tolist() == [1, 1]
