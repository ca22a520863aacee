"""The kinds of task, each loaded when it is asked for by name, so that a job loads only that of its task."""

import importlib
from collections.abc import Iterator, Mapping

from headtypes.core.files import StrPath
from headtypes.data.kinds.protocol import Kind
from headtypes.data.records import read_records

# Where the class of each kind stands.
_CLASSES = {
    "question_answering": "headtypes.data.kinds.question_answering.kind:QuestionAnswering",
    "sentence_pair": "headtypes.data.kinds.sentence_pair:SentencePair",
    "multiple_choice": "headtypes.data.kinds.multiple_choice:MultipleChoice",
    "text": "headtypes.data.kinds.text.kind:Text",
    "treebank": "headtypes.data.kinds.treebank:Treebank",
    "coreference": "headtypes.data.kinds.coreference.kind:Coreference",
}


def module_of(kind: str) -> str:
    """The name of the module that holds a kind."""
    return _CLASSES[kind].partition(":")[0]


class _Kinds(Mapping[str, Kind]):
    """The kinds by their names, in the order in which documentation lists them."""

    def __init__(self):
        self._loaded: dict[str, Kind] = {}

    def __getitem__(self, name: str) -> Kind:
        if name not in self._loaded:
            module, _, kind = _CLASSES[name].partition(":")
            self._loaded[name] = getattr(importlib.import_module(module), kind)()
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_CLASSES)

    def __len__(self) -> int:
        return len(_CLASSES)


KINDS: Mapping[str, Kind] = _Kinds()


def read_rows(path: StrPath, kind: str) -> list:
    """Read the rows of a task of some kind, as `records.write_records` wrote them; errors as in `read_records`."""
    return read_records(path, KINDS[kind].row)
