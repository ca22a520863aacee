"""Question answering as a kind of task: rows are questions of SQuAD v1.1, samples are question and context."""

from __future__ import annotations

import copy
import math
import re
import string
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from headtypes.core.errors import InputError, shortened
from headtypes.data.tasks import Kind, Sample, StrictRecord, check_same

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from transformers import PreTrainedTokenizerBase

    from headtypes.data.windows import Windows

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")


@dataclass(frozen=True, slots=True)
class Question(StrictRecord):
    """A question about `context`, text of an article; right answers, and index of each one's first character in it."""

    id: str
    article: str
    question: str
    context: str
    answers: tuple[str, ...]
    answer_starts: tuple[int, ...]


class QuestionAnswering(Kind):
    """The kind of task whose rows are questions about contexts; a span of the context is the answer."""

    name = "question_answering"
    row = Question
    title = "question answering"
    form = "json"
    formats = "SQuAD v1.1 JSON, or its rows as JSON Lines or Parquet"
    keys = ("samples", "divided_by", "questions")
    source_keys = ("training_file",)
    truncation = "only_second"
    head = "question_answering"
    window_keys = ("doc_stride", "max_query_length")
    answer_keys = ("max_answer_length",)

    def rows_of_file(self, data, where, key, columns):
        if isinstance(data, list):
            return self.rows_of_hub(data, where, key, columns)
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
                f"{where} is not in the layout of SQuAD v1.1 ({type(error).__name__}: {error}). Its 'data' must be "
                "articles with 'paragraphs'; each paragraph needs 'context' and 'qas', and each of these 'id', "
                "'question' and 'answers' (with 'text' and 'answer_start')."
            ) from error
        return self.rows_of_hub(rows, where, key, columns)

    def rows_of_hub(self, data, where, key, columns):
        # Without a title, each context counts as an article.
        contexts: dict[str, str] = {}
        questions = [_question(row, number, where, contexts) for number, row in enumerate(data, start=1)]
        if not questions:
            raise InputError(f"{where} has no questions; give a SQuAD v1.1 file or split that has some.")
        return questions

    def draw_samples(self, rows, draw):
        return [Sample(rows[index].id, rows[index].question, rows[index].context) for index in draw(len(rows))]

    def cut_windows(self, rows, tokenizer, record, *, max_seq_length, **shape):
        if max_seq_length > record.max_length:
            raise InputError(
                f"Windows of {max_seq_length} tokens are longer than the model's {record.max_length}; "
                "lower windows.max_seq_length."
            )
        return build_windows(rows, tokenizer, max_seq_length=max_seq_length, **shape)

    def answer_targets(self, rows, windows, record):
        return answer_positions(rows, windows)

    def training_targets(self, rows, windows):
        # A window without the whole answer has 0 and 0, the position of `[CLS]`.
        start, end = answer_positions(rows, windows).clip(0).T
        return {"start_positions": start, "end_positions": end}, None

    def answer_logits(self, output, attention_mask):
        import torch

        logits = torch.stack([output.start_logits, output.end_logits], dim=2)
        return logits.masked_fill(attention_mask[:, :, None] == 0, -torch.inf)

    def read_answers(self, output, sentences, *, max_answer_length):
        import numpy as np

        context = np.zeros(output.start_logits.shape, dtype=bool)
        for row, sentence in enumerate(sentences):
            context[row, : len(sentence)] = sentence > 0
        start, end = (logits.float().cpu().numpy() for logits in (output.start_logits, output.end_logits))
        return best_spans(start, end, context, max_answer_length)._asdict()

    def score_answers(self, rows, windows, record, values):
        answers = answer_questions(rows, windows, Spans(**values))
        return answers, score_predictions(rows, answers)

    def mean_scores(self, scores):
        return {metric: float(scores[metric].mean()) for metric in ("exact_match", "f1")} | {"n_questions": len(scores)}


def _question(row: Mapping[str, Any], number: int, source: str, contexts: dict[str, str]) -> Question:
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
        if type(start) is not int:
            raise InputError(
                f"{source}: answer_start of question {name} is {shortened(repr(start))}; it must be a whole number, "
                "without quotes or a decimal point."
            )
        if start < 0 or not context.startswith(answer, start):
            raise InputError(
                f"{source}: the answer {answer!r} of question {name} is not in the context at answer_start "
                f"{shortened(str(start))}. Offsets count characters from 0; correct them, or remove the question."
            )
    texts, starts = zip(*answers, strict=True)
    return Question(name, article, text, context, texts, starts)


def build_windows(
    questions: Sequence[Question],
    tokenizer: PreTrainedTokenizerBase,
    *,
    max_seq_length: int = 384,
    doc_stride: int = 128,
    max_query_length: int = 64,
) -> Windows:
    """Return questions with their contexts as sliding windows, cut as by the original run_squad of BERT.

    max_seq_length: most tokens of a window. max_query_length: most tokens of a question, the first of which are kept.
    doc_stride: tokens from the start of one window's context to the start of the next window's context.
    Every question has at least one window (Devlin et al. 2019, section 4.2; Guan et al. 2020, section 5).
    """
    from headtypes.data.windows import windows_of_pairs

    backend = copy.deepcopy(tokenizer.backend_tokenizer)
    backend.no_truncation()
    backend.no_padding()
    backend.encode_special_tokens = tokenizer.split_special_tokens
    plain, n_special = copy.deepcopy(backend), backend.num_special_tokens_to_add(is_pair=True)
    # What adds special tokens also corrects offsets, which may happen once.
    plain.post_processor = None
    windows, owners = [], []
    for index, question in enumerate(questions):
        asked, context = plain.encode(question.question), plain.encode(question.context)
        asked.truncate(max_query_length)
        room = max_seq_length - n_special - len(asked)
        if room < 1:
            raise InputError(
                f"A window of {max_seq_length} tokens has no room for the context of question {question.id}: the "
                f"question takes {len(asked)} and the special tokens {n_special}; make windows.max_seq_length larger "
                "or max_query_length smaller."
            )
        # Like run_squad, never advance by more than a window holds, so that no token is skipped.
        context.truncate(room, stride=room - min(doc_stride, room))
        for part in (context, *context.overflowing):
            windows.append(backend.post_process(asked, part))
            owners.append(index)
    texts = [(questions[index].question, questions[index].context) for index in owners]
    return windows_of_pairs(questions, owners, windows, texts, tokenizer)


def answer_positions(questions: Sequence[Question], windows: Windows) -> np.ndarray:
    """Return the first and last token of the first reference answer, as indices in each window, [window, 2] int64.

    Both are -1 in a window that does not hold the whole answer.
    """
    import numpy as np

    check_same(questions, windows)
    begin = np.array([question.answer_starts[0] for question in questions])
    stop = begin + [len(question.answers[0]) for question in questions]
    positions = np.full((len(windows), 2), -1)
    for window, question in enumerate(windows.question):
        starts, ends = windows.char_start[windows.tokens(window)], windows.char_end[windows.tokens(window)]
        first = np.flatnonzero((starts >= 0) & (starts <= begin[question]) & (begin[question] < ends))
        last = np.flatnonzero((starts >= 0) & (starts < stop[question]) & (stop[question] <= ends))
        if len(first) and len(last):
            positions[window] = first[0], last[-1]
    return positions


class Spans(NamedTuple):
    """The best answer span of each window: start plus end logit, and index in the window of its first and last token.

    Each field is [window]; indices are from 0. The score is -inf, and both indices are -1, in a window without context.
    """

    score: np.ndarray
    start: np.ndarray
    end: np.ndarray


def best_spans(
    start_logits: np.ndarray, end_logits: np.ndarray, context_mask: np.ndarray, max_answer_length: int = 30
) -> Spans:
    """Return, for each window, the span of context tokens with the largest sum of start and end logit.

    start_logits, end_logits, context_mask: [window, token]; the mask is true on the context, one run of tokens.
    max_answer_length: most tokens of a span. If sums are equal, the span that starts first is taken, then the one that
    ends first. Sums are in float64, so that rounding makes no sums equal.
    """
    import numpy as np

    from headtypes.data.windows import check_finite

    for logits in (start_logits, end_logits):
        check_finite(logits[context_mask], "logits are")
    starts = np.where(context_mask, start_logits.astype(np.float64), -np.inf)
    ends = np.where(context_mask, end_logits.astype(np.float64), -np.inf)
    longest = min(max_answer_length, starts.shape[1])
    ends = np.pad(ends, ((0, 0), (0, longest - 1)), constant_values=-np.inf)
    scores = starts[:, :, None] + np.lib.stride_tricks.sliding_window_view(ends, longest, axis=1)
    scores = scores.reshape(len(scores), -1)
    best = scores.argmax(1)
    start, further = np.divmod(best, longest)
    has_context = context_mask.any(axis=1)
    score = scores[np.arange(len(scores)), best]
    return Spans(score, np.where(has_context, start, -1), np.where(has_context, start + further, -1))


# Of equal scores, the first is taken. The original run_squad tries only the twenty best starts and ends, and, for a
# start in several windows, only the window with most context around it.
def answer_questions(questions: Sequence[Question], windows: Windows, spans: Spans) -> dict[str, str]:
    """Return {id of a question: text of the best span in its windows, or "" if its windows have no context}."""
    import pandas as pd

    if missing := set(range(len(questions))) - set(windows.question.tolist()):
        raise InputError(f"Question {questions[min(missing)].id} has no window; build windows of all these questions.")
    best = pd.Series(spans.score).groupby(windows.question).idxmax().to_numpy()
    has_context, first = spans.score[best] > -math.inf, windows.offsets[best]
    begin, stop = windows.char_start[first + spans.start[best]], windows.char_end[first + spans.end[best]]
    answers = zip(questions, has_context, begin, stop, strict=True)
    return {question.id: question.context[start:end] if found else "" for question, found, start, end in answers}


def score_predictions(questions: Sequence[Question], predictions: Mapping[str, str]) -> pd.DataFrame:
    """Return a table with a row for each question: id, article, exact_match (0 or 100), f1 (0 to 100).

    predictions: {id of a question: answer}; a missing answer, which the official evaluator counts as wrong, raises
    `KeyError`. Each score is the best over reference answers, of normalised texts (Rajpurkar et al. 2016, section 6.1).
    """
    import pandas as pd

    rows = []
    for question in questions:
        predicted = _normalized(predictions[question.id])
        answers = [_normalized(answer) for answer in dict.fromkeys(question.answers)]
        exact_match, f1 = 100.0 * (predicted in answers), 100.0 * max(_f1(predicted, answer) for answer in answers)
        rows.append((question.id, question.article, exact_match, f1))
    return pd.DataFrame(rows, columns=["id", "article", "exact_match", "f1"])


def _normalized(text: str) -> str:
    return " ".join(_ARTICLE.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def _f1(predicted: str, answer: str) -> float:
    words, others = predicted.split(), answer.split()
    common = (Counter(words) & Counter(others)).total()
    return 2 * common / (len(words) + len(others)) if common else 0.0
