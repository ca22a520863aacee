"""Windows: what a model reads of a question, pair or text, with sentence and characters of each token; their file."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from jaxtyping import Int8, Int32, Int64
from sentencex import get_sentence_boundaries
from tokenizers import Encoding

from headtypes.core.errors import InputError
from headtypes.core.files import StrPath
from headtypes.core.hdf5_files import Stored, read_arrays

# sentencex 1.0.32 panics on a capital letter followed by white space of more than one byte and a full stop. Each such
# character is replaced by one space, so offsets stay valid.
_WIDE_SPACE = {code: " " for code in range(0x80, 0x3001) if chr(code).isspace()}


@dataclass(frozen=True)
class Windows:
    """All windows of a task's rows (questions, pairs or documents) in the order of rows, as arrays over all tokens.

    offsets: window w has the tokens offsets[w]:offsets[w + 1].
    question: index of each window's row in `question_ids`, the ids of all rows.
    sentence: number of the token's sentence, -1 for a special token. In one text, sentences are 0, 1, 2, ...; in two
        texts, such as a question and its context, the first text is 0, and the second text's sentences are 1, 2, ...
    char_start, char_end: the token is text[char_start:char_end] in the second text; -1 outside of a second text.
    token_type_ids: segment of each token, 0 or 1; None for a model without segments.
    targets: id that a language model is to predict at this token, -1 for none; None for tasks without language model.
    """

    input_ids: Int32[np.ndarray, " token"]
    sentence: Int32[np.ndarray, " token"]
    char_start: Int32[np.ndarray, " token"]
    char_end: Int32[np.ndarray, " token"]
    offsets: Int64[np.ndarray, " bound"]
    question: Int32[np.ndarray, " window"]
    question_ids: Annotated[list[str], Stored(dimension="question")]
    token_type_ids: Int8[np.ndarray, " token"] | None = None
    targets: Int32[np.ndarray, " token"] | None = None

    @property
    def texts(self) -> tuple[list | None, ...]:
        arrays = self.input_ids, self.token_type_ids, self.sentence
        return tuple(None if array is None else np.split(array, self.offsets[1:-1]) for array in arrays)

    def tokens(self, window: int) -> slice:
        return slice(self.offsets[window], self.offsets[window + 1])

    @property
    def predicted_tokens(self) -> np.ndarray:
        """Number of tokens that a language model is to predict in each window, [window] int64."""
        return np.diff(np.append(0, np.cumsum(self.targets >= 0))[self.offsets])

    def __len__(self) -> int:
        return len(self.question)


def joined_windows(rows: Sequence, owners: Sequence[int], **of_tokens: Sequence[np.ndarray] | None) -> Windows:
    """Return the `Windows` of a task's rows, from arrays of single windows.

    owners: index in `rows` of each window's row. of_tokens: {field of `Windows`: an array [token] for each window, or
        None for a model without this field}. A missing `char_start` or `char_end` is filled with -1.
    """
    lengths = list(map(len, of_tokens["input_ids"]))
    outside = [np.full(length, -1) for length in lengths]
    joined = {
        name: np.concatenate(arrays).astype(np.int8 if name == "token_type_ids" else np.int32)
        for name, arrays in {"char_start": outside, "char_end": outside, **of_tokens}.items()
        if arrays is not None
    }
    return Windows(
        **joined,
        offsets=np.cumsum([0, *lengths], dtype=np.int64),
        question=np.array(owners, np.int32),
        question_ids=[row.id for row in rows],
    )


def windows_of_pairs(
    rows: Sequence, owners: Sequence[int], encodings: Sequence[Encoding], texts: Sequence[tuple[str, str]], tokenizer
) -> Windows:
    """Return windows of pairs of texts, such as question and context, from the tokenizer's encoding of each window.

    owners: index of each window's row in `rows`. texts: the two texts of each window.
    """
    boundaries = {second: split_sentences(second) for _, second in texts}
    sentences, starts, ends = [], [], []
    for encoding, pair in zip(encodings, texts, strict=True):
        part, spans = token_spans(encoding, *pair)
        sentences.append(np.where(part == 1, 1 + sentence_of(spans[:, 0], boundaries[pair[1]]), part))
        start, end = np.where(part == 1, spans.T, -1)
        starts.append(start)
        ends.append(end)
    has_types = "token_type_ids" in tokenizer.model_input_names
    types = [encoding.type_ids for encoding in encodings] if has_types else None
    ids = [encoding.ids for encoding in encodings]
    of_tokens = {"input_ids": ids, "token_type_ids": types, "sentence": sentences}
    return joined_windows(rows, owners, **of_tokens, char_start=starts, char_end=ends)


def token_spans(encoding: Encoding, *texts: str) -> tuple[np.ndarray, np.ndarray]:
    """Return each token's text, [token] int, an index into `texts`, and its (start, end) there, [token, 2] int.

    encoding: a tokenizer's result for `texts`. A token is text[start:end], without white space at its ends.
    A special token has -1 in both arrays.
    """
    # No answer begins with white space.
    part = np.array([-1 if number is None else number for number in encoding.sequence_ids], int)
    spans = [
        (-1, -1) if number < 0 else without_space(texts[number], *span)
        for number, span in zip(part, encoding.offsets, strict=True)
    ]
    return part, np.array(spans, int).reshape(-1, 2)


def without_space(text: str, start: int, end: int) -> tuple[int, int]:
    """Return (start, end) of a part of a text less white space at its ends; a part of only white space stays whole."""
    piece = text[start:end]
    if not piece or not (piece[0].isspace() or piece[-1].isspace()) or piece.isspace():
        return start, end
    return end - len(piece.lstrip()), start + len(piece.rstrip())


def split_sentences(text: str) -> np.ndarray:
    """Return start and end of each sentence of an English text, in characters: int32 [sentence, 2], the end exclusive.

    White space after a sentence is part of it; white space alone is no sentence.
    """
    pieces = get_sentence_boundaries("en", text.translate(_WIDE_SPACE))
    spans = [(piece["start_index"], piece["end_index"]) for piece in pieces if not piece["text"].isspace()]
    return np.array(spans, np.int32).reshape(-1, 2)


def sentence_of(offsets: np.ndarray, boundaries: np.ndarray) -> np.ndarray:
    """Return the number of the sentence in which each token starts, [token] int32 from 0.

    offsets: index of each token's first character. boundaries: start and end of each sentence, [sentence, 2] int.
    A token between two sentences belongs to the first of them.
    """
    return np.maximum(np.searchsorted(boundaries[:, 0], offsets, side="right") - 1, 0).astype(np.int32)


def draw_part(rows: list, windows: Windows, questions: int | str, seed: int) -> tuple[list, Windows]:
    """Return at most `questions` random rows, all for "all", in the order of `rows`, and the windows of these rows."""
    if questions == "all" or questions >= len(rows):
        return rows, windows
    drawn = np.sort(np.random.default_rng(seed).choice(len(rows), questions, replace=False))
    is_drawn, lengths = np.isin(windows.question, drawn), np.diff(windows.offsets)
    tokens = np.repeat(is_drawn, lengths)
    names = ("input_ids", "token_type_ids", "sentence", "char_start", "char_end", "targets")
    selected = Windows(
        **{name: array[tokens] for name in names if (array := getattr(windows, name)) is not None},
        offsets=np.cumsum([0, *lengths[is_drawn]]),
        question=np.searchsorted(drawn, windows.question[is_drawn]).astype(np.int32),
        question_ids=[windows.question_ids[index] for index in drawn],
    )
    return [rows[index] for index in drawn], selected


def check_finite(values: np.ndarray, what: str) -> None:
    """Raise `InputError` unless a model's values are finite; what: noun and verb for the message, as `logits are`."""
    if not np.isfinite(values).all():
        raise InputError(f"The model's {what} not finite; run it in float32 or bfloat16, or check its weights.")


def read_windows(path: StrPath) -> Windows:
    return read_arrays(path, Windows)
