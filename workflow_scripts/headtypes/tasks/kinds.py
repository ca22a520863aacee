"""The registry of the kinds of task, from which the configuration derives its keys."""

from pathlib import Path

from headtypes.tasks.coreference.kind import Coreference
from headtypes.tasks.multiple_choice.kind import MultipleChoice
from headtypes.tasks.protocol import Kind
from headtypes.tasks.question_answering.kind import QuestionAnswering
from headtypes.tasks.records import read_records
from headtypes.tasks.sentence_pair.kind import SentencePair
from headtypes.tasks.text.kind import Text
from headtypes.tasks.treebank.kind import Treebank

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
