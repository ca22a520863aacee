"""The kinds of task, each loaded when it is asked for by name, so that a job loads only that of its task."""

import importlib
from collections.abc import Iterator, Mapping
from functools import cache

from headtypes.core.files import StrPath
from headtypes.data.kinds.protocol import Kind
from headtypes.data.records import read_records

# The class of each kind, which stands in the module of the kind's name, in the order in which documentation lists them.
_CLASSES = {
    "question_answering": "QuestionAnswering",
    "sentence_pair": "SentencePair",
    "multiple_choice": "MultipleChoice",
    "text": "Text",
    "treebank": "Treebank",
    "coreference": "Coreference",
}


def module_of(kind: str) -> str:
    return f"headtypes.data.kinds.{kind}"


class _Kinds(Mapping[str, Kind]):
    """The kinds by their names."""

    def __getitem__(self, name: str) -> Kind:
        return _loaded(name, _CLASSES[name])

    def __iter__(self) -> Iterator[str]:
        return iter(_CLASSES)

    def __len__(self) -> int:
        return len(_CLASSES)


@cache
def _loaded(name: str, kind: str) -> Kind:
    return getattr(importlib.import_module(module_of(name)), kind)()


KINDS: Mapping[str, Kind] = _Kinds()


def read_rows(path: StrPath, kind: str) -> list:
    """Read the rows of a task of some kind, as `records.write_records` wrote them; errors as in `read_records`."""
    return read_records(path, KINDS[kind].row)
