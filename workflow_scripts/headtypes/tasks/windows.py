"""Question and context as windows that a model can take: sliding, with sentences and character offsets."""

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import h5py
import numpy as np
from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerBase

from headtypes.base.errors import InputError
from headtypes.base.files import canonical_json, replacing, undamaged
from headtypes.tasks.sentences import sentence_of, split_sentences

_TOKEN_ARRAYS = ("input_ids", "token_type_ids", "sentence", "char_start", "char_end")
_ENCODED_AT_ONCE = 1024  # texts, so that the encodings of a large data set never exist together
_CHUNK = 2**16


@dataclass(frozen=True)
class Windows:
    """Windows of all questions in a row, by question, then by position.

    Window `w` has the tokens offsets[w]:offsets[w + 1].

    input_ids       int32 [token]
    token_type_ids  int8 [token], or None for a model without segments
    sentence        int32 [token]: -1 special token, 0 question, from 1 the sentences of the whole context
    char_start      int32 [token], into the context; -1 where the token is not of the context
    char_end        int32 [token], likewise, exclusive
    offsets         int64 [window + 1]
    question        int32 [window], index into `question_ids`
    question_ids    the questions' ids, in their order
    """

    input_ids: np.ndarray
    token_type_ids: np.ndarray | None
    sentence: np.ndarray
    char_start: np.ndarray
    char_end: np.ndarray
    offsets: np.ndarray
    question: np.ndarray
    question_ids: list[str]

    def tokens(self, window: int) -> slice:
        """Where a window's tokens stand in the arrays of tokens."""
        return slice(self.offsets[window], self.offsets[window + 1])

    def __len__(self) -> int:
        """Return the number of windows."""
        return len(self.question)

    def of_questions(self, questions: np.ndarray) -> "Windows":
        """The windows of some questions, [question] rising places in `question_ids`."""
        chosen = np.flatnonzero(np.isin(self.question, questions))
        tokens = np.concatenate([np.arange(self.offsets[window], self.offsets[window + 1]) for window in chosen])
        arrays = {name: getattr(self, name) for name in _TOKEN_ARRAYS}
        return Windows(
            **{name: None if array is None else array[tokens] for name, array in arrays.items()},
            offsets=np.concatenate([[0], np.cumsum(np.diff(self.offsets)[chosen])]),
            question=np.searchsorted(questions, self.question[chosen]).astype(np.int32),
            question_ids=[self.question_ids[place] for place in questions],
        )


class _Tokens(NamedTuple):
    ids: np.ndarray
    start: np.ndarray
    end: np.ndarray


class _Template(NamedTuple):
    """What a tokenizer puts before, between and after the two texts of a pair."""

    ids: list[np.ndarray]
    types: list[np.ndarray]
    question_type: int
    context_type: int


def build_windows(
    questions: Sequence[Mapping],
    tokenizer: PreTrainedTokenizerBase,
    *,
    max_length: int | None = None,
    max_seq_length: int = 384,
    doc_stride: int = 128,
    max_query_length: int = 64,
) -> Windows:
    """Encode questions with their contexts in sliding windows, as the original run_squad of BERT cuts them.

    questions        each with `id`, `question` and `context`.
    tokenizer        a fast one; it is left as it was, and its own truncation and padding do not count.
    max_length            tokens of the longest input that the model takes, where it is known.
    max_seq_length   most tokens in a window, special tokens among them.
    doc_stride       tokens from the start of one window's context to that of the next (run_squad's
                     doc_stride; Hugging Face's `stride` is the overlap that remains).
    max_query_length  a longer question is cut to its first tokens.

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
    contexts = list(dict.fromkeys(question["context"] for question in questions))
    encoded = dict(zip(contexts, _encode(backend, contexts), strict=True))
    sentences = {
        context: 1 + sentence_of(tokens.start, split_sentences(context)) for context, tokens in encoded.items()
    }
    n_special = sum(map(len, template.ids))

    windows, owners = [], []
    asked = _encode(backend, [question["question"] for question in questions])
    for index, (question, tokens) in enumerate(zip(questions, asked, strict=True)):
        ids = tokens.ids[:max_query_length]
        context, sentence = encoded[question["context"]], sentences[question["context"]]
        room = max_seq_length - n_special - len(ids)
        if room < 1:
            raise InputError(
                f"A window of {max_seq_length} tokens has no room for the context of question {question['id']}: the "
                f"question takes {len(ids)} and the special tokens {n_special}; make windows.max_seq_length larger or "
                "max_query_length smaller."
            )
        for cut in _cuts(len(context.ids), room, doc_stride):
            windows.append(_window(template, ids, _Tokens(*(array[cut] for array in context)), sentence[cut]))
            owners.append(index)

    arrays = {name: np.concatenate([one[name] for one in windows]) for name in _TOKEN_ARRAYS}
    if "token_type_ids" not in tokenizer.model_input_names:
        arrays["token_type_ids"] = None
    return Windows(
        **arrays,
        offsets=np.cumsum([0] + [len(one["input_ids"]) for one in windows], dtype=np.int64),
        question=np.array(owners, np.int32),
        question_ids=[question["id"] for question in questions],
    )


def _cuts(n_tokens: int, room: int, doc_stride: int) -> Iterator[slice]:
    """Stretches of a context of `n_tokens`; the last one reaches its end."""
    # run_squad too advances by no more than the room, so that no token falls between two windows.
    for start in range(0, max(n_tokens, 1), min(doc_stride, room)):
        yield slice(start, min(start + room, n_tokens))
        if start + room >= n_tokens:
            return


def _window(template: _Template, question: np.ndarray, context: _Tokens, sentence: np.ndarray) -> dict[str, np.ndarray]:
    """The arrays of one window; `sentence` and `context` are those of its stretch of the context."""

    def join(special: list[np.ndarray], of_question: np.ndarray, of_context: np.ndarray) -> np.ndarray:
        before, between, after = special
        return np.concatenate([before, of_question, between, of_context, after])

    nowhere = [np.full_like(part, -1) for part in template.ids]
    asked = np.full_like(question, -1)
    return {
        "input_ids": join(template.ids, question, context.ids),
        "token_type_ids": join(
            template.types,
            np.full(len(question), template.question_type, np.int8),
            np.full(len(context.ids), template.context_type, np.int8),
        ),
        "sentence": join(nowhere, np.zeros_like(question), sentence),
        "char_start": join(nowhere, asked, context.start),
        "char_end": join(nowhere, asked, context.end),
    }


def _plain_backend(tokenizer: PreTrainedTokenizerBase) -> Tokenizer:
    """Copy of the tokenizer without truncation and padding, which a tokenizer.json may bring along."""
    if not tokenizer.is_fast:
        raise InputError(
            f"The tokenizer of {tokenizer.name_or_path or 'this model'} has no fast form, so it gives no "
            "character offsets; question answering needs a model with a tokenizer.json."
        )
    backend = copy.deepcopy(tokenizer.backend_tokenizer)
    backend.no_truncation()
    backend.no_padding()
    backend.encode_special_tokens = tokenizer.split_special_tokens
    return backend


def _template(backend: Tokenizer) -> _Template:
    """Read off an encoded pair which special tokens and types stand where."""
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


def without_space(text: str, start: int, end: int) -> tuple[int, int]:
    """Start and end in `text` of a token without the space that some tokenizers count to a word's first token.

    With it the token would stand in the preceding sentence, and the space in the answer.
    """
    piece = text[start:end]
    if not piece or not (piece[0].isspace() or piece[-1].isspace()) or piece.isspace():
        return start, end
    return end - len(piece.lstrip()), start + len(piece.rstrip())


def draw_part(rows: list[dict], windows: Windows, questions: int | str, seed: int) -> tuple[list[dict], Windows]:
    """Draw some of the questions with their windows, in their order; all where "all" or no more are asked for."""
    if questions == "all" or questions >= len(rows):
        return rows, windows
    drawn = np.sort(np.random.default_rng(seed).choice(len(rows), questions, replace=False))
    return [rows[place] for place in drawn], windows.of_questions(drawn)


def write_windows(path: str | Path, windows: Windows, provenance: dict) -> None:
    """Write windows as HDF5: one compressed data set with checksums per array, and what made them."""
    arrays = {name: getattr(windows, name) for name in (*_TOKEN_ARRAYS, "offsets", "question")}
    arrays["question_ids"] = np.char.encode(windows.question_ids, "utf-8")
    # The format of HDF5 1.10 has checksums on its own structures too.
    with replacing(path) as temporary, h5py.File(temporary, "w", libver=("v110", "v110")) as file:
        file.attrs["provenance"] = canonical_json(provenance)
        for name, array in arrays.items():
            if array is not None:
                chunk = (min(len(array), _CHUNK),)
                file.create_dataset(name, data=array, chunks=chunk, compression="gzip", shuffle=True, fletcher32=True)


def read_windows(path: str | Path) -> Windows:
    """Read what `write_windows` wrote.

    Raises `InputError` where the file is damaged or is not one of windows.
    """
    with undamaged(path, "no file of windows"):
        with h5py.File(path) as file:
            arrays = {name: data[:] for name, data in file.items()}
        question_ids = np.char.decode(arrays.pop("question_ids"), "utf-8").tolist()
        windows = Windows(**{"token_type_ids": None, **arrays}, question_ids=question_ids)
        of_tokens = [getattr(windows, name) for name in _TOKEN_ARRAYS]
        if {len(array) for array in of_tokens if array is not None} != {windows.offsets[-1]}:
            raise ValueError("its arrays are not of the same tokens")
        if len(windows.offsets) != len(windows.question) + 1:
            raise ValueError("its arrays are not of the same windows")
        return windows
