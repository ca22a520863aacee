"""Surface patterns: what single heads look at, as position and kind of token tell (Clark et al. 2019, section 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import numpy as np
from jaxtyping import Bool, Float, Float32, Int

from headtypes.attention.reducers import Block, Measurement, Of, PerSample
from headtypes.core.hdf5_files import SampleIds, Stored
from headtypes.core.statistics import mean_of_known
from headtypes.data.encoding import SPECIAL_KINDS, Encoded

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from headtypes.attention.hook import Batch, EntropySums
    from headtypes.attention.one_pass import ModelOnTask
    from headtypes.data.tasks import Sample

# A[s, t] is the attention of token s to token t or its share of the norms, L the number of tokens with special tokens:
# self, previous, next: the sums of A[s, s], of A[s, s - 1] and of A[s, s + 1], divided by L.
# cls, sep, punctuation, first: mean over the rows of the attention to `[CLS]`, to `[SEP]`, to comma and period, and to
#   the first token. special: the sum of cls, sep and punctuation.
# sep_to_sep, other_to_sep: mean over the rows of `[SEP]`, and over all other rows, of the attention to `[SEP]`.
# entropy, entropy_cls, peak: mean over the rows of the entropy in nats, the entropy of the row of `[CLS]`, and mean
#   over the rows of the largest attention. A share that goes to no token is one more outcome of the entropy.
# These are NaN: cls, special and entropy_cls in a sample without `[CLS]`; sep, special and both `_to_sep` in one
# without `[SEP]`; next if no token may look ahead; entropy_cls if `[CLS]` may look at itself alone.
COLUMNS = (
    *("self", "previous", "next", "cls", "sep", "punctuation", "special"),
    *("sep_to_sep", "other_to_sep", "entropy", "entropy_cls", "peak", "first"),
)


@dataclass(frozen=True)
class Surface:
    """Surface patterns (attention to positions and to kinds of tokens) of every head on every sample.

    Patterns are those of Clark et al. 2019, sections 3.1 to 3.3.
    patterns: [sample, layer, head, column] shares of attention, and entropies in nats. `columns` has the columns'
        names. NaN if the sample lacks the token (`[CLS]`, `[SEP]`), or if no token may look there.
    uniform: [sample, layer] entropy, in nats, of even attention to all visible tokens, mean over the sample's tokens.
    norms: `patterns` of each token's share of the norms (`attention.norms`); None if norms were not read.
    """

    patterns: Annotated[Float32[np.ndarray, "sample layer head 13"], Stored("surface")]
    uniform: Float32[np.ndarray, "sample layer"]
    length: Int[np.ndarray, " sample"]
    sample_ids: SampleIds
    norms: Float32[np.ndarray, "sample layer head 13"] | None = None
    columns: Annotated[list[str], Stored("column", "13")] = field(default_factory=lambda: list(COLUMNS))

    @property
    def read(self) -> tuple[Of, ...]:
        return ("weights",) if self.norms is None else ("weights", "norms")

    def column(self, name: str, of: Of = "weights") -> Float32[np.ndarray, "sample layer head"]:
        return (self.patterns if of == "weights" else self.norms)[..., COLUMNS.index(name)]

    def mean(self, name: str, of: Of = "weights") -> Float[np.ndarray, "layer head"]:
        """Return each head's mean of the column `name` over samples that have a value, of weights or of norms."""
        return mean_of_known(self.column(name, of))


_CLS, _SEP, _COMMA, _PERIOD = (1 + SPECIAL_KINDS.index(kind) for kind in ("cls", "sep", "comma", "period"))
# What is summed over the rows: what the columns are made of, the number of rows that may look at the next token, and of
# those of `[CLS]` that may look at another token.
_SUMS = (
    *("self", "previous", "next", "cls", "sep", "punctuation", "first", "sep_to_sep"),
    *("entropy", "entropy_cls", "peak", "uniform", "seeing_next", "cls_seeing"),
)


class SurfacePatterns(PerSample):
    """A reducer (it reads a model's attention) whose result is surface patterns: [sample, layer, head, 14] float32.

    The last axis has `COLUMNS`, then the entropy of even attention in nats, mean over tokens.
    kinds: for each sample [token] 1 for `[CLS]`, 2 for `[SEP]`, 3 for a comma, 4 for a period, 0 for other tokens.
    of: "weights" for patterns of attention, "norms" for patterns of each token's share of the norms.
    """

    by_head = True

    def __init__(self, kinds: Sequence[np.ndarray], of: Of = "weights"):
        from headtypes.attention.hook import EntropySums

        super().__init__(len(COLUMNS) + 1)
        self._kinds, self.of = kinds, of
        self._entropy_sums = EntropySums()

    def start(self, batch: Batch) -> None:
        import torch

        super().start(batch)
        self._tokens = {}
        # [sample, layer, head, sum], float64.
        self._sums = torch.zeros(*self.values.shape[:-1], len(_SUMS), dtype=torch.float64, device=batch.device)

    def add(self, block: Block) -> None:
        import torch

        group = block.group
        if group.samples.start not in self._tokens:
            of_group = [self._kinds[sample] for sample in self.batch.samples[group.samples]]
            self._tokens[group.samples.start] = _Tokens(of_group, block.attention.device)
        sums = self._tokens[group.samples.start].sums(block, self._entropy_sums)
        self._sums[group.samples, block.layer, block.heads] += torch.stack(torch.broadcast_tensors(*sums), -1)

    def right(self) -> Bool[Tensor, "sample layer head"]:
        # Other columns may be NaN.
        return self._sums[..., _SUMS.index("peak")].isfinite()

    def finish(self) -> None:
        import torch

        sums = dict(zip(_SUMS, self._sums.unbind(-1), strict=True))
        kinds = [self._kinds[sample] for sample in self.batch.samples]
        counts = np.array([self.batch.lengths, *([(kind == of).sum() for kind in kinds] for of in (_CLS, _SEP))], float)
        length, cls, sep = torch.from_numpy(counts).to(self._sums.device)[..., None, None]
        mean = {name: total / length for name, total in sums.items()}
        columns = {**mean, "sep_to_sep": sums["sep_to_sep"] / sep, "entropy_cls": sums["entropy_cls"] / cls}
        columns["special"] = mean["cls"] + mean["sep"] + mean["punctuation"]
        columns["other_to_sep"] = (sums["sep"] - sums["sep_to_sep"]) / (length - sep)
        for count, impossible in (
            (cls, ("cls", "special")),
            (sep, ("sep", "special", "other_to_sep")),
            (sums["seeing_next"], ("next",)),
            (sums["cls_seeing"], ("entropy_cls",)),
        ):
            columns |= {name: torch.where(count > 0, columns[name], torch.nan) for name in impossible}
        self.values = torch.stack([columns[name] for name in (*COLUMNS, "uniform")], -1).float()
        super().finish()


# The kinds of the tokens of samples of one length, with which their attention is summed.
class _Tokens:
    def __init__(self, kinds: list[np.ndarray], device: torch.device):
        import torch

        kind = torch.as_tensor(np.stack(kinds), device=device)
        is_cls, is_sep, is_comma, is_period = (kind == number for number in (_CLS, _SEP, _COMMA, _PERIOD))
        is_first = (torch.arange(kind.shape[1], device=device) == 0).expand_as(kind)
        # [sample, 1, query]
        self._is_cls = is_cls[:, None]
        # [sample, 1, 2, query]: weights of the rows, one for each and one for each `[SEP]`.
        self._weights = torch.stack([torch.ones_like(is_sep), is_sep], 1)[:, None].float()
        # [sample, 1, key, 4]: one-hot kinds of what is looked at.
        self._looked_at = torch.stack([is_cls, is_sep, is_comma | is_period, is_first], -1)[:, None].float()

    # Over a block's rows, in the order of `_SUMS`; each can be broadcast to [sample, head].
    def sums(self, block: Block, entropy_sums: EntropySums) -> list[Tensor]:
        import torch

        attention, rows, is_cls = block.shares, block.rows, self._is_cls[..., block.rows]
        # [sample, head, all rows or those of `[SEP]`, looked at]
        received = torch.matmul(self._weights[..., rows], attention) @ self._looked_at
        entropy, peak = -entropy_sums(attention).double(), attention.amax(-1).double()
        if block.to_none is not None:
            entropy += torch.special.entr(block.to_none)
        if block.mask is None:
            seen = attention.new_full((1, 1, rows.stop - rows.start), attention.shape[-1])
            seeing_next = seen.sum(-1)
        else:
            seen = block.mask.sum(-1)
            seeing_next = block.mask.diagonal(rows.start + 1, -2, -1).sum(-1)
        return [
            *(attention.diagonal(rows.start + offset, -2, -1).sum(-1) for offset in (0, -1, 1)),
            *received[:, :, 0].unbind(-1),
            received[:, :, 1, 1],
            entropy.sum(-1),
            (entropy * is_cls).sum(-1),
            peak.sum(-1),
            seen.double().log().sum(-1),
            seeing_next,
            (is_cls & (seen > 1)).sum(-1),
        ]


def _surface(run: ModelOnTask, samples: list[Sample], encoded: Encoded, read: list[np.ndarray]) -> Surface:
    values, *by_norms = read
    return Surface(
        patterns=values[..., :-1],
        uniform=values[:, :, 0, -1],
        length=np.array(encoded.lengths, dtype=np.int32),
        sample_ids=[sample.id for sample in samples],
        norms=by_norms[0][..., :-1] if by_norms else None,
    )


measure_surface = Measurement(
    lambda run, encoded, norms: [SurfacePatterns(encoded.kinds, of) for of in ("weights", "norms")[: 1 + norms]],
    _surface,
)
