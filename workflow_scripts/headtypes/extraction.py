"""Distance features of every head on every sample, reduced while the model runs."""

import numpy as np
import torch

from headtypes.attention import run
from headtypes.batching import input_batches
from headtypes.distance import COLUMNS, DistanceReader
from headtypes.encoding import Encoded, encode_samples
from headtypes.errors import InputError
from headtypes.loading import load_model
from headtypes.progress import progress
from headtypes.sources import load_tokenizer
from headtypes.storage import Features

# Rows of attention sum to one within this, in the precision of the forward pass.
_TOLERANCE = {torch.float32: 1e-4, torch.bfloat16: 2e-2, torch.float16: 5e-3}


def extract_features(
    samples: list[dict], record: dict, *, task: str, kind: str, precision: str, batch_tokens: int
) -> Features:
    """Run a model over samples and read the distance features of all its heads (Guan et al. 2020, section 3).

    samples: id, first and second, as drawn.
    record:  the model, as `sources.fetch_model` found it.
    task, kind: name of the task, for progress, and how its samples are cut.
    precision, batch_tokens: arithmetic of the forward pass, and padded tokens of a batch.
    """
    tokenizer = load_tokenizer(record)
    encoded = encode_samples(samples, tokenizer, kind, record["limit"])
    model = load_model(record, precision)
    distance = read_heads(model, encoded, batch_tokens, f"{record['name']} on {task}")
    return Features(
        distance=distance,
        length=np.array(encoded.lengths, dtype=np.int32),
        truncated=encoded.truncated,
        sample_ids=[sample["id"] for sample in samples],
    )


@torch.inference_mode()
def read_heads(model: torch.nn.Module, encoded: Encoded, batch_tokens: int, what: str) -> np.ndarray:
    """The distance features of a loaded model on encoded samples: [sample, layer, head, 69] float32.

    Raises `InputError` where a head's attention does not sum to one, as with weights that are not finite.
    """
    config = model.config
    found = np.empty((len(encoded.kinds), config.num_hidden_layers, config.num_attention_heads, COLUMNS), np.float32)
    with progress(len(encoded.kinds), what, "samples") as bar:
        for batch, inputs in input_batches(model, encoded.input_ids, encoded.token_types, batch_tokens):
            reader = DistanceReader([encoded.kinds[index] for index in batch])
            run(model, inputs, reader)
            found[batch] = reader.features()
            _check(found[batch], model.dtype, what)
            bar.update(len(batch))
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
