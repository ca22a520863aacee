"""Sequences of random tokens whose second half repeats the first, and the same with the second half shuffled."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int64
from transformers import PreTrainedTokenizerFast

from headtypes.core.errors import InputError
from headtypes.core.seeds import derive_seed
from headtypes.data.encoding import Encoded

# Of fewer tokens, hardly an order is left.
SHORTEST = 4


@dataclass(frozen=True)
class Sequences:
    """Random tokens `x` of the vocabulary twice over: as `x x`, and as `x y`, where `y` has those of `x` shuffled.

    encoded: first all `x x`, then, in the same order, all `x y`; around each the special tokens of a text.
    start:   special tokens before the first random one.
    length:  tokens of `x`, all different.
    """

    encoded: Encoded
    start: int
    length: int


def draw_sequences(
    tokenizer: PreTrainedTokenizerFast, *, sequences: int, length: int, max_length: int, seed: int, model: str
) -> Sequences:
    """Draw some sequences of random tokens.

    sequences, length: how many `x`, and tokens of each.
    max_length: tokens of the longest input that the model takes; model: its name, for messages.
    seed: with the vocabulary, it alone determines the tokens; more sequences begin with the same ones.

    Special and added tokens are not drawn. No token of `y` stands where it stands in `x`, or one place before, so that
    neither the token at the same place of `x` nor the next one is the token itself.
    Raises `InputError` where `x` is shorter than `SHORTEST`, the vocabulary has fewer tokens than `x`, or the model
    takes no input of this length.
    """
    if length < SHORTEST:
        raise InputError(f"{model}: half a sequence needs at least {SHORTEST} tokens, not {length}.")
    ordinary = ordinary_tokens(tokenizer)
    before, after = frame_of(tokenizer)
    longest = min(len(ordinary), (max_length - len(before) - len(after)) // 2)
    if length > longest:
        raise InputError(
            f"{model}: half a sequence cannot have {length} different tokens: the vocabulary has {len(ordinary)}, and "
            f"the longest input {max_length} with special ones; at most {longest} can be drawn."
        )
    repeated, shuffled = [], []
    for number in range(sequences):
        generator = np.random.default_rng(derive_seed(seed, number))
        drawn = generator.choice(ordinary, length, replace=False)
        repeated.append([*before, *drawn.tolist(), *drawn.tolist(), *after])
        shuffled.append([*before, *drawn.tolist(), *drawn[_shuffle(length, generator)].tolist(), *after])
    input_ids = repeated + shuffled
    return Sequences(as_encoded(input_ids, tokenizer), len(before), length)


def ordinary_tokens(tokenizer: PreTrainedTokenizerFast) -> Int64[np.ndarray, " token"]:
    """The ids of all tokens of the vocabulary that are neither special nor added, in ascending order."""
    others = {*tokenizer.all_special_ids, *tokenizer.get_added_vocab().values()}
    return np.array(sorted(set(tokenizer.get_vocab().values()) - others))


def frame_of(tokenizer: PreTrainedTokenizerFast) -> tuple[list[int], list[int]]:
    """The special tokens before and after a text."""
    # The tokenizer's own file may specify truncation and padding, so both are always set.
    text = tokenizer("a", return_special_tokens_mask=True, truncation=False, padding=False)
    inside = np.flatnonzero(np.array(text["special_tokens_mask"]) == 0)
    return text["input_ids"][: inside[0]], text["input_ids"][inside[-1] + 1 :]


def as_encoded(input_ids: list[list[int]], tokenizer: PreTrainedTokenizerFast) -> Encoded:
    """Token ids as models read them; no token is of a kind of its own."""
    token_types = [[0] * len(ids) for ids in input_ids] if "token_type_ids" in tokenizer("a") else None
    kinds = [np.zeros(len(ids), np.int8) for ids in input_ids]
    return Encoded(input_ids, token_types, kinds, np.zeros(len(input_ids), bool))


def _shuffle(length: int, generator: np.random.Generator) -> np.ndarray:
    """A random order of all places, of which none has itself or the next place in it."""
    index = np.arange(length)
    # About one order in seven is such a one.
    while True:
        order = generator.permutation(length)
        if not np.isin(order - index, (0, 1)).any():
            return order
