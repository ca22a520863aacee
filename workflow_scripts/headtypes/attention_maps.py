"""Whole attention maps of one short sample, for pictures alone: what is measured is reduced while the model runs."""

from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
import torch
from torch import Tensor

from headtypes.attention import Layer, run
from headtypes.batching import model_inputs
from headtypes.encoding import Encoded, encode_samples
from headtypes.errors import InputError
from headtypes.files import replacing
from headtypes.sources import load_model, load_tokenizer


@dataclass(frozen=True)
class AttentionMaps:
    """Attention of every head on one sample.

    attention: [layer, head, query, key] float32, rows sum to one (in a file, to the precision of float16).
    tokens:    [token] as a person reads them.
    sample_id: the sample's id; truncated: whether it was cut.
    """

    attention: np.ndarray
    tokens: list[str]
    sample_id: str
    truncated: bool


class MapReader:
    """Keeps each layer's attention on a batch of one sample; a handler of `attention.run`."""

    def __init__(self):
        self._layers: list[Tensor] = []

    def __call__(self, number: int, layer: Layer) -> Tensor:
        attention = layer.attention(slice(None))
        self._layers.append(attention[0].float().cpu())
        return torch.matmul(attention, layer.value)

    def attention(self) -> np.ndarray:
        """The attention maps: [layer, head, query, key] float32."""
        return torch.stack(self._layers).numpy()


def map_attention(
    samples: list[dict], record: dict, *, kind: str, precision: str, tokens: int, what: str = "attention maps"
) -> AttentionMaps:
    """Run a model over the sample that is nearest to a wanted length, and keep its attention.

    samples:   id, first and second, as drawn.
    record:    the model, as `sources.fetch_model` found it.
    kind:      how the task's samples are cut.
    precision: arithmetic of the forward pass.
    tokens:    wanted length; a sample that is longer is cut to it.
    Raises `InputError` where no sample can be cut so short, or an attention is not finite.
    """
    tokenizer = load_tokenizer(record)
    sample, encoded = choose_sample(samples, tokenizer, kind, record["limit"], tokens)
    model = load_model(record, precision)
    attention = read_one(model, encoded, tokenizer.pad_token_id)
    if not np.isfinite(attention).all():
        raise InputError(
            f"{record['name']}, {what}: an attention is not a number; the model's weights are damaged, or its numbers "
            "overflow in this precision."
        )
    labels = [_readable(tokenizer, token) for token in encoded.input_ids[0]]
    return AttentionMaps(attention, labels, sample["id"], bool(encoded.truncated[0]))


def choose_sample(samples: list[dict], tokenizer, kind: str, limit: int, tokens: int) -> tuple[dict, Encoded]:
    """The sample whose length is nearest to a wanted one, cut where it is longer, and its encoding.

    limit: tokens of the longest input that the model takes; tokens: the wanted length.
    Of samples as near as one another, one that need not be cut goes first, then the one drawn first; a sample
    whose question alone would fill the wanted length is passed over.
    """
    tokens = min(tokens, limit)
    lengths = encode_samples(samples, tokenizer, kind, limit).lengths
    for index in sorted(range(len(samples)), key=lambda index: (abs(lengths[index] - tokens), lengths[index] > tokens)):
        try:
            return samples[index], encode_samples([samples[index]], tokenizer, kind, tokens)
        except InputError:
            continue
    raise InputError(f"No sample can be cut to {tokens} tokens, as the figures of attention maps ask; ask for more.")


@torch.inference_mode()
def read_one(model: torch.nn.Module, encoded: Encoded, pad_token: int | None) -> np.ndarray:
    """The attention of a loaded model on one encoded sample: [layer, head, query, key] float32."""
    reader = MapReader()
    run(model, model_inputs(encoded.input_ids, encoded.token_types, pad_token or 0, model.device), reader)
    return reader.attention()


def write_maps(path: str | Path, maps: AttentionMaps, attributes: dict[str, str]) -> None:
    """Write attention maps as a whole HDF5 file, in half precision; attributes say where they come from."""
    # Without times of creation, equal maps give equal bytes.
    with replacing(path) as temporary, h5py.File(temporary, "w", track_order=True) as file:
        file.create_dataset(
            "attention",
            data=maps.attention.astype(np.float16),
            chunks=(1, *maps.attention.shape[1:]),
            compression="gzip",
            shuffle=True,
            fletcher32=True,
            track_times=False,
        )
        file.create_dataset("token", data=maps.tokens, dtype=h5py.string_dtype(), track_times=False)
        for name, value in {"sample_id": maps.sample_id, "truncated": maps.truncated, **attributes}.items():
            file.attrs[name] = value


def read_maps(path: str | Path) -> AttentionMaps:
    """Read what `write_maps` wrote. Raises `InputError` that names a damaged file."""
    try:
        with h5py.File(path, "r") as file:
            return AttentionMaps(
                attention=file["attention"][:].astype(np.float32),
                tokens=file["token"].asstr()[:].tolist(),
                sample_id=file.attrs["sample_id"],
                truncated=bool(file.attrs["truncated"]),
            )
    except (OSError, KeyError) as error:
        raise InputError(f"{path} is damaged or holds no attention maps ({error}); delete it and run again.") from error


def _readable(tokenizer, token_id: int) -> str:
    # A byte-level token may be a space, or part of a character, which only its raw form shows.
    text = tokenizer.decode([token_id]).strip()
    return text if text and "\ufffd" not in text else tokenizer.convert_ids_to_tokens(token_id)
