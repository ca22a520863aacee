"""How much heads of a decoder attend beyond sinks and recent tokens: what they lose where the cache keeps only these.

The heads that look there are the retrieval heads of Xiao et al. (2024, DuoAttention), who find them by training; the
others are their streaming heads. The share of attention is what can be said of any model without training.
"""

from dataclasses import replace

import numpy as np
import torch

from headtypes.analyses.reach.results import Reach
from headtypes.attention.reducers import Block, PerSample
from headtypes.attention.run import ModelOnTask
from headtypes.core.errors import InputError
from headtypes.data.records import Sample
from headtypes.models.records import ModelRecord


class Beyond(PerSample):
    """A reducer whose result is the share beyond sinks and recent tokens: [sample, layer, head] float32.

    Of query s, these are the tokens t with sink <= t <= s - recent (from 0). The share is the mean, over the queries
    that have such a token, of the attention to them; 0 for a sample that is too short for any.
    """

    def __init__(self, sink_size: int, recent_size: int):
        super().__init__()
        self._sink, self._recent = sink_size, recent_size

    def add(self, block: Block) -> None:
        """Sum over the rows. Raises `InputError` where tokens look ahead."""
        if block.mask is None and block.group.length > 1:
            raise InputError(
                f"{self.about.what}: its tokens look ahead, so that it writes no text and needs no cache of keys; "
                "leave the model out of export.full_attention."
            )
        device = block.attention.device
        query = torch.arange(block.rows.start, block.rows.stop, device=device)[:, None]
        key = torch.arange(block.group.length, device=device)
        beyond = (key >= self._sink) & (query - key >= self._recent)
        queries = block.group.length - self._sink - self._recent
        if queries > 0:
            self.values[block.group.samples, block.layer] += (block.attention * beyond).sum((-1, -2)) / queries


def measure_reach(
    samples: list[Sample], record: ModelRecord, *, kind: str, sink_size: int, recent_size: int, **settings
) -> Reach:
    """Run a decoder over samples and measure how much each head attends beyond sinks and recent tokens.

    kind:     of task, which says how its samples are cut; settings: of `ModelOnTask`.
    sink_size, recent_size: as in `Reach`.
    Raises `InputError` for an encoder, and where every sample is too short.
    """
    # What is exported is the largest share of the heads of queries, whatever counts as a head elsewhere.
    run = ModelOnTask(replace(record, queries_per_head=1), **settings)
    encoded = run.encode(samples, kind)
    enough = np.array(encoded.lengths) > sink_size + recent_size
    if not enough.any():
        raise InputError(
            f"{run.what}: no sample has more than {sink_size} + {recent_size} tokens, so that no head can look beyond; "
            "lower export.recent_size, or name a task of longer texts."
        )
    beyond = Beyond(sink_size, recent_size)
    (share,) = run.read(encoded, beyond)
    return Reach(share[enough], beyond.about.kv_heads, sink_size, recent_size)
