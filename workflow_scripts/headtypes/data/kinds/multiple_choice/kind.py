"""Multiple choice as a kind of task: rows come from a table's columns, samples are questions rightly answered."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from headtypes.core.errors import InputError, nearest, shortened
from headtypes.data.kinds.protocol import Kind
from headtypes.data.records import ChoiceQuestion, Sample


class MultipleChoice(Kind):
    """Questions with choices; a language model chooses by how likely each is after the question."""

    name = "multiple_choice"
    row = ChoiceQuestion
    form = "table"
    keys = ("columns", "samples", "questions")
    columns = ("question", "choices", "answer", "id")
    # A model for masked words gives no probability of an answer that follows a question.
    head = "causal_lm"
    windows_of_row = 4
    # The question and a choice are one running text, and in a causal layer padding would be a look at what follows.
    without_reading = ("sentences", "uniform_over_padding")

    def of_file(self, data: Any, where: str, key: str, columns: Mapping[str, str] | None) -> list[ChoiceQuestion]:
        """The questions of a table (a pandas.DataFrame), such as JSON Lines.

        columns: those of question, choices and answer and, if there is one, of id. Choices are a list of texts, and the
            answer is the place of the right one, from 0; or, as ARC has them, {"text": texts, "label": names}, and the
            answer is one of these names.
        """
        if data.empty:
            raise InputError(f"{where} has no rows.")
        present = [str(column) for column in data.columns]
        for column in columns.values():
            if column not in present:
                raise InputError(
                    f"{key}: {where} has no column {column}.{nearest(column, present)} It has {', '.join(present)}."
                )
        rows = data.set_axis(present, axis=1).to_dict("records")
        read = []
        for number, row in enumerate(rows, start=1):
            values = {field: row[column] for field, column in columns.items()}
            try:
                read.append(_read(values, str(number - 1)))
            except ValueError as error:
                raise InputError(f"{where}: row {number} {error}") from None
        if len({question.id for question in read}) < len(read):
            raise InputError(f"{key}.id: the column {columns.get('id')} of {where} holds an id more than once.")
        return read

    def of_hub(self, data: Any, where: str, key: str, columns: Mapping[str, str] | None) -> list[ChoiceQuestion]:
        """The questions of a dataset with such columns."""
        return self.of_file(data.to_pandas(), where, key, columns)

    def samples(self, rows: Sequence[ChoiceQuestion], draw: Callable[[int], Sequence[int]]) -> list[Sample]:
        """Questions, each with its right answer."""
        return [Sample(rows[place].id, rows[place].text(rows[place].answer), None) for place in draw(len(rows))]


def _read(values: Mapping[str, Any], number: str) -> ChoiceQuestion:
    """A question from the values of its columns; number: its id where there is none. Raises `ValueError`."""
    question, choices, answer = (values[field] for field in ("question", "choices", "answer"))
    if not isinstance(question, str) or not question.strip():
        raise ValueError("has no text in the column of the question.")
    named = isinstance(choices, Mapping)
    texts = [
        text.strip() if isinstance(text, str) else "" for text in _listed(choices.get("text") if named else choices)
    ]
    names = [_plain(name) for name in _listed(choices.get("label"))] if named else list(map(str, range(len(texts))))
    if len(texts) < 2 or not all(texts) or len(names) != len(texts):
        raise ValueError("needs a list of at least two texts in the column of the choices.")
    if _plain(answer) not in names:
        raise ValueError(f"has the answer {shortened(repr(answer))}; it must be one of {shortened(', '.join(names))}.")
    id_ = _plain(values.get("id", number))
    if not id_:
        raise ValueError("has no id in the column of the ids.")
    return ChoiceQuestion(id_, question.rstrip(), tuple(texts), names.index(_plain(answer)))


def _plain(value: Any) -> str:
    """A name, an id or a place as text; nothing for what is none of these."""
    # pandas turns whole numbers into floats where one is missing.
    value = int(value) if isinstance(value, float) and value.is_integer() else value
    return str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _listed(values: Any) -> list:
    """A list, a tuple or an array as a list; anything else as an empty one."""
    values = values.tolist() if hasattr(values, "tolist") else values
    return list(values) if isinstance(values, list | tuple) else []
