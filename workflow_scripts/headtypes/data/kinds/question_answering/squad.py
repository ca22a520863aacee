"""Questions in SQuAD v1.1 form, from the official JSON or from rows of a Hugging Face dataset."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from headtypes.core.errors import InputError, shortened
from headtypes.core.files import StrPath
from headtypes.data.records import Strict


@dataclass(frozen=True, slots=True)
class Question(Strict):
    """A question about a context, with reference answers and the character of the context at which each starts.

    article: the title of the article that the context is part of.
    """

    id: str
    article: str
    question: str
    context: str
    answers: tuple[str, ...]
    answer_starts: tuple[int, ...]


def questions_of(data: Any, source: StrPath) -> list[Question]:
    """Questions of parsed SQuAD v1.1 JSON, or of a list of rows, in its order; errors as of `questions_from_rows`.

    Rajpurkar et al. 2016, "SQuAD: 100,000+ Questions for Machine Comprehension of Text".
    """
    if isinstance(data, list):
        return questions_from_rows(data, source)
    try:
        rows = [
            {
                "id": qa["id"],
                "title": article.get("title") or f"article {number}",
                "context": paragraph["context"],
                "question": qa["question"],
                "answers": {key: [answer[key] for answer in qa["answers"]] for key in ("text", "answer_start")},
            }
            for number, article in enumerate(data["data"], start=1)
            for paragraph in article["paragraphs"]
            for qa in paragraph["qas"]
        ]
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{source} is not in the layout of SQuAD v1.1 ({type(error).__name__}: {error}). Its 'data' must be "
            "articles with 'paragraphs'; each paragraph needs 'context' and 'qas', and each of these 'id', 'question' "
            "and 'answers' (with 'text' and 'answer_start')."
        ) from error
    return questions_from_rows(rows, source)


def questions_from_rows(rows: Iterable[Mapping[str, Any]], source: StrPath) -> list[Question]:
    """Questions from rows as the dataset `rajpurkar/squad` has them, in their order.

    rows: each with `id` (text, or a whole number), `context`, `question` and `answers`, two equally long lists `text`
        and `answer_start` (characters into the context); and `title`, without which each context is an article of its
        own.
    source: the file or dataset, for the messages.
    Raises `InputError` that names the question and what to do: no text, no answer (SQuAD v2), or an answer that the
    context does not have at its start.
    """
    contexts: dict[str, str] = {}
    questions = [_question(row, number, source, contexts) for number, row in enumerate(rows, start=1)]
    if not questions:
        raise InputError(f"{source} has no questions; give a SQuAD v1.1 file or split that has some.")
    return questions


def _question(row: Mapping[str, Any], number: int, source: StrPath, contexts: dict[str, str]) -> Question:
    """The question of a row; contexts: names of those without a title, which grow with it."""
    try:
        name, context, text = (row[key] for key in ("id", "context", "question"))
        # True would count as 1.
        name = str(name) if type(name) is int else name
        article = row.get("title") or contexts.setdefault(context, f"context {1 + len(contexts)}")
        answers = list(zip(row["answers"]["text"], row["answers"]["answer_start"], strict=True))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"{source}, question {number} is not in the form of SQuAD v1.1: {type(error).__name__} {error}. "
            "It must have id, context, question and answers, with as many entries in text as in answer_start."
        ) from error
    for key, value in {"id": name, "title": article, "context": context, "question": text}.items():
        if not isinstance(value, str) or not value.strip():
            raise InputError(f"{source}, question {number} (id {name!r}): {key} must be text, and not empty.")
    if not answers:
        raise InputError(
            f"{source}: question {name} has no answers. Every question of SQuAD v1.1 has one: give the v1.1 "
            "file instead of v2, or leave out the questions without an answer."
        )
    for answer, start in answers:
        if not isinstance(answer, str) or not answer.strip():
            raise InputError(f"{source}: question {name} has an empty answer; remove it or the question.")
        # True would count as 1.
        if type(start) is not int or start < 0 or not context.startswith(answer, start):
            raise InputError(
                f"{source}: the answer {answer!r} of question {name} is not in the context at answer_start "
                f"{shortened(str(start))}. Offsets count characters from 0; correct them, or remove the question."
            )
    texts, starts = zip(*answers, strict=True)
    return Question(name, article, text, context, texts, starts)
