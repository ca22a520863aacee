"""The registry of the kinds of task, from which the configuration derives its keys and tables their columns."""

from collections.abc import Collection

from headtypes.core.files import StrPath
from headtypes.data.kinds.coreference.kind import Coreference
from headtypes.data.kinds.metrics import Metric
from headtypes.data.kinds.multiple_choice import MultipleChoice
from headtypes.data.kinds.protocol import Kind
from headtypes.data.kinds.question_answering.kind import QuestionAnswering
from headtypes.data.kinds.sentence_pair import SentencePair
from headtypes.data.kinds.text.kind import Text
from headtypes.data.kinds.text_to_text import TextToText
from headtypes.data.kinds.treebank import Treebank
from headtypes.data.records import read_records

KINDS: dict[str, Kind] = {
    QuestionAnswering.name: QuestionAnswering(),
    SentencePair.name: SentencePair(),
    MultipleChoice.name: MultipleChoice(),
    Text.name: Text(),
    TextToText.name: TextToText(),
    Treebank.name: Treebank(),
    Coreference.name: Coreference(),
}

WORLDS = tuple(world for kind in KINDS.values() for world in kind.worlds)

METRICS: dict[str, Metric] = {metric.name: metric for kind in KINDS.values() for metric in kind.metrics}
# Of each kind, the first.
MAIN_METRICS: dict[str, Metric] = {kind.metrics[0].name: kind.metrics[0] for kind in KINDS.values() if kind.metrics}


def counted_by(metrics: Collection[Metric]) -> str:
    """What the rows are called ("questions") of the first kind that has all of these metrics."""
    return next((kind.counted for kind in KINDS.values() if kind.metrics and set(metrics) <= set(kind.metrics)), "rows")


def kinds_with(key: str) -> list[str]:
    """Names of the kinds to which a key of a task, its source or its columns belongs: all, unless some declare it."""
    having = [name for name, kind in KINDS.items() if key in (*kind.keys, *kind.source_keys, *kind.columns)]
    return having or list(KINDS)


def read_rows(path: StrPath, kind: str) -> list:
    """Read the rows of a task of some kind, as `records.write_records` wrote them; errors as in `read_records`."""
    return read_records(path, KINDS[kind].row)
