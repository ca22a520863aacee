"""Questions and their contexts as sliding windows, as the original run_squad of BERT cuts them, and their answers."""

import copy
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerBase

from headtypes.core.errors import InputError
from headtypes.data.kinds.question_answering.squad import Question
from headtypes.data.sentences import sentence_of, split_sentences
from headtypes.data.windows import Windows, check_same, joined_windows, without_space

_ENCODED_AT_ONCE = 1024  # texts, so that not all encodings of a large data set are in memory at once


class _Tokens(NamedTuple):
    ids: np.ndarray
    start: np.ndarray
    end: np.ndarray


class _Template(NamedTuple):
    """The special tokens that a tokenizer puts before, between and after the two texts of a pair."""

    ids: list[np.ndarray]
    types: list[np.ndarray]
    question_type: int
    context_type: int


def build_windows(
    questions: Sequence[Question],
    tokenizer: PreTrainedTokenizerBase,
    *,
    max_length: int | None = None,
    max_seq_length: int = 384,
    doc_stride: int = 128,
    max_query_length: int = 64,
) -> Windows:
    """Questions with their contexts in sliding windows, as the original run_squad of BERT cuts them.

    tokenizer: a fast one; its own truncation and padding are ignored.
    max_length: tokens of the longest input that the model takes; max_seq_length: most tokens in a window.
    doc_stride: tokens from the start of one window's context to that of the next (Hugging Face's `stride` is the
        overlap).
    max_query_length: most tokens of a question; of a longer one, only the first are kept.

    Every question has at least one window. Devlin et al. 2019, section 4.2; Guan et al. 2020, section 5.
    """
    if not questions:
        raise InputError("There are no questions to encode.")
    if max_length is not None and max_seq_length > max_length:
        raise InputError(
            f"Windows of {max_seq_length} tokens are longer than the model's {max_length}; "
            "lower windows.max_seq_length."
        )
    backend = _plain_backend(tokenizer)
    template = _template(backend)
    contexts = list(dict.fromkeys(question.context for question in questions))
    encoded = dict(zip(contexts, _encode(backend, contexts), strict=True))
    sentences = {
        context: 1 + sentence_of(tokens.start, split_sentences(context)) for context, tokens in encoded.items()
    }
    n_special = sum(map(len, template.ids))

    windows, owners = [], []
    asked = _encode(backend, [question.question for question in questions])
    for index, (question, tokens) in enumerate(zip(questions, asked, strict=True)):
        ids = tokens.ids[:max_query_length]
        context, sentence = encoded[question.context], sentences[question.context]
        room = max_seq_length - n_special - len(ids)
        if room < 1:
            raise InputError(
                f"A window of {max_seq_length} tokens has no room for the context of question {question.id}: the "
                f"question takes {len(ids)} and the special tokens {n_special}; make windows.max_seq_length larger or "
                "max_query_length smaller."
            )
        for cut in _cuts(len(context.ids), room, doc_stride):
            windows.append(_window(template, ids, _Tokens(*(array[cut] for array in context)), sentence[cut]))
            owners.append(index)

    ids, types, sentence, *characters = ([window[part] for window in windows] for part in range(5))
    has_types = "token_type_ids" in tokenizer.model_input_names
    names = [question.id for question in questions]
    return joined_windows(ids, types if has_types else None, sentence, owners, names, characters=characters)


def _cuts(n_tokens: int, room: int, doc_stride: int) -> Iterator[slice]:
    """Stretches of a context of `n_tokens`; the last one reaches its end."""
    # Like run_squad, never advance by more than a window holds, so that no token is skipped.
    for start in range(0, max(n_tokens, 1), min(doc_stride, room)):
        yield slice(start, min(start + room, n_tokens))
        if start + room >= n_tokens:
            return


def _window(template: _Template, question: np.ndarray, context: _Tokens, sentence: np.ndarray) -> list[np.ndarray]:
    """The arrays of a window, in the order of `joined_windows`; sentence, context: of its stretch of the context."""

    def join(special: list[np.ndarray], of_question: np.ndarray, of_context: np.ndarray) -> np.ndarray:
        before, between, after = special
        return np.concatenate([before, of_question, between, of_context, after])

    nowhere = [np.full_like(part, -1) for part in template.ids]
    asked = np.full_like(question, -1)
    types = np.full_like(question, template.question_type), np.full_like(context.ids, template.context_type)
    return [
        join(template.ids, question, context.ids),
        join(template.types, *types),
        join(nowhere, np.zeros_like(question), sentence),
        join(nowhere, asked, context.start),
        join(nowhere, asked, context.end),
    ]


def _plain_backend(tokenizer: PreTrainedTokenizerBase) -> Tokenizer:
    """A copy of the tokenizer without the truncation and padding that a tokenizer.json may contain."""
    if not tokenizer.is_fast:
        raise InputError(
            f"The tokenizer of {tokenizer.name_or_path or 'this model'} has no fast version, so it gives no "
            "character offsets; question answering needs a model with a tokenizer.json."
        )
    backend = copy.deepcopy(tokenizer.backend_tokenizer)
    backend.no_truncation()
    backend.no_padding()
    backend.encode_special_tokens = tokenizer.split_special_tokens
    return backend


def _template(backend: Tokenizer) -> _Template:
    """Find the special tokens and token types from an encoded pair."""
    probe = backend.encode("a", "b")
    first = [index for index, sequence in enumerate(probe.sequence_ids) if sequence == 0]
    second = [index for index, sequence in enumerate(probe.sequence_ids) if sequence == 1]
    if not first or not second or first[-1] > second[0]:
        raise InputError(
            "The tokenizer does not encode a pair as the question and then the context, so windows of both "
            "cannot be built; question answering needs another model."
        )
    parts = slice(0, first[0]), slice(first[-1] + 1, second[0]), slice(second[-1] + 1, None)
    ids, types = np.array(probe.ids, np.int32), np.array(probe.type_ids, np.int8)
    return _Template([ids[part] for part in parts], [types[part] for part in parts], types[first[0]], types[second[0]])


def _encode(backend: Tokenizer, texts: list[str]) -> list[_Tokens]:
    """Encode texts without special tokens, with the characters of each token."""
    encoded = []
    for first in range(0, len(texts), _ENCODED_AT_ONCE):
        batch = texts[first : first + _ENCODED_AT_ONCE]
        for text, tokens in zip(batch, backend.encode_batch(batch, add_special_tokens=False), strict=True):
            offsets = [without_space(text, *characters) for characters in tokens.offsets]
            start, end = np.array(offsets, np.int32).reshape(-1, 2).T
            encoded.append(_Tokens(np.array(tokens.ids, np.int32), start, end))
    return encoded


def answer_positions(questions: Sequence[Question], windows: Windows) -> np.ndarray:
    """First and last token of the question's first answer in every window, [window, 2] int64; -1 if it is not whole."""
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
