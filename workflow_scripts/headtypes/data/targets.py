"""A source and its target as an encoder with a decoder reads them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from headtypes.data.sentences import sentence_of, split_sentences
from headtypes.data.windows import without_space
from headtypes.models.model_config import config_of
from headtypes.models.records import ModelRecord

# Types whose decoder begins with the last token of the target, which says its language, whatever config.json names.
_LANGUAGE_LAST = ("mbart", "plbart")


class ReadText(NamedTuple):
    """A source or a target.

    ids:       [token] int64, special tokens included.
    sentences: [token], from 0; -1 for special tokens.
    """

    ids: np.ndarray
    sentences: np.ndarray
    is_cut: bool


def read_text(tokenizer, text: str, max_length: int, *, target: bool = False) -> ReadText:
    """Encode a source or a target, cut to `max_length` tokens; target: whether it is in the target's language."""
    encoded = tokenizer(
        **{"text_target" if target else "text": text},
        truncation=True,
        max_length=max_length,
        padding=False,
        return_offsets_mapping=True,
    )
    starts = np.array([without_space(text, *ends)[0] for ends in encoded["offset_mapping"]], int)
    is_special = np.array([part is None for part in encoded.sequence_ids(0)])
    sentences = np.where(is_special, -1, sentence_of(starts, split_sentences(text)))
    return ReadText(np.array(encoded["input_ids"], np.int64), sentences, bool(encoded.encodings[0].overflowing))


def decoder_inputs(target: Sequence[int], record: ModelRecord) -> np.ndarray:
    """What a decoder reads while it predicts a target, each token after those before it: [token] int64."""
    first = None if record.model_type in _LANGUAGE_LAST else config_of(record).decoder_start_token_id
    return np.array([target[-1] if first is None else first, *target[:-1]], np.int64)
