"""Questions and their contexts as sliding windows, as the original run_squad of BERT cuts them, and their answers."""

import copy
from collections.abc import Sequence

import numpy as np
from transformers import PreTrainedTokenizerBase

from headtypes.core.errors import InputError
from headtypes.data.kinds.question_answering.squad import Question
from headtypes.data.sentences import split_sentences
from headtypes.data.windows import Windows, arrays_of_pair, check_same, joined_windows


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
    if max_length is not None and max_seq_length > max_length:
        raise InputError(
            f"Windows of {max_seq_length} tokens are longer than the model's {max_length}; "
            "lower windows.max_seq_length."
        )
    backend = copy.deepcopy(tokenizer.backend_tokenizer)
    backend.no_truncation()
    backend.no_padding()
    backend.encode_special_tokens = tokenizer.split_special_tokens
    plain, n_special = copy.deepcopy(backend), backend.num_special_tokens_to_add(is_pair=True)
    # What adds special tokens also corrects offsets, which may happen once.
    plain.post_processor = None
    boundaries = {context: split_sentences(context) for context in {question.context for question in questions}}
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
            window = backend.post_process(asked, part)
            windows.append(arrays_of_pair(window, question.context, boundaries[question.context]))
            owners.append(index)
    ids, types, sentence, *characters = zip(*windows, strict=True)
    has_types = "token_type_ids" in tokenizer.model_input_names
    names = [question.id for question in questions]
    return joined_windows(ids, types if has_types else None, sentence, owners, names, characters=characters)


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
