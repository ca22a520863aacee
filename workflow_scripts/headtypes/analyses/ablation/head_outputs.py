"""What a head adds to the model on average: its mean output, which the operation `mean` puts in its place."""

import numpy as np
import torch
from torch import Tensor

from headtypes.attention.batches import Batch
from headtypes.attention.one_pass import Block, Pass, Reducer, read_attention
from headtypes.core.errors import InputError
from headtypes.data.encoding import encode_samples
from headtypes.data.records import Sample
from headtypes.models.fetching import load_tokenizer
from headtypes.models.loading import load_model
from headtypes.models.records import ModelRecord


class MeanHeadOutputs(Reducer):
    """A reducer whose result is each head's output averaged over all real tokens: [layer, head, channel] float32.

    Every token counts alike, special ones too.
    """

    reads_attention = False

    def begin(self, about: Pass) -> None:
        """Begin with nothing."""
        self._what, self._total, self._tokens = about.what, 0.0, 0

    def start(self, batch: Batch) -> None:
        """Begin with no layers."""
        self._batch = batch
        self._layers: dict[int, list[Tensor]] = {}

    def add(self, block: Block) -> None:
        """Sum over the rows of each sample."""
        sums = [outputs.sum(1, dtype=torch.float64) for outputs in block.outputs]
        self._layers.setdefault(block.layer, []).extend(sums)

    def finish(self) -> None:
        """Add the sums of the batch: [layer, head, channel] float64."""
        sums = torch.stack([torch.stack(of_layer).sum(0) for of_layer in self._layers.values()])
        self._total = self._total + sums.cpu().numpy()
        self._tokens += sum(self._batch.lengths)

    def result(self) -> np.ndarray:
        """The means. Raises `InputError` where one is not finite."""
        means = (self._total / self._tokens).astype(np.float32)
        if not np.isfinite(means).all():
            layer, head, _ = np.argwhere(~np.isfinite(means))[0]
            raise InputError(
                f"{self._what}: the output of head {layer + 1}-{head + 1} is not finite; the model's weights are "
                "damaged, or its numbers overflow in this precision."
            )
        return means


def measure_head_outputs(
    samples: list[Sample],
    record: ModelRecord,
    *,
    task: str,
    kind: str,
    precision: str,
    batch_tokens: int,
    max_seq_length: int | None = None,
) -> np.ndarray:
    """Run a model over samples and average the output of each head over all of their real tokens.

    record:  the model, as `models.fetching.fetch_model` found it.
    task:    its name, for progress.
    kind, max_seq_length: how its samples are cut, as in `encoding.encode_samples`.
    precision, batch_tokens: arithmetic of the forward pass, and padded tokens of a batch.
    returns  [layer, head, channel] float32.
    """
    encoded = encode_samples(samples, load_tokenizer(record), kind, record.max_length, max_seq_length)
    model = load_model(record, precision)
    what = f"{record.name} on {task}"
    (means,) = read_attention(model, encoded, [MeanHeadOutputs()], batch_tokens=batch_tokens, what=what)
    return means
