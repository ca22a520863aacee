"""The baselines of Clark et al. (2019, Table 1): the head is always the word at one offset from the dependent."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from headtypes.analyses.relations.pairs import all_pairs, sentence_of_word
from headtypes.core.table_files import write_csv
from headtypes.data.kinds.treebank import Sentence
from headtypes.data.records import read_records

# Parts of a treebank: the file that is evaluated, its sentences of even and of odd index (from 0), and the test
# file. An offset is chosen on one and scored on another.
FILE, EVEN, ODD, TEST = "file", "even", "odd", "test"
COLUMNS = ("part", "annotation", "relation", "words", "offset", "accuracy")


# The largest offset that is tried, in both directions.
OFFSETS = 3


def measure_offsets(
    sentences: Sequence[Sentence], test: Sequence[Sentence] | None = None, *, offsets: int = OFFSETS
) -> pd.DataFrame:
    """The accuracy of each offset at each relation.

    test: the sentences of the test file, if there is one; offsets: the largest offset, in both directions.
    returns the columns `COLUMNS`: part; annotation and relation, as `pairs.all_pairs` names them; number of words;
        offset; accuracy in percent.
    """
    rows = _rows(sentences, (FILE, EVEN, ODD), offsets)
    if test is not None:
        rows += _rows(test, (TEST,), offsets)
    return pd.DataFrame(rows, columns=list(COLUMNS))


def offsets_up_to(largest: int) -> list[int]:
    """The offsets in both directions; a word is not its own head."""
    return [offset for offset in range(-largest, largest + 1) if offset]


def offset_guesses(sentences: Sequence[Sentence], offset: int) -> np.ndarray:
    """The guess of an offset for each word of all sentences: int64 [word], from 1; -1 outside of the sentence.

    A guess outside of the sentence does not count: it is not moved to the sentence's end, and not to the root.
    """
    lengths = np.array([len(sentence.words) for sentence in sentences], dtype=np.int64)
    starts = np.repeat(np.cumsum(lengths) - lengths, lengths)
    guesses = np.arange(lengths.sum()) - starts + 1 + offset
    return np.where((guesses >= 1) & (guesses <= np.repeat(lengths, lengths)), guesses, -1)


def _rows(sentences: Sequence[Sentence], parts: Sequence[str], offsets: int) -> list[tuple]:
    tried = offsets_up_to(offsets)
    guesses = np.stack([offset_guesses(sentences, offset) for offset in tried], axis=1)
    odd = sentence_of_word(sentences) % 2 == 1
    chosen = {FILE: np.ones_like(odd), TEST: np.ones_like(odd), EVEN: ~odd, ODD: odd}
    pairs = all_pairs(sentences)
    return [
        (part, annotation, relation, len(row.words), offset, accuracy)
        for part in parts
        for annotation, of_annotation in pairs.items()
        for relation, row in ((name, pair.within(chosen[part])) for name, pair in of_annotation.items())
        if len(row.words)
        for offset, accuracy in zip(tried, 100 * row.right(guesses).mean(axis=0), strict=True)
    ]


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    """The job of the rule `measure_offsets`."""
    sentences = read_records(inputs.rows, Sentence)
    test = read_records(inputs.test, Sentence) if inputs.test else None
    write_csv(outputs.offsets, measure_offsets(sentences, test, **spec))
