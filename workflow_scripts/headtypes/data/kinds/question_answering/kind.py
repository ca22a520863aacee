"""Question answering as a kind of task: rows are questions of SQuAD v1.1, samples are question and context."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from headtypes.data.kinds.protocol import Kind
from headtypes.data.kinds.question_answering.squad import questions_from_rows, questions_of
from headtypes.data.records import Question, Sample


class QuestionAnswering(Kind):
    """Questions about contexts, answered by a span of the context."""

    name = "question_answering"
    row = Question
    form = "json"
    worlds = ("question_answering",)
    keys = ("samples", "questions")
    source_keys = ("training_file", "training_split", "training_size")
    truncation = "only_second"
    head = "question_answering"
    window_keys = ("doc_stride", "max_query_length")
    answer_keys = ("max_answer_length",)

    def of_file(self, data: Any, where: str, key: str, columns: Mapping[str, str] | None) -> list[Question]:
        """The questions of SQuAD's JSON."""
        return questions_of(data, where)

    def of_hub(self, data: Any, where: str, key: str, columns: Mapping[str, str] | None) -> list[Question]:
        """The questions of a dataset with the columns of `rajpurkar/squad`."""
        return questions_from_rows(data, where)

    def of_world(self, data: Any, world: str, split: str) -> list[Question]:
        """The questions of SQuAD's JSON, as the world makes it."""
        return questions_of(data, "the generated world")

    def samples(self, rows: Sequence[Question], draw: Callable[[int], Sequence[int]]) -> list[Sample]:
        """Questions, each with its context."""
        return [Sample(rows[place].id, rows[place].question, rows[place].context) for place in draw(len(rows))]
