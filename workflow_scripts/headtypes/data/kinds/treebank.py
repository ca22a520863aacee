"""Treebanks as a kind of task: rows are the sentences of a CoNLL-U file, of which none are drawn.

Ranges of a CoNLL-U file (`1-2`) are skipped, and its empty nodes (`1.1`) kept for MISC.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from typing import NamedTuple

from headtypes.core.errors import InputError, shortened
from headtypes.core.files import StrPath, text_of
from headtypes.data.tasks import Kind, StrictRecord, read_records

FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, MISC = 1, 2, 3, 4, 5, 6, 7, 9
_COLUMNS = 10
_NUMBER = re.compile("[0-9]{1,9}")
_NO_WORD = re.compile(r"[0-9]+([-.])[0-9]+")
_MASKED = re.compile(r"_+|\[WORD\]")


@dataclass(frozen=True, slots=True)
class Sentence(StrictRecord):
    """A sentence of a treebank; every tuple has one entry for each word.

    heads, relations: number of each word's head (from 1; 0 for the root), and relation to it, such as `nsubj:pass`.
    upos, xpos, lemmas: universal and language-specific part of speech, and lemma; "" if missing.
    """

    id: str
    words: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]
    upos: tuple[str, ...]
    xpos: tuple[str, ...]
    lemmas: tuple[str, ...]

    def arcs(self) -> Iterator[tuple[int, int, str]]:
        """Yield (number, head's number, relation to the head) for each word; the first word is 1, the root's head 0."""
        for word, (head, relation) in enumerate(zip(self.heads, self.relations, strict=True), start=1):
            yield word, head, relation


class Treebank(Kind):
    """The kind whose rows are sentences with dependency trees, which attention heads guess (Clark et al. 2019, 4.2)."""

    name = "treebank"
    row = Sentence
    title = "treebanks"
    form = "files"
    formats = "CoNLL-U"
    keys = ("max_seq_length",)
    source_keys = ("training_file", "test_file")

    def rows_of_file(self, data, where, key, columns):
        return [sentence for file in data for sentence in read_sentences(file)]


def read_parts(file: StrPath, test: StrPath | None) -> dict[str, list[Sentence]]:
    """Return {"file": sentences} and, if there is a test file, {"test": sentences} of a treebank."""
    paths = {"file": file} | ({"test": test} if test else {})
    return {name: read_records(path, Sentence) for name, path in paths.items()}


def counted_words(sentence: Sentence) -> list[bool]:
    return [relation.partition(":")[0] != "punct" for relation in sentence.relations]


def read_sentences(path: str) -> list[Sentence]:
    """Return the sentences of a CoNLL-U file; a sentence without `# sent_id` has its number, from 1, as its id."""
    sentences = []
    for number, block in enumerate(read_blocks(path), start=1):
        _, name = block.comments.get("sent_id", (None, str(number)))
        columns = (column_values(block, column) for column in (UPOS, XPOS, LEMMA))
        sentences.append(Sentence(name, word_forms(block), *tree_of(block, path), *columns))
    return sentences


class Line(NamedTuple):
    """A line of a CoNLL-U or CoNLL-2012 file: its number in the file, from 1, and the texts of its columns."""

    number: int
    columns: list[str]


@dataclass(slots=True)
class SentenceLines:
    """The lines of one sentence in a CoNLL-U file; `words` has for each word its `Line`: number and texts of columns.

    comments: {key: (number of the line, from 1, value)} of each key's first comment `# key = value`; "" for `# key`.
    empty: (number of words before it, its `Line`) for each empty node, which is a word that the text leaves out.
    """

    comments: dict[str, tuple[int, str]] = field(default_factory=dict)
    words: list[Line] = field(default_factory=list)
    empty: list[tuple[int, Line]] = field(default_factory=list)


def malformed(path: str, line: int, problem: str) -> InputError:
    return InputError(f"{path}, line {line}: {shortened(problem)}.")


def numbered_lines(path: str) -> Iterator[tuple[int, str]]:
    return enumerate(text_of(path).removesuffix("\n").split("\n"), start=1)


def read_blocks(path: str) -> Iterator[SentenceLines]:
    block, last, empty = SentenceLines(), 1, True
    # An empty line ends the last sentence, whether the file has it or not.
    for number, text in chain(numbered_lines(path), [(None, "")]):
        last = number or last
        if text.startswith("#"):
            key, _, value = text[1:].partition("=")
            block.comments.setdefault(" ".join(key.split()), (number, value.strip()))
        elif text:
            _add(block, Line(number, text.split("\t")), path)
        elif block.words:
            check_words(word_forms(block), path, block.words[0].number)
            yield block
            block, empty = SentenceLines(), False
        elif block.comments or block.empty:
            raise malformed(path, last, "the sentence that ends here has no words")
    if empty:
        raise malformed(path, last, "the file has no sentence")


def _add(block: SentenceLines, line: Line, path: str) -> None:
    if len(line.columns) != _COLUMNS:
        problem = f"{len(line.columns)} columns; CoNLL-U has {_COLUMNS}, separated by single tabs"
        raise malformed(path, line.number, problem)
    id_, expected = line.columns[0], len(block.words) + 1
    if _NUMBER.fullmatch(id_):
        if id_ != str(expected):
            raise malformed(path, line.number, f"the id is {id_} where {expected} is expected")
        if not line.columns[FORM]:
            raise malformed(path, line.number, "the word has no form")
        block.words.append(line)
    elif not (match := _NO_WORD.fullmatch(id_)):
        raise malformed(path, line.number, f"the id {id_!r} is not that of a word (1), a range (1-2) or a node (1.1)")
    elif match[1] == ".":
        block.empty.append((len(block.words), line))


def tree_of(block: SentenceLines, path: str) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return each word's head, from 1 (0 for the root), and relation to the head; raise `InputError` without a tree."""
    heads, root = [], None
    for number, columns in block.words:
        head = columns[HEAD]
        if not _NUMBER.fullmatch(head):
            raise malformed(path, number, f"the head {head!r} is not a whole number")
        if int(head) > len(block.words):
            raise malformed(path, number, f"the head {head} is outside of the sentence of {len(block.words)} words")
        if columns[DEPREL] in ("", "_"):
            raise malformed(path, number, "the word has no relation to its head")
        if int(head) == 0:
            if root is not None:
                raise malformed(path, number, f"a second root; the word on line {root} is one already")
            root = number
        heads.append(int(head))
    if root is None:
        raise malformed(path, block.words[0].number, "no word of the sentence that begins here is the root (head 0)")
    try:
        TopologicalSorter({word: (head,) for word, head in enumerate(heads, start=1)}).prepare()
    except CycleError as error:
        first = block.words[min(error.args[1]) - 1]
        raise malformed(path, first.number, "the heads that follow from this word form a cycle") from None
    return tuple(heads), tuple(columns[DEPREL] for _, columns in block.words)


def column_values(block: SentenceLines, column: int) -> tuple[str, ...]:
    return tuple("" if columns[column] == "_" else columns[column] for _, columns in block.words)


def word_forms(block: SentenceLines) -> tuple[str, ...]:
    return tuple(columns[FORM] for _, columns in block.words)


def check_words(words: Sequence[str], path: str, line: int) -> None:
    """Raise `InputError` if a sentence has several words, all masked as `_`; line: the number of its first line."""
    if len(words) > 1 and all(map(_MASKED.fullmatch, words)):
        raise malformed(
            path, line, f"all words of the sentence are {words[0]!r}: they are masked; restore them, or leave it out"
        )
