"""Distance features of every head on every sample, reduced while the model runs."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from headtypes.attention.batches import WHOLE, Part, batched, run_batches
from headtypes.attention.hook import run
from headtypes.base.errors import InputError
from headtypes.base.progress import progress
from headtypes.features.columns import COLUMNS
from headtypes.features.distance import DistanceReader
from headtypes.features.feature_files import Features, join_features, write_features
from headtypes.models.fetching import load_tokenizer
from headtypes.models.loading import load_model
from headtypes.models.records import ModelRecord
from headtypes.tasks.encoding import Encoded, encode_samples
from headtypes.tasks.records import Sample

# Rows of attention sum to one within this, in the precision of the forward pass.
_TOLERANCE = {torch.float32: 1e-4, torch.bfloat16: 2e-2, torch.float16: 5e-3}


def write_task_features(
    path: str | Path,
    samples: list[Sample],
    record: ModelRecord,
    parts: Sequence[str | Path],
    provenance: dict,
    **settings,
) -> None:
    """Write the features of a model on all samples: those in the parts joined or, where there are none, extracted now.

    parts: files of the features of each `batching.Part`; provenance, settings: of `storage.write_features` and
        `extract_features`.
    """
    if parts:
        join_features(path, [sample.id for sample in samples], parts, provenance)
    else:
        write_features(path, extract_features(samples, record, **settings), provenance)


def extract_features(
    samples: list[Sample],
    record: ModelRecord,
    *,
    task: str,
    kind: str,
    precision: str,
    batch_tokens: int,
    part: Sequence[int] = WHOLE,
) -> Features:
    """Run a model over samples and read the distance features of all its heads (Guan et al. 2020, section 3).

    record:  the model, as `sources.fetch_model` found it.
    task, kind: name of the task, for progress, and how its samples are cut.
    precision, batch_tokens: arithmetic of the forward pass, and padded tokens of a batch.
    part: of the batches, as in `batching.Part`; the features are those of their samples, in the order drawn.
    """
    tokenizer = load_tokenizer(record)
    encoded = encode_samples(samples, tokenizer, kind, record.max_length)
    model = load_model(record, precision)
    read = batched(encoded.lengths, batch_tokens, Part(*part))
    return Features(
        distance=read_heads(model, encoded, batch_tokens, f"{record.name} on {task}", Part(*part)),
        length=np.array(encoded.lengths, dtype=np.int32)[read],
        truncated=encoded.truncated[read],
        sample_ids=[samples[index].id for index in read],
    )


@torch.inference_mode()
def read_heads(
    model: torch.nn.Module, encoded: Encoded, batch_tokens: int, what: str, part: Part = WHOLE
) -> np.ndarray:
    """The distance features of a loaded model on encoded samples, those of a part: [sample, layer, head, 69] float32.

    Raises `InputError` where a head's attention does not sum to one, as with weights that are not finite.
    """
    read = batched(encoded.lengths, batch_tokens, part)
    shape = model.config.num_hidden_layers, model.config.num_attention_heads, COLUMNS
    found = np.empty((len(read), *shape), np.float32)
    with progress(len(read), what, "samples") as bar:

        def step(batch: np.ndarray, inputs: dict) -> None:
            reader = DistanceReader([encoded.kinds[index] for index in batch])
            run(model, inputs, reader)
            features = reader.features()
            _check(features, model.dtype, what)
            found[np.searchsorted(read, batch)] = features
            bar.update(len(batch))

        run_batches(model, encoded.input_ids, encoded.token_types, batch_tokens, step, part=part)
    return found


def _check(features: np.ndarray, dtype: torch.dtype, what: str) -> None:
    error = np.abs(features.sum(-1) - 1)
    # Written so that NaN fails too.
    wrong = ~(error <= _TOLERANCE[dtype])
    if wrong.any():
        _, layer, head = np.argwhere(wrong)[0]
        raise InputError(
            f"{what}: the attention of head {layer + 1}-{head + 1} does not sum to one; the model's weights are "
            "damaged, or its numbers overflow in this precision."
        )
