"""Guesses that count for each relation (Clark et al. 2019, section 4.2), and how well fixed offsets guess (Table 1).

A guess at the head of a word is counted as heads are: 1 is the first word of the sentence, 0 the root, which is never
guessed, and -1 stands for no guess.

Stanford's relations, on which the paper scores heads, are derived from a tree of Universal Dependencies, version 2. The
two annotations differ, so that each derived row says less than its name. Not derived: cc and conj, which depend on
another conjunct in UD; possessive, number, quantmod, npadvmod, tmod, pcomp and dep, which UD divides or names
otherwise.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from headtypes.analyses.relations.guesses import read_parts
from headtypes.core.errors import InputError
from headtypes.core.table_files import write_csv
from headtypes.data.kinds.treebank import Sentence

# Labels that are renamed at most. No subtypes: predet and preconj are subtypes of det and cc in UD.
_RENAMED = {
    "acl": "partmod",
    "acl:relcl": "rcmod",
    "advcl": "advcl",
    "amod": "amod",
    "appos": "appos",
    "aux:pass": "auxpass",
    "ccomp": "ccomp",
    "compound:prt": "prt",
    "cop": "cop",
    "det": "det",
    "nmod:poss": "poss",
    "nsubj": "nsubj",
    "nsubj:pass": "nsubjpass",
    "nummod": "num",
    "obj": "dobj",
    "xcomp": "xcomp",
}
_NEGATIONS = ("not", "n't", "never")
_POSSESSIVE_MARKS = ("'s", "s'")
# The row in which the guess of a possessive mark counts instead of the word's own, as the released code has it.
POSS_OF_MARK = "poss*"


def derived(sentence: Sentence, tagged: bool = True) -> Iterator[tuple[str, int, int]]:
    """Yield Stanford's name, the word whose guess counts, and the right guess, of each pair that the tree contains.

    Words are counted from 1. The word is the dependent, but for `POSS_OF_MARK`, where it is the possessive mark behind
    the dependent, if there is one.
    tagged: whether the treebank has XPOS; if not, there are no rows for aux, mark, prep and pobj, which need it.
    """
    for word, head, label in sentence.arcs():
        if label in _RENAMED:
            yield _RENAMED[label], word, head
        if label == "nmod:poss":
            marked = word < len(sentence.words) and sentence.words[word] in _POSSESSIVE_MARKS
            yield POSS_OF_MARK, word + 1 if marked else word, head
        elif label == "compound" and sentence.upos[word - 1] in ("NOUN", "PROPN") and word < head:
            yield "nn", word, head
        elif label == "advmod":
            # A treebank need not have lemmas.
            lemma = sentence.lemmas[word - 1] or sentence.words[word - 1]
            yield "neg" if lemma.lower() in _NEGATIONS else "advmod", word, head
        elif label in ("aux", "mark") and tagged:
            # The infinitive's `to` is aux in Stanford, mark in UD.
            yield "aux" if label == "aux" or sentence.xpos[word - 1] == "TO" else "mark", word, head
    if tagged:
        yield from _prepositional(sentence)


def _prepositional(sentence: Sentence) -> Iterator[tuple[str, int, int]]:
    """Yield objects of prepositions and, where the object modifies something, prepositions."""
    before: dict[int, list[int]] = {}
    for word, head, label in sentence.arcs():
        if label == "case" and word < head and sentence.xpos[word - 1] != "POS":
            before.setdefault(head, []).append(word)
    for noun, prepositions in sorted(before.items()):
        yield "pobj", noun, prepositions[-1]
        universal, _, subtype = sentence.relations[noun - 1].partition(":")
        if universal in ("obl", "nmod") and subtype != "poss":
            yield "prep", prepositions[0], sentence.heads[noun - 1]


# Totals, since the paper does not say which of them its first row is.
ALL, WITHOUT_PUNCTUATION, WITHOUT_ROOT = "all", "without punctuation", "without punctuation and root"
TOTALS = (ALL, WITHOUT_PUNCTUATION, WITHOUT_ROOT)


@dataclass(frozen=True)
class Pairs:
    """The words that belong to one row of the table, with the heads that are right.

    words: int64 [pair] whose guess counts: indices among the words of all sentences, from 0.
    heads: int64 [pair] the right guess, counted within the sentence from 1; 0 for the root.
    """

    words: np.ndarray
    heads: np.ndarray

    def right(self, guesses: np.ndarray) -> np.ndarray:
        """Tell whether each guess is right: bool [pair, ...]; guesses: int [word, ...] of all words of all
        sentences.
        """
        return guesses[self.words] == self.heads.reshape(-1, *[1] * (guesses.ndim - 1))

    def within(self, chosen: np.ndarray) -> "Pairs":
        """Select the pairs of some words; chosen: bool [word] of all words of all sentences."""
        kept = chosen[self.words]
        return Pairs(self.words[kept], self.heads[kept])


def universal_pairs(sentences: Sequence[Sentence]) -> dict[str, Pairs]:
    """Return the rows of the treebank's own labels, by name, the totals first.

    Each label as it stands (`nsubj`, `nsubj:pass`), each universal relation that has subtypes (`nsubj:*`, with `nsubj`
    among them), and `TOTALS`. Raises `InputError` where a label has the name of another row.
    """
    labels = sorted({label for sentence in sentences for label in sentence.relations})
    for label in labels:
        if label in TOTALS or label.endswith(":*"):
            raise InputError(
                f"The treebank has the relation {label!r}, by which the table names several relations together; rename "
                "it."
            )
    divided = {_universal(label) for label in labels if ":" in label}
    rows = _collected(sentences, lambda sentence: _universal_rows(sentence, divided))
    names = [*TOTALS, *sorted([*labels, *(f"{name}:*" for name in divided)])]
    return {name: rows[name] for name in names if name in rows}


def stanford_pairs(sentences: Sequence[Sentence]) -> dict[str, Pairs]:
    """Return the rows derived from the tree for the comparison with the paper, by Stanford's names (`derived`)."""
    tagged = any(tag for sentence in sentences for tag in sentence.xpos)
    return _collected(sentences, lambda sentence: derived(sentence, tagged))


def all_pairs(sentences: Sequence[Sentence]) -> dict[str, dict[str, Pairs]]:
    """Return all rows, by annotation and name: the treebank's labels, and those derived to be compared with the
    paper.
    """
    return {"universal": universal_pairs(sentences), "stanford": stanford_pairs(sentences)}


def sentence_of_word(sentences: Sequence[Sentence]) -> np.ndarray:
    """Return the sentence of each word: int64 [word], from 0."""
    return np.repeat(np.arange(len(sentences)), [len(sentence.words) for sentence in sentences])


def _universal(label: str) -> str:
    return label.partition(":")[0]


def _universal_rows(sentence: Sentence, divided: Iterable[str]) -> Iterator[tuple[str, int, int]]:
    for word, head, label in sentence.arcs():
        universal = _universal(label)
        yield ALL, word, head
        if universal != "punct":
            yield WITHOUT_PUNCTUATION, word, head
            if head:
                yield WITHOUT_ROOT, word, head
        yield label, word, head
        if universal in divided:
            yield f"{universal}:*", word, head


def _collected(
    sentences: Sequence[Sentence], rows_of: Callable[[Sentence], Iterable[tuple[str, int, int]]]
) -> dict[str, Pairs]:
    words, heads, before = defaultdict(list), defaultdict(list), 0
    for sentence in sentences:
        for name, word, head in rows_of(sentence):
            words[name].append(before + word - 1)
            heads[name].append(head)
        before += len(sentence.words)
    return {name: Pairs(np.array(words[name]), np.array(heads[name])) for name in words}


# Parts of a treebank: the file that is evaluated, its sentences of even and of odd index (from 0), and the test
# file. An offset is chosen on one and scored on another.
FILE, EVEN, ODD, TEST = "file", "even", "odd", "test"
COLUMNS = ("part", "annotation", "relation", "words", "offset", "accuracy")


# The offsets that are tried; a word is not its own head.
OFFSETS = (-3, -2, -1, 1, 2, 3)


def measure_offsets(sentences: Sequence[Sentence], test: Sequence[Sentence] | None = None) -> pd.DataFrame:
    """Return the accuracy of each of `OFFSETS` at each relation.

    test: the sentences of the test file, if there is one.
    The columns are `COLUMNS`: relations as `all_pairs` names them, the number of words, and accuracy in percent.
    """
    rows = _rows(sentences, (FILE, EVEN, ODD))
    if test is not None:
        rows += _rows(test, (TEST,))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def offset_guesses(sentences: Sequence[Sentence], offset: int) -> np.ndarray:
    """Return the guess of an offset for each word of all sentences: int64 [word], from 1; -1 outside of the sentence.

    A guess outside of the sentence does not count: it is not moved to the sentence's end, and not to the root.
    """
    lengths = np.array([len(sentence.words) for sentence in sentences], dtype=np.int64)
    starts = np.repeat(np.cumsum(lengths) - lengths, lengths)
    guesses = np.arange(lengths.sum()) - starts + 1 + offset
    return np.where((guesses >= 1) & (guesses <= np.repeat(lengths, lengths)), guesses, -1)


def all_offset_guesses(sentences: Sequence[Sentence]) -> np.ndarray:
    """Return the guesses of all `OFFSETS`: int64 [word, offset]."""
    return np.stack([offset_guesses(sentences, offset) for offset in OFFSETS], axis=1)


def _rows(sentences: Sequence[Sentence], parts: Sequence[str]) -> list[tuple]:
    guesses = all_offset_guesses(sentences)
    odd = sentence_of_word(sentences) % 2 == 1
    chosen = {FILE: np.ones_like(odd), TEST: np.ones_like(odd), EVEN: ~odd, ODD: odd}
    pairs = all_pairs(sentences)
    return [
        (part, annotation, relation, len(row.words), offset, accuracy)
        for part in parts
        for annotation, of_annotation in pairs.items()
        for relation, row in ((name, pair.within(chosen[part])) for name, pair in of_annotation.items())
        if len(row.words)
        for offset, accuracy in zip(OFFSETS, 100 * row.right(guesses).mean(axis=0), strict=True)
    ]


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    parts = read_parts(inputs.rows, inputs.test)
    write_csv(outputs.offsets, measure_offsets(*parts.values()))
