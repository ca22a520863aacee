"""Multiple choice as a kind of task: rows come from a table's columns, samples are questions rightly answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from headtypes.core.errors import InputError, shortened
from headtypes.data.tasks import ID, DataColumn, Kind, Sample, StrictRecord, checked_table, read_ids


@dataclass(frozen=True, slots=True)
class ChoiceQuestion(StrictRecord):
    """A question, or the beginning of a text, with its possible answers and the index of the right one, from 0."""

    id: str
    question: str
    choices: tuple[str, ...]
    answer: int

    def text(self, choice: int) -> str:
        return f"{self.question} {self.choices[choice]}"


class MultipleChoice(Kind):
    """The kind of task whose rows are questions with choices; models answer by the likelihood of each choice."""

    name = "multiple_choice"
    row = ChoiceQuestion
    title = "multiple choice"
    form = "table"
    formats = "JSONL or Parquet"
    keys = ("columns", "samples", "divided_by", "questions")
    columns: ClassVar = {
        "question": DataColumn("question", "Column of the question."),
        "choices": DataColumn("choices", "Column of the list of answers from which one is chosen."),
        "answer": DataColumn("answer", "Column of the right answer's index in the list, from 0."),
        "id": ID,
    }
    # A model for masked words gives no probability of an answer that follows a question.
    head = "causal_lm"
    # The question and a choice are one running text, and in a causal layer padding would be a look at what follows.
    without_reading = ("sentences", "uniform_over_padding")

    def rows_of_file(self, data, where, key, columns):
        # Choices are texts, and the answer an index from 0; or choices are {"text": texts, "label": names}, and the
        # answer one of the names (ARC).
        table = checked_table(data, where, key, columns.values())
        ids = read_ids(table, where, columns.get("id"))
        rows = zip(ids, *(table[columns[field]] for field in ("question", "choices", "answer")), strict=True)
        read = []
        for number, row in enumerate(rows, start=1):
            try:
                read.append(_read(*row))
            except ValueError as error:
                raise InputError(f"{where}: row {number} {error}") from None
        return read

    def draw_samples(self, rows, draw):
        return [Sample(rows[index].id, rows[index].text(rows[index].answer), None) for index in draw(len(rows))]

    def cut_windows(self, rows, tokenizer, record, *, max_seq_length):
        import numpy as np

        from headtypes.data.windows import joined_windows, sentence_of, split_sentences, token_spans

        max_length = min(record.max_length, max_seq_length)
        texts = [question.text(choice) for question in rows for choice in range(len(question.choices))]
        question_of_text = [index for index, question in enumerate(rows) for _ in question.choices]
        encoded = tokenizer(texts, truncation=False, padding=False, verbose=False)
        ids, sentences, targets = [], [], []
        for index, text, encoding in zip(question_of_text, texts, encoded.encodings, strict=True):
            question, tokens = rows[index], np.array(encoding.ids)
            part, spans = token_spans(encoding, text)
            ordinary, ends = part == 0, np.array(encoding.offsets)[:, 1]
            in_choice = ordinary & (ends > len(question.question))
            sentence = np.where(ordinary, sentence_of(spans[:, 0], split_sentences(text)), -1)
            if not in_choice.any():
                raise InputError(f"question {question.id}: one of its choices has no tokens; leave it out of the data.")
            # What is too long loses the first tokens of its question.
            kept, of_question = np.ones(len(tokens), bool), np.flatnonzero(ordinary & ~in_choice)
            kept[of_question[: max(0, len(tokens) - max_length)]] = False
            if not kept[of_question].any():
                raise InputError(
                    f"question {question.id}: its choice {text[len(question.question) + 1 :][:40]!r} leaves no room "
                    f"for the question in {max_length} tokens; leave it out of the data, or make "
                    "windows.max_seq_length larger."
                )
            wanted = np.where(np.append(in_choice[1:], False), np.append(tokens[1:], -1), -1)
            ids.append(tokens[kept])
            sentences.append(sentence[kept])
            targets.append(wanted[kept])
        types = list(map(np.zeros_like, ids)) if "token_type_ids" in tokenizer.model_input_names else None
        return joined_windows(
            rows, question_of_text, input_ids=ids, token_type_ids=types, sentence=sentences, targets=targets
        )

    def answer_targets(self, rows, windows, record):
        import numpy as np

        right = np.concatenate([np.arange(len(row.choices)) == row.answer for row in rows])
        return np.where(right, windows.predicted_tokens, -1)[:, None]

    def score_answers(self, rows, windows, record, values):
        """Return {id of a question: text of its likeliest choice}, and a table with a row for each question in `rows`.

        values: {"loss": negative log-likelihood in nats, summed over tokens, of all choices, question by question}.
        windows, record: not used. Columns of the table:
        - id; answer: index of the right choice, from 0 like all indices;
        - predicted: index of the choice with the least loss; correct: 100 if it is the right choice, else 0;
        - predicted_normalised, correct_normalised: the same for the least loss per character (`acc_norm` of the
          Language Model Evaluation Harness);
        - log_likelihood: that of the right choice, in nats.
        """
        import numpy as np
        import pandas as pd

        losses = np.split(values["loss"], np.cumsum([len(row.choices) for row in rows])[:-1])
        by_length = [loss / list(map(len, row.choices)) for row, loss in zip(rows, losses, strict=True)]
        table = pd.DataFrame({"id": [row.id for row in rows], "answer": [row.answer for row in rows]})
        table["predicted"], table["predicted_normalised"] = (  # of equal choices, the first
            list(map(np.argmin, these)) for these in (losses, by_length)
        )
        for name in ("", "_normalised"):
            table[f"correct{name}"] = 100.0 * (table[f"predicted{name}"] == table["answer"])
        table["log_likelihood"] = [-loss[row.answer] for row, loss in zip(rows, losses, strict=True)]
        answers = {row.id: row.choices[number] for row, number in zip(rows, table["predicted"], strict=True)}
        return answers, table

    def mean_scores(self, scores):
        columns = {"accuracy": "correct", "accuracy_normalised": "correct_normalised"}
        means = {metric: float(scores[column].mean()) for metric, column in columns.items()}
        return {**means, "n_questions": len(scores)}


def _read(id_: str, question: Any, choices: Any, answer: Any) -> ChoiceQuestion:
    if not isinstance(question, str) or not question.strip():
        raise ValueError("has no text in the column of the question.")
    named = isinstance(choices, Mapping)
    texts = [
        text.strip() if isinstance(text, str) else "" for text in _listed(choices.get("text") if named else choices)
    ]
    names = [_plain(name) for name in _listed(choices.get("label"))] if named else list(map(str, range(len(texts))))
    if len(texts) < 2 or not all(texts) or len(names) != len(texts):
        raise ValueError("needs a list of at least two texts in the column of the choices.")
    if not all(names) or len(set(names)) < len(names):
        raise ValueError("needs a name of its own for each choice, text or a whole number.")
    if _plain(answer) not in names:
        raise ValueError(f"has the answer {shortened(repr(answer))}; it must be one of {shortened(', '.join(names))}.")
    return ChoiceQuestion(id_, question.rstrip(), tuple(texts), names.index(_plain(answer)))


def _plain(value: Any) -> str:
    # pandas turns whole numbers into floats where one is missing.
    value = int(value) if isinstance(value, float) and value.is_integer() else value
    return str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _listed(values: Any) -> list:
    values = values.tolist() if hasattr(values, "tolist") else values
    return list(values) if isinstance(values, list | tuple) else []
