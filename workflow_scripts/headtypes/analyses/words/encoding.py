"""Words that are given already split, as a model reads them: `[CLS] words [SEP]`, joined by single spaces."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from headtypes.core.errors import InputError
from headtypes.data.encoding import Encoded


def encode_words(tokenizer, words: Sequence[str]) -> tuple[list[int], list[int]]:
    """The tokens of some words, and which word each token is a subword of.

    returns input_ids, with the special tokens that the tokenizer adds to a text; and [token] the word, from 0, or -1
        for a special token. A word for which the tokenizer has no subword is that of no token.
    """
    # Each word on its own, as text: some tokenizers refuse words that are already split.
    mark = " " if _needs_space(tokenizer) else ""
    subwords = tokenizer([mark + word for word in words], add_special_tokens=False, truncation=False, padding=False)
    before, behind = special_tokens(tokenizer)
    input_ids = [*before, *(subword for of_word in subwords["input_ids"] for subword in of_word), *behind]
    word_of = [number for number, of_word in enumerate(subwords["input_ids"]) for _ in of_word]
    return input_ids, [*[-1] * len(before), *word_of, *[-1] * len(behind)]


def special_tokens(tokenizer) -> tuple[list[int], list[int]]:
    """The special tokens that a tokenizer puts before a text, and those that it puts behind."""
    with_ends = tokenizer("a", truncation=False, padding=False)["input_ids"]
    text = tokenizer("a", add_special_tokens=False, truncation=False, padding=False)["input_ids"]
    before = next(start for start in range(len(with_ends)) if with_ends[start : start + len(text)] == text)
    return with_ends[:before], with_ends[before + len(text) :]


def _needs_space(tokenizer) -> bool:
    """Whether words have the subwords that they have in a text only if a space stands before them (byte-level ones)."""
    text, *alone = (tokenizer(text, add_special_tokens=False)["input_ids"] for text in ("a b", "a", "b"))
    return text != [subword for of_word in alone for subword in of_word]


class EncodedWords(NamedTuple):
    """Those of some sentences that a model can read, in the order given.

    kept:          [sentence] which they are.
    left_out:      how many are not among them, by the reason.
    encoded:       as a model reads them.
    word_of_token: of each sentence the word that each token is a subword of, from 0; -1 for special tokens.
    """

    kept: np.ndarray
    encoded: Encoded
    word_of_token: list[list[int]]
    left_out: dict[str, int]


def encode_sentences(
    sentences: Sequence[Sequence[str]], tokenizer, max_length: int, what: str, whole: bool = True
) -> EncodedWords:
    """Encode sentences, but those of more tokens than `max_length`, or with a word that has no token.

    sentences: the words of each; what: name of the work, for the message.
    whole: false if a word may have no token.
    Raises `InputError` where no sentence is left.
    """
    kept, input_ids, word_of_token = [], [], []
    left_out = Counter()
    for number, words in enumerate(sentences):
        ids, word_of = encode_words(tokenizer, words)
        if len(ids) > max_length:
            left_out[f"more than {max_length} tokens"] += 1
        elif whole and len(set(word_of) - {-1}) < len(words):
            left_out["a word for which the tokenizer has no token"] += 1
        else:
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
        np.array(kept, dtype=np.int32),
        Encoded(input_ids, None, no_kinds, np.zeros(len(kept), bool)),
        word_of_token,
        left_out,
    )


def part_of(encoded: EncodedWords, start: int, stop: int) -> EncodedWords:
    """Some of the sentences that are kept."""
    part = encoded.encoded.of_some(range(start, stop))
    return EncodedWords(encoded.kept[start:stop], part, encoded.word_of_token[start:stop], {})
