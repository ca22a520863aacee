"""What a head adds to the model on average: its mean context, which the operation `mean` puts in its place."""

from pathlib import Path

import h5py
import numpy as np
import torch
from torch import Tensor

from headtypes.attention.batches import run_batches
from headtypes.attention.hook import Layer, run
from headtypes.base.errors import InputError
from headtypes.base.files import canonical_json, replacing, undamaged
from headtypes.base.progress import progress
from headtypes.models.fetching import load_tokenizer
from headtypes.models.loading import load_model
from headtypes.models.records import ModelRecord
from headtypes.tasks.encoding import Encoded, encode_samples
from headtypes.tasks.records import Sample


class ContextSums:
    """Sums each head's contexts over the real tokens of a batch; a handler of `attention.run`.

    lengths: real tokens of each sample.
    After the run, `sums()` gives [layer, head, channel] float64.
    """

    def __init__(self, lengths: list[int]):
        self._lengths = lengths
        self._layers: list[Tensor] = []

    def __call__(self, number: int, layer: Layer) -> Tensor:
        """The heads' contexts of a layer as they are: [sample, head, query, channel]."""
        context = layer.context()
        # One sample after another, since padding may hold anything.
        sums = [one[:, :length].sum(1, dtype=torch.float64) for one, length in zip(context, self._lengths, strict=True)]
        self._layers.append(torch.stack(sums).sum(0))
        return context

    def sums(self) -> np.ndarray:
        """The sums over the batch."""
        return torch.stack(self._layers).cpu().numpy()


def measure_head_outputs(
    samples: list[Sample], record: ModelRecord, *, task: str, kind: str, precision: str, batch_tokens: int
) -> np.ndarray:
    """Run a model over samples and average the context of each head over all of their real tokens.

    record:  the model, as `sources.fetch_model` found it.
    task, kind: name of the task, for progress, and how its samples are cut.
    precision, batch_tokens: arithmetic of the forward pass, and padded tokens of a batch.
    returns  [layer, head, channel] float32.
    """
    encoded = encode_samples(samples, load_tokenizer(record), kind, record.max_length)
    return mean_contexts(load_model(record, precision), encoded, batch_tokens, f"{record.name} on {task}")


@torch.inference_mode()
def mean_contexts(model: torch.nn.Module, encoded: Encoded, batch_tokens: int, what: str) -> np.ndarray:
    """The mean contexts of a loaded model's heads on encoded samples: [layer, head, channel] float32.

    Every token counts alike, special ones too and padding never. Raises `InputError` where a context is not finite.
    """
    total = 0.0
    with progress(len(encoded.lengths), what, "samples") as bar:

        def step(batch: np.ndarray, inputs: dict[str, Tensor]) -> None:
            nonlocal total
            sums = ContextSums([encoded.lengths[index] for index in batch])
            run(model, inputs, sums)
            total = total + sums.sums()
            bar.update(len(batch))

        run_batches(model, encoded.input_ids, encoded.token_types, batch_tokens, step)
    means = (total / sum(encoded.lengths)).astype(np.float32)
    if not np.isfinite(means).all():
        layer, head, _ = np.argwhere(~np.isfinite(means))[0]
        raise InputError(
            f"{what}: the context of head {layer + 1}-{head + 1} is not finite; the model's weights are damaged, or "
            "its numbers overflow in this precision."
        )
    return means


def write_contexts(path: str | Path, contexts: np.ndarray, provenance: dict) -> None:
    """Write mean contexts as a whole HDF5 file with a checksum, and what made them."""
    # Without times of creation, equal contexts give equal bytes.
    with replacing(path) as temporary, h5py.File(temporary, "w", track_order=True) as file:
        file.create_dataset("context", data=contexts, chunks=contexts.shape, fletcher32=True, track_times=False)
        file.attrs["provenance"] = canonical_json(provenance)


def read_contexts(path: str | Path | None) -> np.ndarray | None:
    """Read what `write_contexts` wrote: [layer, head, channel] float32; None where no path is given.

    Raises `InputError` for a damaged file.
    """
    if not path:
        return None
    with undamaged(path, "holds no mean contexts"), h5py.File(path, "r") as file:
        return file["context"][:]
