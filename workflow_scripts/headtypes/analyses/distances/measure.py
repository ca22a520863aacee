"""Distance features: how far, and at which special tokens, heads look (Guan et al. 2020, section 3).

They are reduced while the model runs.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool
from torch import Tensor
from torch.nn.functional import one_hot

from headtypes.analyses.distances.columns import COLUMNS, FINE_BINS, first_columns, lacks_cls, split
from headtypes.analyses.distances.results import SHARES, Features
from headtypes.analyses.maps.measure import map_attention, map_samples
from headtypes.analyses.same_word.measure import measure_same_word
from headtypes.attention.batches import Batch
from headtypes.attention.blocks import LEAST_ROWS, Group
from headtypes.attention.reducers import Block, PerSample, Reducer
from headtypes.attention.run import Measurement, ModelOnTask, read_samples
from headtypes.attention.settings import Of
from headtypes.core.hdf5_files import write_arrays
from headtypes.data.encoding import Encoded
from headtypes.data.records import Sample, read_records
from headtypes.data.tokens import SPECIAL_KINDS
from headtypes.models.records import read_model_record

# Rows of attention sum to one within this, in the precision of the forward pass.
TOLERANCE = {torch.float32: 1e-4, torch.bfloat16: 2e-2, torch.float16: 5e-3, torch.float64: 1e-4}


class DistanceFeatures(PerSample):
    """A reducer whose result is distance features, [sample, layer, head, column] float32.

    Each row sums to one. Where heads give attention to no token (`reducers.Block.to_none`), it lacks their share of it.
    """

    by_head = True
    fault = "the attention of head {} does not sum to one"

    def __init__(self, kinds: Sequence[np.ndarray], first: bool = False, of: Of = "weights"):
        """kinds: of the tokens of each encoded sample, [token]; of: what is summed, weights or norms.

        first: whether the part of each feature that goes to the first token is wanted as well; then the result is
            [sample, layer, head, 2 x column], the features and after them these parts (`columns.split`).
        """
        super().__init__(COLUMNS * (1 + first))
        self._kinds, self._first, self.of = kinds, first, of

    def start(self, batch: Batch) -> None:
        """Forget what is known of the tokens of another batch."""
        super().start(batch)
        self._to_none = torch.zeros_like(self.values[..., 0])
        self._of_batch = [self._kinds[sample] for sample in batch.samples]
        self._buckets: dict[int, Buckets] = {}
        # Groups of one length follow one another.
        self._column_of = lru_cache(1)(_columns)

    def add(self, block: Block) -> None:
        """Sum the rows by distance and by special token."""
        group = block.group
        if group.samples.start not in self._buckets:
            column = self._column_of(group.length, block.attention.device)
            self._buckets[group.samples.start] = Buckets(group, self._of_batch, column, self._first)
        buckets = self._buckets[group.samples.start]
        if block.is_first:
            self._received = torch.zeros_like(block.attention[:, :, 0])
            self._diagonals = _Diagonals(self._received)
            self._to_first = torch.zeros_like(self._received) if self._first else None
            self._weight = buckets.ordinary if block.lengths is None else buckets.ordinary * block.lengths[:, :, None]
        if block.to_none is not None:
            self._to_none[group.samples, block.layer, block.heads] += block.to_none.sum(-1) / group.length
        if block.lengths is None:
            self._received += block.attention.sum(2)
        else:
            # A product with ones takes a third of the time of a sum.
            self._received += block.attention.new_ones(block.attention.shape[2]) @ block.attention
        self._diagonals.add(block.attention, self._weight, block.rows.start)
        if self._to_first is not None:
            self._to_first[:, :, block.rows] = block.attention[..., 0]
        if block.is_last:
            if block.lengths is not None:
                self._received *= block.lengths
            sums = [self._diagonals.sums() @ buckets.column, self._received @ buckets.special]
            if self._to_first is not None:
                to_first = self._to_first if block.lengths is None else self._to_first * block.lengths[..., :1]
                sums.append(to_first @ buckets.first)
            self.values[group.samples, block.layer, block.heads] = torch.cat(sums, dim=-1) / group.length

    def right(self) -> Bool[Tensor, "sample layer head"]:
        """The features that sum to one with what goes to no token, which none does that is not finite."""
        return (self.values[..., :COLUMNS].sum(-1) + self._to_none - 1).abs() <= TOLERANCE[self.about.dtype]


class Buckets:
    """What the reduction needs to know of the samples of a group; all float32.

    ordinary: [sample, 1, 1, key] 1 where the key is not a special token, else 0.
    special:  [sample, key, 4] one-hot kind of the special tokens.
    column:   [length + key - query, 65] one-hot column of an ordinary key: its fine bin, or self.
    first:    [sample, query, column] one-hot column of the first token, if it is wanted, else None.
    """

    def __init__(self, group: Group, kinds: list[np.ndarray], column: Tensor, first: bool):
        device, self.column = column.device, column
        tokens = torch.as_tensor(np.stack(kinds[group.samples]), device=device, dtype=torch.int64)
        self.ordinary = (tokens == 0).float()[:, None, None]
        self.special = one_hot(tokens, 1 + len(SPECIAL_KINDS))[..., 1:].float()
        self.first = torch.from_numpy(first_columns(kinds[group.samples])).to(device) if first else None


def _columns(length: int, device: torch.device) -> Tensor:
    distance = (torch.arange(2 * length, device=device) - length).abs()
    column = torch.where(distance > 0, distance * FINE_BINS // length, FINE_BINS)
    # The first entry is for a distance of the full length, which no two tokens have.
    return one_hot(column, 1 + FINE_BINS).float()


class _Diagonals:
    """Sums attention over all pairs of the same key - query, some query rows at a time.

    like: [sample, head, key].
    """

    def __init__(self, like: Tensor):
        samples, heads, self._keys = like.shape
        # Blocks of rows are added on top of one another. In row i of a block, a pair stands in column
        # keys + key - query + i, so that a diagonal has the same place in every block.
        self._width = 2 * self._keys + LEAST_ROWS
        self._rows = like.new_zeros(samples, heads, LEAST_ROWS, self._width)

    def add(self, attention: Tensor, weight: Tensor, first: int) -> None:
        """Add attention [sample, head, query, key] of the queries from `first` on, times a weight of each key."""
        for start in range(0, attention.shape[2], LEAST_ROWS):
            part = attention[:, :, start : start + LEAST_ROWS]
            column = self._keys - first - start
            place = self._rows[:, :, : part.shape[2], column : column + self._keys]
            place.addcmul_(part, weight)

    def sums(self) -> Tensor:
        """[sample, head, keys + key - query]."""
        samples, heads, rows, width = self._rows.shape
        # Each row starts one step further than the row above, so that a diagonal becomes a column.
        strides = (heads * rows * width, rows * width, width + 1, 1)
        return self._rows.as_strided((samples, heads, rows, 2 * self._keys), strides).sum(2)


def _features(run: ModelOnTask, samples: list[Sample], encoded: Encoded, read: list[np.ndarray]) -> Features:
    return Features(
        length=np.array(encoded.lengths, dtype=np.int32),
        truncated=encoded.truncated,
        sample_ids=[sample.id for sample in samples],
        **shares_of(read),
    )


def reducers_of(encoded: Encoded, norms: bool) -> list[Reducer]:
    """The reducers that read the shares of `Features`: those of weights and, if wanted, those of norms."""
    first = lacks_cls(encoded.kinds)
    return [DistanceFeatures(encoded.kinds, first, of) for of in list(SHARES)[: 1 + norms]]


def shares_of(read: list[np.ndarray]) -> dict[str, np.ndarray | None]:
    """What `reducers_of` read, by the names that it has in `Features`."""
    return dict(zip(chain(*SHARES.values()), chain(*map(split, read)), strict=False))


# The distance features of all heads (Guan et al. 2020, section 3).
extract_features = Measurement(lambda run, encoded, norms: reducers_of(encoded, norms), _features)


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    """The job of the rule `extract_features`."""
    samples, how = read_records(inputs.samples, Sample), {"kind": spec.pop("kind"), "norms": spec.pop("norms", False)}
    run = ModelOnTask(read_model_record(inputs.model), **spec)
    features, same_word = read_samples(run, samples, measurements=[extract_features, measure_same_word], **how)
    write_arrays(outputs.features, features, provenance)
    write_arrays(outputs.same_word, same_word, provenance)
    write_arrays(outputs.maps, map_attention(run, samples, **how), provenance)
    write_arrays(outputs.samples, map_samples(run, samples, **how), provenance)
