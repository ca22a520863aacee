"""Words masked at random, for models that were trained to guess them (Devlin et al. 2019, section 3.1)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

# Of the ordinary tokens, how many are drawn; of those drawn, how many become the mask token, and how many any token.
_DRAWN, _MASKED, _REPLACED = 0.15, 0.8, 0.1


class Masked(NamedTuple):
    """An input some of whose words are masked.

    input_ids: token ids, [token] int64.
    indices:   the tokens that were drawn and are to be guessed, [drawn] in rising order, masked or not.
    targets:   the ids that stood there, [drawn].
    """

    input_ids: np.ndarray
    indices: np.ndarray
    targets: np.ndarray


def mask_words(
    input_ids: Sequence[int], ordinary: np.ndarray, mask_token: int, vocabulary: np.ndarray, seed: int
) -> Masked:
    """Draw 15 % of the ordinary tokens of an input, at least one if there is any, and hide most of them.

    ordinary: [token] bool; vocabulary: ids of all tokens.
    mask_token: the id that eight in ten of the drawn tokens become; one in ten becomes any token, and one in ten stays.
    """
    rng = np.random.default_rng(seed)
    indices, ids = np.flatnonzero(ordinary), np.array(input_ids, dtype=np.int64)
    drawn = np.sort(rng.permutation(indices)[: max(1, round(_DRAWN * len(indices)))])
    what, replaced = rng.random(len(drawn)), rng.choice(vocabulary, len(drawn))
    targets = ids[drawn]
    hidden = np.where(what < _MASKED + _REPLACED, replaced, targets)
    ids[drawn] = np.where(what < _MASKED, mask_token, hidden)
    return Masked(ids, drawn, targets)
