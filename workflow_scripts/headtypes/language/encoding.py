"""Sentences that are given as words, as a model reads them: those that are too long are left out, not cut."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from headtypes.base.errors import InputError
from headtypes.tasks.encoding import Encoded
from headtypes.tasks.words import encode_words


class EncodedWords(NamedTuple):
    """Those of some sentences that a model can read, in the order given.

    kept:          [sentence] which they are.
    encoded:       as a model reads them.
    word_of_token: of each sentence the word that each token is a piece of, from 0; -1 for special tokens.
    """

    kept: np.ndarray
    encoded: Encoded
    word_of_token: list[list[int]]


def encode_sentences(
    sentences: Sequence[Sequence[str]], tokenizer, max_length: int, what: str, whole: bool = True
) -> EncodedWords:
    """Encode sentences, but those of more tokens than `max_length`, or with a word that has no token.

    sentences: the words of each; what: name of the work, for the message.
    whole: false if a word may have no token.
    Raises `InputError` where no sentence is left.
    """
    kept, input_ids, word_of_token = [], [], []
    for number, words in enumerate(sentences):
        ids, word_of = encode_words(tokenizer, words)
        if len(ids) <= max_length and (not whole or len(set(word_of) - {-1}) == len(words)):
            kept.append(number)
            input_ids.append(ids)
            word_of_token.append(word_of)
    if not kept:
        raise InputError(
            f"{what}: none of {len(sentences)} sentences can be read: each has more than {max_length} tokens, or a "
            "word that the tokenizer leaves out."
        )
    no_kinds = [np.zeros(len(ids), np.int8) for ids in input_ids]
    return EncodedWords(
        np.array(kept, dtype=np.int32), Encoded(input_ids, None, no_kinds, np.zeros(len(kept), bool)), word_of_token
    )


def part_of(encoded: EncodedWords, sentences: slice) -> EncodedWords:
    """Some of the sentences that are kept."""
    whole = encoded.encoded
    part = Encoded(whole.input_ids[sentences], None, whole.kinds[sentences], whole.truncated[sentences])
    return EncodedWords(encoded.kept[sentences], part, encoded.word_of_token[sentences])
