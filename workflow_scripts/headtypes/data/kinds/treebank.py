"""Treebanks as a kind of task: rows are the sentences of a CoNLL-U file, of which none are drawn."""

from collections.abc import Iterator
from dataclasses import dataclass

from headtypes.data import conllu
from headtypes.data.tasks import Kind, StrictRecord


@dataclass(frozen=True, slots=True)
class Sentence(StrictRecord):
    """A sentence of a treebank; every tuple has one entry for each word.

    heads, relations: number of each word's head (from 1; 0 for the root), and relation to it, as in `nsubj:pass`.
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
        """Yield (number, number of the head, relation) for each word, counted from 1; the root's head is 0."""
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


def read_sentences(path: str) -> list[Sentence]:
    """Return the sentences of a CoNLL-U file; a sentence without `# sent_id` has its number, from 1, as its id."""
    sentences = []
    for number, block in enumerate(conllu.read_blocks(path), start=1):
        _, name = block.comments.get("sent_id", (None, str(number)))
        columns = (conllu.column_values(block, column) for column in (conllu.UPOS, conllu.XPOS, conllu.LEMMA))
        sentences.append(Sentence(name, conllu.word_forms(block), *conllu.tree_of(block, path), *columns))
    return sentences
