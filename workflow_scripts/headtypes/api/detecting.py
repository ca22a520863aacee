"""Which heads of a loaded model attend by position, or to tokens that have stood before."""

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from headtypes.analyses.detectors.analysis import LEAST, LENGTH, SEQUENCES
from headtypes.analyses.detectors.measure import draw_sequences, read_detectors, scores_of
from headtypes.analyses.detectors.results import DETECTORS, detector_table
from headtypes.api.arguments import check_readable
from headtypes.attention.one_pass import read_attention
from headtypes.attention.reducers import Block, PerSample
from headtypes.core.errors import InputError
from headtypes.models.model_config import body_of, longest_input

# Gets the ids of the tokens [token], and returns which keys each row is to look at, bool [token, token].
Detector = Callable[[np.ndarray], np.ndarray]


def detect_heads(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerFast,
    *,
    sequences: int = SEQUENCES,
    length: int = LENGTH,
    least: float = LEAST,
    seed: int = 0,
    own: Mapping[str, Detector] | None = None,
    max_length: int | None = None,
    batch_tokens: int = 4096,
) -> pd.DataFrame:
    """Test every head of a loaded model by every detector, on random tokens (Olsson et al. 2022).

    model:  in evaluation mode, on any device; afterwards it is as before.
    sequences, length: how many sequences are drawn, and tokens of half of one.
    least:  share of its attention by which a head that is detected exceeds the null.
    own:    detectors of your own, by name: functions that get the ids of a sequence `x x`, int [token], and return
        which keys such a head looks at from each row, bool [row, key]; rows without any do not count. The null is what
        it would give to as many of the other keys that the row may look at.
    max_length, batch_tokens: tokens of the longest input, by default what model and tokenizer take, and of a batch.
    returns one row for each detector, layer and head (from 0), as `detectors.results.detector_table`: score, null,
        difference with its interval, p, corrected_p, detected.
    Raises `InputError` where sequences of this length cannot be drawn, the model's heads cannot be read, or a detector
    of your own has the name of another, or returns something else.
    """
    check_readable(model, tokenizer)
    name, max_length = type(model).__name__, max_length or longest_input(model.config, tokenizer)
    drawn = draw_sequences(tokenizer, sequences=sequences, length=length, max_length=max_length, seed=seed, model=name)
    what = f"{name} on random tokens"
    scores = read_detectors(body_of(model), drawn, batch_tokens=batch_tokens, what=what)
    if own:
        if known := sorted(set(own) & set(DETECTORS)):
            raise InputError(f"There is a detector {known[0]} already; give yours another name.")
        # Of `x x` alone.
        read = drawn.encoded.of_some(range(sequences))
        wanted = [
            np.stack([_wanted(title, look, np.array(ids)) for ids in read.input_ids]) for title, look in own.items()
        ]
        reducer = OwnTargets(wanted)
        (found,) = read_attention(body_of(model), read, [reducer], batch_tokens=batch_tokens, what=what)
        pairs = {title: (found[..., 2 * at], found[..., 2 * at + 1]) for at, title in enumerate(own)}
        scores = pd.concat([scores, scores_of(pairs)], ignore_index=True)
    return detector_table(scores, least=least, seed=seed)


class OwnTargets(PerSample):
    """A reducer of the score of each detector of a user's own and, behind it, that under its null (`detect_heads`)."""

    def __init__(self, wanted: list[np.ndarray]):
        """wanted: of each detector, [sequence, row, key] bool."""
        super().__init__(2 * len(wanted))
        self._wanted = [torch.from_numpy(masks) for masks in wanted]

    def add(self, block: Block) -> None:
        """Add what the rows of a block give to the keys that are wanted, and would give to them as to others."""
        samples, attention = self.batch.samples[block.group.samples], block.attention
        allowed = torch.ones_like(attention[:, :1], dtype=torch.bool) if block.mask is None else block.mask
        for number, of_all in enumerate(self._wanted):
            in_batch = of_all[samples].to(attention.device)
            wanted, others = in_batch[:, None, block.rows] & allowed, ~in_batch[:, None, block.rows] & allowed
            count, rows = wanted.sum(-1), in_batch.any(-1).sum(-1)[:, None, None]
            spread = (attention * others).sum(-1) / others.sum(-1).clamp_min(1) * count
            for side, given in enumerate(((attention * wanted).sum(-1), spread)):
                given = (given * (count > 0)).sum(-1, keepdim=True) / rows
                self.values[block.group.samples, block.layer, :, 2 * number + side] += given[..., 0]


def _wanted(name: str, detector: Detector, ids: np.ndarray) -> np.ndarray:
    """What a detector looks for in a sequence. Raises `InputError` where that is no such mask, or is empty."""
    mask, shape = np.asarray(detector(ids)), (len(ids), len(ids))
    if mask.shape != shape or mask.dtype != bool or not mask.any():
        kind = f"{mask.dtype} {list(mask.shape)}" if mask.shape != shape or mask.dtype != bool else "none"
        raise InputError(
            f"The detector {name} has to return which keys it looks for, bool {list(shape)}; found {kind}."
        )
    return mask
