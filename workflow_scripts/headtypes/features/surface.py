"""Surface patterns: what single heads look at, as position and kind of token tell (Clark et al. 2019, section 3)."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from headtypes.attention.batches import Batch
from headtypes.attention.blocks import Group
from headtypes.attention.entropy import EntropySums
from headtypes.attention.one_pass import Block, PerSample, read_attention
from headtypes.base.errors import InputError
from headtypes.features.surface_files import COLUMNS, Surface
from headtypes.models.fetching import load_tokenizer
from headtypes.models.loading import load_model
from headtypes.models.records import ModelRecord
from headtypes.tasks.encoding import encode_samples
from headtypes.tasks.records import Sample
from headtypes.tasks.tokens import SPECIAL_KINDS

_CLS, _SEP, _COMMA, _PERIOD = range(1, 1 + len(SPECIAL_KINDS))


class SurfacePatterns(PerSample):
    """A reducer whose result is the surface patterns: [sample, layer, head, 14] float32.

    kinds: one array per encoded sample, kinds of its tokens [token], numbered as in `tokens.SPECIAL_KINDS`.

    The columns are those of `surface_files.COLUMNS`, and last the entropy of uniform attention. A[s, t] being the
    attention of token s to token t and L the number of tokens, special ones included, they are:

    self, previous, next: the sums of A[s, s], of A[s, s - 1] and of A[s, s + 1], divided by L.
    cls, sep, punctuation: mean over the rows of the attention to `[CLS]`, to `[SEP]`, to comma and period together.
    special:              the sum of these three.
    sep_to_sep, other_to_sep: mean over the rows of `[SEP]`, and over all others, of the attention to `[SEP]`.
    entropy, entropy_cls: mean over the rows of the entropy, and that of the row of `[CLS]`, in nats.
    peak:                 mean over the rows of the largest attention.
    first:                mean over the rows of the attention to the first token.

    What is impossible is NaN: columns of a token that the sample does not have (but for punctuation, which it may
    lack by chance), next where no token may look ahead, entropy_cls where `[CLS]` may look at itself alone.
    """

    def __init__(self, kinds: Sequence[np.ndarray]):
        super().__init__(len(COLUMNS) + 1)
        self._kinds = kinds
        self._entropy_sums = EntropySums()

    def start(self, batch: Batch) -> None:
        """Forget what is known of the tokens of another batch."""
        super().start(batch)
        self._of_batch = [self._kinds[sample] for sample in batch.samples]
        self._tokens: dict[int, _Tokens] = {}

    def add(self, block: Block) -> None:
        """Sum over the rows."""
        group = block.group
        if group.samples.start not in self._tokens:
            self._tokens[group.samples.start] = _Tokens(group, self._of_batch, block.attention.device)
        tokens = self._tokens[group.samples.start]
        if block.is_first:
            self._sums = _Sums(tokens)
        self._sums.add(block, self._entropy_sums)
        if block.is_last:
            columns = self._sums.columns(group.length)
            self.values[group.samples, block.layer] = torch.stack([*columns.values()], -1).float()

    def finish(self) -> None:
        """Keep the patterns. Raises `InputError` where they are not finite, as with weights that are not."""
        peak = self.values[..., COLUMNS.index("peak")]
        if not peak.isfinite().all():
            _, layer, head = (~peak.isfinite()).nonzero()[0].tolist()
            raise InputError(
                f"{self.about.what}: the attention of head {layer + 1}-{head + 1} is not finite; the model's weights "
                "are damaged, or its numbers overflow in this precision."
            )
        super().finish()


class _Tokens:
    """What the reduction needs to know of the tokens of a group's samples.

    rows:  [sample, 1, 2, query] float32 weights of the rows: one for each, one for each `[SEP]`.
    looked_at: [sample, 1, key, 4] float32 one-hot: `[CLS]`, `[SEP]`, punctuation, the first token.
    is_cls: [sample, query] bool.
    cls, sep: [sample, 1] float64, how many of each.
    """

    def __init__(self, group: Group, kinds: list[np.ndarray], device: torch.device):
        kind = torch.as_tensor(np.stack(kinds[group.samples]), device=device)
        self.is_cls, is_sep = kind == _CLS, kind == _SEP
        first = torch.arange(group.length, device=device).expand_as(kind) == 0
        self.rows = torch.stack([torch.ones_like(is_sep), is_sep], 1)[:, None].float()
        looked_at = [self.is_cls, is_sep, (kind == _COMMA) | (kind == _PERIOD), first]
        self.looked_at = torch.stack(looked_at, -1)[:, None].float()
        self.cls, self.sep = (is_kind.sum(-1, keepdim=True).double() for is_kind in (self.is_cls, is_sep))


class _Sums:
    """Sums over the rows of one layer of a group's samples; [sample, head] or [sample, 1] float64 each."""

    def __init__(self, tokens: _Tokens):
        self._tokens = tokens
        self._sums: dict[str, Tensor] = {}
        # Whether some token may look at the next one, and `[CLS]` at another token.
        self._ahead = self._cls_looks_around = False

    def add(self, block: Block, entropy_sums: EntropySums) -> None:
        """Add some rows."""
        tokens, attention, rows = self._tokens, block.attention, block.rows
        of_rows = tokens.is_cls[:, None, rows]
        for name, offset in (("self", 0), ("previous", -1), ("next", 1)):
            self._add(name, attention.diagonal(rows.start + offset, -2, -1))
        # [sample, head, all rows or those of [SEP], looked at]
        received = torch.matmul(tokens.rows[..., rows], attention) @ tokens.looked_at
        for column, name in enumerate(("cls", "sep", "punctuation", "first")):
            self._add(name, received[:, :, :1, column])
        self._add("sep_to_sep", received[:, :, 1:, 1])
        entropy = -entropy_sums(attention)
        self._add("entropy", entropy)
        self._add("entropy_cls", entropy * of_rows)
        self._add("peak", attention.amax(-1))
        if block.mask is None:
            seen = attention.new_full((1, 1, rows.stop - rows.start), attention.shape[-1])
            ahead = torch.tensor(True)
        else:
            seen = block.mask.sum(-1)
            ahead = block.mask.diagonal(rows.start + 1, -2, -1).any(-1)
        self._add("uniform", seen.double().log())
        self._ahead = self._ahead | ahead.reshape(-1, 1)
        self._cls_looks_around = self._cls_looks_around | ((seen > 1) & of_rows).any(-1)

    def columns(self, length: int) -> dict[str, Tensor]:
        """The columns, [sample, head] float64 each, in their order."""
        sums, tokens = self._sums, self._tokens
        mean = {name: sums[name] / length for name in sums}
        # Where there is none, 0 / 0 is NaN.
        cls, sep = (
            torch.where(count > 0, mean[name], torch.nan) for name, count in (("cls", tokens.cls), ("sep", tokens.sep))
        )
        return {
            "self": mean["self"],
            "previous": mean["previous"],
            "next": torch.where(self._ahead, mean["next"], torch.nan),
            "cls": cls,
            "sep": sep,
            "punctuation": mean["punctuation"],
            "special": cls + sep + mean["punctuation"],
            "sep_to_sep": sums["sep_to_sep"] / tokens.sep,
            "other_to_sep": (sums["sep"] - sums["sep_to_sep"]) / torch.where(tokens.sep > 0, length - tokens.sep, 0),
            "entropy": mean["entropy"],
            "entropy_cls": torch.where(self._cls_looks_around, sums["entropy_cls"] / tokens.cls, torch.nan),
            "peak": mean["peak"],
            "first": mean["first"],
            "uniform": mean["uniform"].expand_as(mean["self"]),
        }

    def _add(self, name: str, rows: Tensor) -> None:
        self._sums[name] = self._sums.get(name, 0) + rows.sum(-1, dtype=torch.float64)


def measure_surface(
    samples: list[Sample],
    record: ModelRecord,
    *,
    task: str,
    kind: str,
    segment_ids: str,
    precision: str,
    batch_tokens: int,
    max_seq_length: int | None = None,
) -> Surface:
    """Run a model over samples and read the surface patterns of all its heads.

    record:     the model, as `models.fetching.fetch_model` found it.
    task, kind: name of the task, for progress, and how its samples are cut.
    precision, batch_tokens: arithmetic of the forward pass, and padded tokens of a batch.
    max_seq_length, segment_ids: as in `encoding.encode_samples`.
    """
    tokenizer = load_tokenizer(record)
    encoded = encode_samples(samples, tokenizer, kind, record.max_length, max_seq_length, segment_ids)
    (values,) = read_attention(
        load_model(record, precision),
        encoded,
        [SurfacePatterns(encoded.kinds)],
        batch_tokens=batch_tokens,
        what=f"{record.name} on {task}",
    )
    return Surface(
        patterns=values[..., :-1],
        uniform=values[:, :, 0, -1],
        length=np.array(encoded.lengths, dtype=np.int32),
        sample_ids=[sample.id for sample in samples],
    )
