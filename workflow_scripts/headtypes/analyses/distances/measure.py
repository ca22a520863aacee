"""Distance features (Guan et al. 2020, section 3): how far, and at which special tokens, heads look."""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool
from torch import Tensor
from torch.nn.functional import one_hot, pad

from headtypes.analyses.distances.features import COLUMNS, FINE_BINS, SHARES, Features, first_columns, lacks_cls, split
from headtypes.analyses.maps import LEGIBLE_TOKENS, map_samples
from headtypes.analyses.same_word.measure import measure_same_word
from headtypes.attention.hook import LEAST_ROWS, Batch, Group, padded, sheared
from headtypes.attention.one_pass import ModelOnTask, read_samples
from headtypes.attention.reducers import Block, Measurement, Of, PerSample, Reducer
from headtypes.core.hdf5_files import write_arrays
from headtypes.data.encoding import SPECIAL_KINDS, Encoded
from headtypes.data.tasks import Sample, read_records
from headtypes.models.records import read_model_record

# Rows of attention sum to one within this, in the precision of the forward pass.
TOLERANCE = {torch.float32: 1e-4, torch.bfloat16: 2e-2, torch.float16: 5e-3, torch.float64: 1e-4}


class DistanceFeatures(PerSample):
    """A reducer whose result is distance features of weights or norms, [sample, layer, head, column] float32.

    The 69 columns sum to one: mean shares, over queries, of ordinary tokens at distance d before or after, in bins
    floor(64 d / sample length); of the query; of `[CLS]`, `[SEP]`, commas, periods. kinds: for each sample, [token] 1
    to 4 in this order, 0 for others. first: whether each column's part that the first token gets follows, in 69 more.
    """

    by_head = True
    fault = "the attention of head {} does not sum to one"

    def __init__(self, kinds: Sequence[np.ndarray], first: bool = False, of: Of = "weights"):
        super().__init__(COLUMNS * (1 + first))
        self._kinds, self._first, self.of = kinds, first, of

    def start(self, batch: Batch) -> None:
        super().start(batch)
        self._to_none = torch.zeros_like(self.values[..., 0])
        self._of_batch = [self._kinds[sample] for sample in batch.samples]
        self._buckets: dict[int, _Buckets] = {}
        # Groups of one length follow one another.
        self._column_of = lru_cache(1)(_columns)

    def add(self, block: Block) -> None:
        group = block.group
        if group.samples.start not in self._buckets:
            column = self._column_of(group.length, block.memory.device)
            self._buckets[group.samples.start] = _Buckets(group, self._of_batch, column, self._first)
        buckets = self._buckets[group.samples.start]
        if block.rows.start == 0:
            zeros = self.values.new_zeros(*block.memory.shape[:2], group.length)
            self._sums = (_AtOnce if block.memory.shape[3] > group.length else _InSlices)(zeros, block, buckets)
            self._to_first = torch.zeros_like(zeros) if self._first else None
        if block.to_none is not None:
            self._to_none[group.samples, block.layer, block.heads] += block.to_none.sum(-1) / group.length
        self._sums.add(block)
        if self._to_first is not None:
            self._to_first[:, :, block.rows] = block.memory[:, :, : block.rows.stop - block.rows.start, 0]
        if block.rows.stop == group.length:
            sums = [self._sums.by_column(), self._sums.by_special()]
            if self._to_first is not None:
                to_first = self._to_first if block.lengths is None else self._to_first * block.lengths[..., :1]
                sums.append(to_first @ buckets.first)
            self.values[group.samples, block.layer, block.heads] = torch.cat(sums, dim=-1) / group.length

    def right(self) -> Bool[Tensor, "sample layer head"]:
        # Features sum to one, with the share for no token; NaN and infinity do not.
        return (self.values[..., :COLUMNS].sum(-1) + self._to_none - 1).abs() <= TOLERANCE[self.about.dtype]


class _Buckets:
    def __init__(self, group: Group, kinds: list[np.ndarray], column: Tensor, first: bool):
        device, self.column = column.device, column
        # For long samples alone a layer comes in several blocks.
        self.edges = lru_cache(1)(self._edges)
        self._tokens = torch.as_tensor(np.stack(kinds[group.samples]), device=device, dtype=torch.int64)
        self._special_tokens = [np.flatnonzero(of_sample) for of_sample in kinds[group.samples]]
        # Float32: whether a key is ordinary, [sample, 1, 1, key]; its kind, [sample, key, 4]; the columns of the first
        # token, [sample, query, 69], and, in `column`, of ordinary keys, [length + key - query, 65], one-hot.
        self.ordinary = (self._tokens == 0).float()[:, None, None]
        self.special = _one_hot_kinds(self._tokens)
        self.first = torch.from_numpy(first_columns(kinds[group.samples])).to(device) if first else None

    @cached_property
    def special_tokens(self) -> tuple[Tensor, Tensor]:
        # [sample, token] positions, and [sample, token, 4] kinds; fewer are filled up with the place behind all tokens.
        places = padded(self._special_tokens, self._tokens.shape[1], self._tokens.device)
        return places, _one_hot_kinds(pad(self._tokens, (0, 1)).gather(1, places))

    def _edges(self, start: int, stop: int) -> tuple[Tensor, Tensor]:
        # Both are [sample, 1, edge, special token]: the last query before each edge, counted from `start`, and whether
        # there is one. From first to last query, the distance to a special token is in bins 63 to 0, self, bins 0 to
        # 63: 130 edges bound these 129 ranges.
        least = -(-torch.arange(1 + FINE_BINS, device=self._tokens.device) * self._tokens.shape[1] // FINE_BINS)
        least = least.clamp_min_(1)
        edges = torch.cat([1 - least.flip(0), least])[:, None] + self.special_tokens[0][:, None]
        edges = (edges - start).clamp(0, stop - start)[:, None]
        return (edges - 1).clamp_min(0), edges > 0


def _one_hot_kinds(tokens: Tensor) -> Tensor:
    return one_hot(tokens, 1 + len(SPECIAL_KINDS))[..., 1:].float()


def _columns(length: int, device: torch.device) -> Tensor:
    distance = (torch.arange(2 * length, device=device) - length).abs()
    column = torch.where(distance > 0, distance * FINE_BINS // length, FINE_BINS)
    # The first entry is for a distance of the full length, which no two tokens have.
    return one_hot(column, 1 + FINE_BINS).float()


# Sums of attention, or of norms, over query rows, block by block: by key - query, and by special token.
class _InSlices:
    def __init__(self, zeros: Tensor, block: Block, buckets: _Buckets):
        self._received, self._lengths, self._buckets = zeros, block.lengths, buckets
        self._weight = buckets.ordinary if block.lengths is None else buckets.ordinary * block.lengths[:, :, None]
        # Blocks of rows are added on top of one another. In row i of a block, a pair stands in column
        # keys + key - query + i, so that a diagonal has the same place in every block.
        self._keys = zeros.shape[2]
        self._rows = zeros.new_zeros(*zeros.shape[:2], LEAST_ROWS, 2 * self._keys + LEAST_ROWS)

    def add(self, block: Block) -> None:
        attention = block.attention
        if self._lengths is None:
            self._received += attention.sum(2)
        else:
            # A product with ones takes a third of the time of a sum.
            self._received += attention.new_ones(attention.shape[2]) @ attention
        for start in range(0, attention.shape[2], LEAST_ROWS):
            part = attention[:, :, start : start + LEAST_ROWS]
            column = self._keys - block.rows.start - start
            place = self._rows[:, :, : part.shape[2], column : column + self._keys]
            place.addcmul_(part, self._weight)

    def by_column(self) -> Tensor:
        # Over ordinary keys, [sample, head, 65].
        return sheared(self._rows, 2 * self._keys).sum(2) @ self._buckets.column

    def by_special(self) -> Tensor:
        return (self._received if self._lengths is None else self._received * self._lengths) @ self._buckets.special


# The same sums of attention without a copy of the weights: all keys are summed by distance in one reading, then the
# part of the few special tokens is subtracted.
class _AtOnce:
    def __init__(self, zeros: Tensor, block: Block, buckets: _Buckets):
        self._keys, self._buckets = zeros.shape[2], buckets
        self._sums = zeros.new_zeros(*zeros.shape[:2], LEAST_ROWS + 2 * self._keys)
        self._received = self._special = 0

    def add(self, block: Block) -> None:
        parts = block.memory.unflatten(2, (-1, LEAST_ROWS))
        sums = sheared(parts, self._keys + LEAST_ROWS - 1, before=LEAST_ROWS - 1).sum(3, dtype=torch.float32)
        # The diagonals of each part begin as many rows later than those of the part above.
        later = LEAST_ROWS * (parts.shape[2] - 1)
        sums = sheared(pad(sums, (later, later)), sums.shape[3] + later, step=LEAST_ROWS).sum(2)
        self._sums[..., self._keys + 1 - block.rows.start - later :][..., : sums.shape[2]] += sums

        places = self._buckets.special_tokens[0][:, None, None].expand(*block.memory.shape[:3], -1)
        up_to = block.memory.gather(-1, places).cumsum(2, dtype=torch.float32)
        last, exists = self._buckets.edges(block.rows.start, block.rows.stop)
        self._received = self._received + up_to[:, :, -1]
        up_to = up_to.gather(2, last.expand(-1, up_to.shape[1], -1, -1)) * exists
        self._special = self._special + up_to.diff(dim=2).sum(3)

    def by_column(self) -> Tensor:
        above, itself, below = self._special.split([FINE_BINS, 1, FINE_BINS], -1)
        special = torch.cat([above.flip(-1) + below, itself], -1)
        return (self._sums[..., LEAST_ROWS:] @ self._buckets.column - special).clamp_min(0)

    def by_special(self) -> Tensor:
        return self._received @ self._buckets.special_tokens[1]


def reducers_of(encoded: Encoded, norms: bool) -> list[Reducer]:
    first = lacks_cls(encoded.kinds)
    return [DistanceFeatures(encoded.kinds, first, of) for of in list(SHARES)[: 1 + norms]]


def features_of(samples: list[Sample], encoded: Encoded, read: list[np.ndarray]) -> Features:
    """Return the features of samples, whose tokens are in `encoded` in the same order.

    read: results of `DistanceFeatures`, [sample, layer, head, column]: for weights and, if norms are read, for norms.
    """
    lengths, ids = np.array(encoded.lengths, dtype=np.int32), [sample.id for sample in samples]
    shares = dict(zip(chain(*SHARES.values()), chain(*map(split, read)), strict=False))
    return Features(length=lengths, truncated=encoded.truncated, sample_ids=ids, **shares)


extract_features = Measurement(lambda run, *how: reducers_of(*how), lambda run, *read: features_of(*read))


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    samples, how = read_records(inputs.samples, Sample), {"kind": spec.pop("kind"), "norms": spec.pop("norms", False)}
    run = ModelOnTask(read_model_record(inputs.model), **spec)
    features, same_word = read_samples(run, samples, measurements=[extract_features, measure_same_word], **how)
    write_arrays(outputs.features, features, provenance)
    write_arrays(outputs.same_word, same_word, provenance)
    (shown,) = map_samples(run, samples, **how, tokens=LEGIBLE_TOKENS, count=1)
    write_arrays(outputs.maps, shown, provenance)
    write_arrays(outputs.sample_maps, map_samples(run, samples, **how), provenance)
