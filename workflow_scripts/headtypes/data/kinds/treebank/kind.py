"""Treebanks as a kind of task: rows are the sentences of a CoNLL-U file, of which none are drawn."""

from collections.abc import Mapping
from typing import Any

from headtypes.data.kinds.protocol import Kind
from headtypes.data.kinds.treebank.conllu import read_sentences
from headtypes.data.kinds.treebank.records import Sentence


class Treebank(Kind):
    """Sentences with dependency trees, on which the heads' guesses are scored (Clark et al. 2019, section 4.2)."""

    name = "treebank"
    row = Sentence
    form = "files"
    worlds = ("treebank",)
    keys = ("max_seq_length",)
    source_keys = ("training_file", "test_file", "training_size")

    def of_file(self, data: Any, where: str, key: str, columns: Mapping[str, str] | None) -> list[Sentence]:
        """The sentences of a CoNLL-U file."""
        return [sentence for file in data for sentence in read_sentences(file)]

    def of_world(self, data: Any, world: str, split: str) -> list[Sentence]:
        """The sentences that the world makes, numbered within their split."""
        return [Sentence(id=f"{split}-{number:05d}", **columns) for number, columns in enumerate(data)]
