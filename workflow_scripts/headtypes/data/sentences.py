"""The sentences of a text, and which of them each token belongs to."""

import numpy as np
from sentencex import get_sentence_boundaries

# sentencex 1.0.32 panics on a capital letter followed by white space of more than one byte and a full stop. Each such
# character is replaced by one space, so offsets stay valid.
_WIDE_SPACE = {code: " " for code in range(0x80, 0x3001) if chr(code).isspace()}


def split_sentences(text: str) -> np.ndarray:
    """Start and end of each sentence of an English text, in characters: int32 [sentence, 2].

    White space after a sentence belongs to it; white space alone is none.
    """
    pieces = get_sentence_boundaries("en", text.translate(_WIDE_SPACE))
    spans = [(piece["start_index"], piece["end_index"]) for piece in pieces if not piece["text"].isspace()]
    return np.array(spans, np.int32).reshape(-1, 2)


def sentence_of(offsets: np.ndarray, boundaries: np.ndarray) -> np.ndarray:
    """The sentence in which each token starts, int32 [token] from 0; between two, the first of them.

    offsets: int [token], first character of each; boundaries: int [sentence, 2] of `split_sentences`.
    """
    return np.maximum(np.searchsorted(boundaries[:, 0], offsets, side="right") - 1, 0).astype(np.int32)
