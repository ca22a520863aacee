"""The registry of the kinds of task, from which the configuration derives its keys."""

from pathlib import Path

from headtypes.data.kinds.coreference.kind import Coreference
from headtypes.data.kinds.multiple_choice.kind import MultipleChoice
from headtypes.data.kinds.protocol import Kind
from headtypes.data.kinds.question_answering.kind import QuestionAnswering
from headtypes.data.kinds.sentence_pair.kind import SentencePair
from headtypes.data.kinds.text.kind import Text
from headtypes.data.kinds.treebank.kind import Treebank
from headtypes.data.records import read_records

KINDS: dict[str, Kind] = {
    QuestionAnswering.name: QuestionAnswering(),
    SentencePair.name: SentencePair(),
    MultipleChoice.name: MultipleChoice(),
    Text.name: Text(),
    Treebank.name: Treebank(),
    Coreference.name: Coreference(),
}

WORLDS = tuple(world for kind in KINDS.values() for world in kind.worlds)


def kinds_with(key: str) -> list[str]:
    """Names of the kinds to which a key of a task, its source or its columns belongs: all, unless some declare it."""
    having = [name for name, kind in KINDS.items() if key in (*kind.keys, *kind.source_keys, *kind.columns)]
    return having or list(KINDS)


def read_rows(path: str | Path, kind: str) -> list:
    """Read the rows of a task of some kind, as `records.write_records` wrote them; errors as in `read_records`."""
    return read_records(path, KINDS[kind].row)
