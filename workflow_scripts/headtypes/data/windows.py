"""Windows of encoded questions and pairs, with the sentence and the character offsets of each token, and their file."""

from collections.abc import Sequence
from dataclasses import dataclass

import h5py
import numpy as np
from sentencex import get_sentence_boundaries
from tokenizers import Encoding

from headtypes.core.errors import InputError
from headtypes.core.files import StrPath, canonical_json, undamaged
from headtypes.core.hdf5_files import new_hdf5

_OF_TOKENS = ("input_ids", "token_type_ids", "sentence", "char_start", "char_end", "targets")
_CHUNK = 2**16
# sentencex 1.0.32 panics on a capital letter followed by white space of more than one byte and a full stop. Each such
# character is replaced by one space, so offsets stay valid.
_WIDE_SPACE = {code: " " for code in range(0x80, 0x3001) if chr(code).isspace()}


@dataclass(frozen=True)
class Windows:
    """Windows of all questions, by question, then by position; window `w` has the tokens offsets[w]:offsets[w + 1].

    A sentence pair is a question with one window, a document one whose windows are its segments.

    input_ids       int32 [token]
    token_type_ids  int8 [token], or None for a model without segments
    sentence        int32 [token]: -1 special token, 0 question, from 1 the sentences of the whole context; of a text,
                    from 0 the sentences of the segment
    char_start, char_end: int32 [token], into the context, the end exclusive; -1 where the token is not of the context
    offsets         int64 [window + 1]
    question        int32 [window], index into `question_ids`, the questions' ids in their order
    targets         int32 [token]: the token that a language model is to predict here; -1 for none. None for a
                    task whose answers are others
    """

    input_ids: np.ndarray
    token_type_ids: np.ndarray | None
    sentence: np.ndarray
    char_start: np.ndarray
    char_end: np.ndarray
    offsets: np.ndarray
    question: np.ndarray
    question_ids: list[str]
    targets: np.ndarray | None = None

    @property
    def texts(self) -> tuple[list | None, ...]:
        arrays = self.input_ids, self.token_type_ids, self.sentence
        return tuple(None if array is None else np.split(array, self.offsets[1:-1]) for array in arrays)

    def tokens(self, window: int) -> slice:
        return slice(self.offsets[window], self.offsets[window + 1])

    @property
    def predicted_tokens(self) -> np.ndarray:
        """Number of tokens of each window that a language model is to predict: [window] int64."""
        return np.array([int((self.targets[self.tokens(window)] >= 0).sum()) for window in range(len(self))], np.int64)

    def __len__(self) -> int:
        return len(self.question)

    def of_questions(self, questions: np.ndarray) -> "Windows":
        """Select the windows of some questions, given by their indices in `question_ids`, [question] in rising
        order.
        """
        chosen = np.flatnonzero(np.isin(self.question, questions))
        ranges = [np.arange(self.offsets[window], self.offsets[window + 1]) for window in chosen]
        tokens = np.concatenate([np.empty(0, np.int64), *ranges])
        arrays = {name: array[tokens] for name in _OF_TOKENS if (array := getattr(self, name)) is not None}
        return Windows(
            **{"token_type_ids": None, **arrays},
            offsets=np.concatenate([[0], np.cumsum(np.diff(self.offsets)[chosen])]),
            question=np.searchsorted(questions, self.question[chosen]).astype(np.int32),
            question_ids=[self.question_ids[index] for index in questions],
        )


def joined_windows(
    rows: Sequence,
    owners: Sequence[int],
    input_ids: Sequence[np.ndarray],
    token_types: Sequence[np.ndarray] | None,
    sentences: Sequence[np.ndarray],
    *,
    characters: tuple[Sequence[np.ndarray], Sequence[np.ndarray]] | None = None,
    targets: Sequence[np.ndarray] | None = None,
) -> Windows:
    """Make windows of a task's rows from the arrays of each, [token].

    owners: index of the row of each window; characters: char_start and char_end, where there is a context.
    """

    def joined(arrays: Sequence[np.ndarray], kind: type = np.int32) -> np.ndarray:
        return np.concatenate([np.empty(0, kind), *arrays]).astype(kind)

    offsets = np.cumsum([0, *map(len, input_ids)], dtype=np.int64)
    start, end = map(joined, characters) if characters else [np.full(offsets[-1], -1, np.int32)] * 2
    return Windows(
        input_ids=joined(input_ids),
        token_type_ids=None if token_types is None else joined(token_types, np.int8),
        sentence=joined(sentences),
        char_start=start,
        char_end=end,
        offsets=offsets,
        question=np.array(owners, np.int32),
        question_ids=[row.id for row in rows],
        targets=None if targets is None else joined(targets),
    )


def arrays_of_pair(encoding: Encoding, second: str, boundaries: np.ndarray) -> list[np.ndarray]:
    """Return token ids and types, sentence, char_start and char_end of a pair of texts, as `joined_windows` takes them.

    second: the second text, whose sentences are numbered from 1; boundaries: of these, from `split_sentences`.
    """
    # None, of special tokens, becomes NaN.
    part = np.array(encoding.sequence_ids, dtype=float)
    of_second = part == 1
    characters = zip(encoding.offsets, of_second, strict=True)
    offsets = np.array([without_space(second, *span) if is_second else (-1, -1) for span, is_second in characters])
    sentence = np.where(part == 0, 0, -1)
    sentence[of_second] = 1 + sentence_of(offsets[of_second, 0], boundaries)
    return [np.array(array, np.int32) for array in (encoding.ids, encoding.type_ids, sentence, *offsets.T)]


def without_space(text: str, start: int, end: int) -> tuple[int, int]:
    """Return start and end of a token without its space, which would belong to the preceding sentence and begin
    answers.
    """
    piece = text[start:end]
    if not piece or not (piece[0].isspace() or piece[-1].isspace()) or piece.isspace():
        return start, end
    return end - len(piece.lstrip()), start + len(piece.rstrip())


def split_sentences(text: str) -> np.ndarray:
    """Return start and end of each sentence of an English text, in characters: int32 [sentence, 2].

    White space after a sentence belongs to it; white space alone is none.
    """
    pieces = get_sentence_boundaries("en", text.translate(_WIDE_SPACE))
    spans = [(piece["start_index"], piece["end_index"]) for piece in pieces if not piece["text"].isspace()]
    return np.array(spans, np.int32).reshape(-1, 2)


def sentence_of(offsets: np.ndarray, boundaries: np.ndarray) -> np.ndarray:
    """Return the sentence in which each token starts, int32 [token] from 0; between two, the first of them.

    offsets: int [token], first character of each; boundaries: int [sentence, 2] from `split_sentences`.
    """
    return np.maximum(np.searchsorted(boundaries[:, 0], offsets, side="right") - 1, 0).astype(np.int32)


def draw_part(rows: list, windows: Windows, questions: int | str, seed: int) -> tuple[list, Windows]:
    """Draw some of the questions with their windows, in their order; all of them for "all", or if there are no more."""
    if questions == "all" or questions >= len(rows):
        return rows, windows
    drawn = np.sort(np.random.default_rng(seed).choice(len(rows), questions, replace=False))
    return [rows[index] for index in drawn], windows.of_questions(drawn)


def check_finite(values: np.ndarray, what: str) -> None:
    """Raise `InputError` where a model's values are not finite; what: subject and verb, such as `logits are`."""
    if not np.isfinite(values).all():
        raise InputError(f"The model's {what} not finite; run it in float32 or bfloat16, or check its weights.")


def check_same(rows: Sequence, windows: Windows) -> None:
    """Raise `InputError` if the windows were built from other questions or pairs than these."""
    if [row.id for row in rows] != windows.question_ids:
        raise InputError("The windows were built from other questions or pairs than these; build them again.")


def write_windows(path: StrPath, windows: Windows, provenance: dict) -> None:
    """Write windows and their provenance as HDF5: one compressed data set with checksums for each array."""
    names = (*_OF_TOKENS, "offsets", "question")
    arrays = {name: getattr(windows, name) for name in names}
    arrays["question_ids"] = np.char.encode(windows.question_ids, "utf-8")
    # The format of HDF5 1.10 also has checksums of its own structures.
    with new_hdf5(path, libver=("v110", "v110")) as file:
        file.attrs["provenance"] = canonical_json(provenance)
        for name, array in arrays.items():
            if array is not None:
                chunk = (min(len(array), _CHUNK),)
                file.create_dataset(name, data=array, chunks=chunk, compression="gzip", shuffle=True, fletcher32=True)


def read_windows(path: StrPath) -> Windows:
    """Read the windows of a file; `InputError` if it is damaged or holds none."""
    with undamaged(path, "is not a file of windows"):
        with h5py.File(path) as file:
            arrays = {name: data[:] for name, data in file.items()}
        question_ids = np.char.decode(arrays.pop("question_ids"), "utf-8").tolist()
        return Windows(**{"token_type_ids": None, **arrays}, question_ids=question_ids)
