"""Coreference as a kind of task: rows are documents with mentions of entities, of which none are drawn."""

from collections.abc import Callable, Iterator
from pathlib import Path

from headtypes.core.errors import InputError
from headtypes.data.kinds.coreference.conll2012 import read_conll2012
from headtypes.data.kinds.coreference.conllu import read_conllu
from headtypes.data.kinds.coreference.records import AnnotatedDocument
from headtypes.data.kinds.protocol import Kind, Rows


class Coreference(Kind):
    """Documents whose coreferent mentions the heads are asked to find (Clark et al. 2019, section 4.3)."""

    name = "coreference"
    row = AnnotatedDocument
    title = "coreference"
    form = "files"
    formats = "CoNLL-U or CoNLL-2012"
    keys = ("max_seq_length",)
    source_keys = ("folder",)

    def rows_of_file(self, data, where, key, columns):
        """The documents of files in CoNLL-U or CoNLL-2012, in their order."""
        read = [document for file in data for document in _reader(file)(file)]
        with_mentions = [document for document in read if document is not None]
        if not with_mentions:
            raise InputError(f"{where} has no document with a mention; give files in which mentions are marked.")
        return Rows(with_mentions, {"documents without mentions": len(read) - len(with_mentions)})


def _reader(file: str) -> Callable[[str], Iterator[AnnotatedDocument]]:
    suffix = Path(file).suffix.lower()
    if suffix == ".conllu":
        return read_conllu
    # OntoNotes' own files end in .v4_gold_conll.
    if suffix.endswith("conll"):
        return read_conll2012
    ending = suffix or "no suffix"
    raise InputError(f"{file}: coreference is read from .conllu (CoNLL-U) or .conll (CoNLL-2012); found {ending}.")
