"""Kinds of tokens: the four special ones of the distance feature (Guan et al. 2020, section 3), and ordinary ones."""

import re

import numpy as np

from headtypes.models.tokenizers import added_tokens

# The kind of a token is its position here, counted from 1, and 0 for an ordinary token.
SPECIAL_KINDS = ("cls", "sep", "comma", "period")
# By these marks, tokenizers show whether a token begins a word.
_BOUNDARY_MARK = re.compile("^(##|Ġ|▁)")


def token_kinds(tokenizer) -> np.ndarray:
    """Return the kind of every token of the vocabulary: [token id] int8, 0 or a number of `SPECIAL_KINDS` from 1.

    `[CLS]` and `[SEP]` are cls_token and sep_token, or else bos_token and eos_token if the tokenizer adds them to a
    text; both at once is `[CLS]`. Comma and period are tokens that are this character without a word-boundary mark.
    """
    vocabulary = tokenizer.get_vocab()
    kinds = np.zeros(max(vocabulary.values()) + 1, dtype=np.int8)
    number = {name: index for index, name in enumerate(SPECIAL_KINDS, start=1)}
    for token, token_id in vocabulary.items():
        surface = _BOUNDARY_MARK.sub("", token)
        if surface in (",", "."):
            kinds[token_id] = number["comma" if surface == "," else "period"]
    added = added_tokens(tokenizer)
    for name, token, instead in (
        ("sep", tokenizer.sep_token_id, tokenizer.eos_token_id),
        ("cls", tokenizer.cls_token_id, tokenizer.bos_token_id),
    ):
        if token is not None:
            kinds[token] = number[name]
        elif instead in added:
            kinds[instead] = number[name]
    return kinds


def separates_texts(tokenizer) -> bool:
    """Tell whether a tokenizer puts a `[SEP]`, as `token_kinds` finds it, between two texts that are read together."""
    encoded = tokenizer("a", "b")
    texts = encoded.sequence_ids(0)
    if not {0, 1} <= set(texts):
        return False
    between = encoded["input_ids"][texts.index(0) : texts.index(1)]
    return bool((token_kinds(tokenizer)[between] == 1 + SPECIAL_KINDS.index("sep")).any())
