"""All kinds of task at once. Whoever imports it depends on each of them."""

from collections.abc import Collection

from headtypes.data.kinds.coreference.kind import Coreference
from headtypes.data.kinds.metrics import Metric
from headtypes.data.kinds.multiple_choice import MultipleChoice
from headtypes.data.kinds.protocol import Kind
from headtypes.data.kinds.question_answering.kind import QuestionAnswering
from headtypes.data.kinds.sentence_pair import SentencePair
from headtypes.data.kinds.text.kind import Text
from headtypes.data.kinds.treebank import Treebank

ALL_KINDS: tuple[type[Kind], ...] = (QuestionAnswering, SentencePair, MultipleChoice, Text, Treebank, Coreference)


def counted_by(metrics: Collection[Metric]) -> str:
    """What the rows are called ("questions") of the first kind that has all of these metrics."""
    return next((kind.counted for kind in ALL_KINDS if kind.metrics and set(metrics) <= set(kind.metrics)), "rows")


def kinds_with(key: str) -> list[str]:
    """Names of the kinds to which a key of a task, its source or its columns belongs: all, unless some declare it."""
    having = [kind.name for kind in ALL_KINDS if key in (*kind.keys, *kind.source_keys, *kind.columns)]
    return having or [kind.name for kind in ALL_KINDS]
