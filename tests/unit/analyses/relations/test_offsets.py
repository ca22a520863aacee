"""The rows of the table of relations, and the baselines of fixed offsets, against a second count."""

from collections import defaultdict

import pandas as pd
import pytest

from headtypes.analyses.relations.pairs import measure_offsets, offset_guesses, stanford_pairs, universal_pairs
from tests.support.conllu import sentence
from tests.support.demo import demo_file, demo_rows

SENTENCES = [
    sentence(
        "The DET DT 2 det",
        "man NOUN NN 4 nsubj:pass",
        "was AUX VBD 4 aux:pass",
        "seen VERB VBN 0 root",
        ". PUNCT . 4 punct",
    ),
    sentence("Yes INTJ UH 0 root"),
    sentence("He PRON PRP 2 nsubj", "ran VERB VBD 0 root", "home NOUN NN 2 obj"),
]


def test_the_rows_are_labels_universal_relations_with_subtypes_and_totals():
    rows = universal_pairs(SENTENCES)
    assert list(rows) == [
        *("all", "without punctuation", "without punctuation and root"),
        *("aux:*", "aux:pass", "det", "nsubj", "nsubj:*", "nsubj:pass", "obj", "punct", "root"),
    ]
    pairs = {name: list(zip(row.words.tolist(), row.heads.tolist(), strict=True)) for name, row in rows.items()}
    assert pairs["nsubj:*"] == [(1, 4), (6, 2)]
    assert pairs["root"] == [(3, 0), (5, 0), (7, 0)]
    assert pairs["without punctuation and root"] == [(0, 2), (1, 4), (2, 4), (6, 2), (8, 2)]
    assert len(rows["without punctuation"].words) == 8
    assert {name: list(row.words) for name, row in stanford_pairs(SENTENCES).items()} == {
        "det": [0],
        "nsubjpass": [1],
        "auxpass": [2],
        "nsubj": [6],
        "dobj": [8],
    }


def test_an_offset_that_leaves_the_sentence_guesses_nothing_and_never_the_root():
    assert offset_guesses(SENTENCES, 1).tolist() == [2, 3, 4, 5, -1, -1, 2, 3, -1]
    assert offset_guesses(SENTENCES, -2).tolist() == [-1, -1, 1, 2, 3, -1, -1, -1, 1]


def test_offsets_are_scored_on_the_file_its_halves_and_the_test_file():
    table = measure_offsets(SENTENCES, SENTENCES[:1], offsets=2).set_index(["part", "annotation", "relation", "offset"])
    assert table.loc[("file", "universal", "all", 1)].tolist() == [9, pytest.approx(100 * 3 / 9)]
    assert table.loc[("even", "universal", "all", 1)].tolist() == [8, pytest.approx(100 * 3 / 8)]
    assert table.loc[("odd", "universal", "all", 1)].tolist() == [1, 0]
    assert table.loc[("test", "universal", "nsubj:*", 2)].tolist() == [1, 100]
    assert table.loc[("file", "stanford", "dobj", -1)].tolist() == [1, 100]
    assert set(table.index.get_level_values("offset")) == {-2, -1, 1, 2}
    assert "test" not in set(measure_offsets(SENTENCES, offsets=1).part)


def counted(text: str, offsets: range) -> dict[tuple[str, int], float]:
    """The accuracy of each label and of all words, counted from the text of a treebank."""
    total, right = defaultdict(int), defaultdict(int)
    for block in text.strip().split("\n\n"):
        rows = [line.split("\t") for line in block.split("\n") if line.split("\t")[0].isdigit()]
        for row in rows:
            for name in ("all", row[7]):
                total[name] += 1
                for offset in offsets:
                    guess = int(row[0]) + offset
                    right[name, offset] += 1 <= guess <= len(rows) and guess == int(row[6])
    return {(name, offset): 100 * right[name, offset] / total[name] for name in total for offset in offsets if offset}


def of_universal(table: pd.DataFrame) -> dict[tuple[str, int], float]:
    rows = table[(table.part == "file") & (table.annotation == "universal")]
    return {(row.relation, row.offset): row.accuracy for row in rows.itertuples()}


def test_offsets_equal_those_that_a_second_program_counts():
    table = of_universal(measure_offsets(demo_rows("treebank", 300), offsets=3))
    expected = counted(demo_file("treebank").read_text(encoding="utf-8"), range(-3, 4))
    assert {key: table[key] for key in expected} == pytest.approx(expected, abs=1e-12)
