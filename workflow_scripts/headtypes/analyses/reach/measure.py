"""How much heads of a decoder attend beyond sinks and recent tokens: what they lose where the cache keeps only these.

The heads that look there are the retrieval heads of Xiao et al. (2024, DuoAttention), who find them by training; the
others are their streaming heads. The share of attention is what can be said of any model without training.
"""

import numpy as np
import torch

from headtypes.analyses.reach.results import Reach
from headtypes.attention.one_pass import Block, Pass, PerSample, read_attention
from headtypes.core.errors import InputError
from headtypes.data.encoding import encode_samples
from headtypes.data.records import Sample
from headtypes.models.fetching import load_tokenizer
from headtypes.models.loading import load_model
from headtypes.models.records import ModelRecord


class Beyond(PerSample):
    """A reducer whose result is the share beyond sinks and recent tokens: [sample, layer, head] float32.

    Of query s, these are the tokens t with sink <= t <= s - recent (from 0). The share is the mean, over the queries
    that have such a token, of the attention to them; NaN for a sample that is too short for any.
    """

    def __init__(self, sink_size: int, recent_size: int):
        super().__init__()
        self._sink, self._recent = sink_size, recent_size

    def begin(self, about: Pass) -> None:
        """Make room for the result."""
        super().begin(about)
        self._what = about.what

    def add(self, block: Block) -> None:
        """Sum over the rows. Raises `InputError` where tokens look ahead."""
        if block.mask is None and block.group.length > 1:
            raise InputError(
                f"{self._what}: its tokens look ahead, so that it writes no text and needs no cache of keys; leave the "
                "model out of export.full_attention."
            )
        device = block.attention.device
        query = torch.arange(block.rows.start, block.rows.stop, device=device)[:, None]
        key = torch.arange(block.group.length, device=device)
        beyond = (key >= self._sink) & (query - key >= self._recent)
        queries = block.group.length - self._sink - self._recent
        share = (block.attention * beyond).sum((-1, -2)) / queries if queries > 0 else torch.nan
        self.values[block.group.samples, block.layer] += share


def measure_reach(
    samples: list[Sample],
    record: ModelRecord,
    *,
    task: str,
    kind: str,
    precision: str,
    batch_tokens: int,
    sink_size: int,
    recent_size: int,
    max_seq_length: int | None = None,
) -> Reach:
    """Run a decoder over samples and measure how much each head attends beyond sinks and recent tokens.

    record:  the model, as `models.fetching.fetch_model` found it.
    task, kind: name of the task, for progress and messages, and how its samples are cut.
    precision, batch_tokens, max_seq_length: as in `features.extraction.extract_features`.
    sink_size, recent_size: as in `Reach`.
    Raises `InputError` for an encoder, where every sample is too short, and where attention is not finite.
    """
    encoded = encode_samples(samples, load_tokenizer(record), kind, record.max_length, max_seq_length)
    what = f"{record.name} on {task}"
    enough = np.array(encoded.lengths) > sink_size + recent_size
    if not enough.any():
        raise InputError(
            f"{what}: no sample has more than {sink_size} + {recent_size} tokens, so that no head can look beyond; "
            "lower export.recent_size, or name a task of longer texts."
        )
    model = load_model(record, precision)
    kv_heads = getattr(model.config, "num_key_value_heads", None) or record.heads
    reducer = Beyond(sink_size, recent_size)
    (share,) = read_attention(model, encoded, [reducer], batch_tokens=batch_tokens, what=what)
    if not np.isfinite(share[enough]).all():
        raise InputError(
            f"{what}: the attention of a head is not finite; the model's weights are damaged, or its numbers overflow "
            "in this precision."
        )
    return Reach(share[enough], kv_heads, sink_size, recent_size)
