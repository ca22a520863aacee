"""Made-up layers, ways to cut their attention into blocks, and what reducers read of them and of a model."""

import numpy as np
import pytest
import torch
from scipy.special import softmax

from headtypes.analyses.distances.measure import DistanceFeatures
from headtypes.attention.hook import Batch, Layer
from headtypes.attention.one_pass import AttentionReader, read_attention, read_samples
from headtypes.attention.reducers import Pass


def layer_of(lengths: list[int], heads: int, *, causal: bool, seed: int) -> Layer:
    """A layer of samples of these lengths, in the order of memory that models give, masked where a model would."""
    generator = torch.Generator().manual_seed(seed)
    shape = len(lengths), max(lengths), heads, 6
    query, key, value = (torch.randn(shape, generator=generator).transpose(1, 2) for _ in range(3))
    position = torch.arange(max(lengths))
    mask = (position < torch.tensor(lengths)[:, None])[:, None, None].expand(-1, 1, max(lengths), -1)
    if causal:
        mask = mask & (position <= position[:, None])
    return Layer(query, key, value, None if mask.all() else mask, 0.5)


def attention_of(layer: Layer, sample: int, length: int) -> np.ndarray:
    """One sample's attention: [head, query, key] float64."""
    query, key = (each[sample, :, :length].double().numpy() for each in (layer.query, layer.key))
    scores = layer.scale * query @ key.swapaxes(-1, -2)
    if layer.mask is not None:
        scores[:, ~layer.mask[sample, 0, :length, :length].numpy()] = -np.inf
    return softmax(scores, axis=-1)


# As they are; whole layers, or long texts in parts; rows in the smallest blocks; and these with one head after another.
WAYS = ["", "as on a GPU", "as on a GPU, in parts", "least blocks", "by head"]


def cut_into_blocks(monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    blocks = "headtypes.attention.hook"
    if way == "as on a GPU, in parts":
        monkeypatch.setattr(f"{blocks}._GPU_PAIRS", 2**12)
    if way.startswith("as on a GPU"):
        for module in (blocks, "headtypes.attention.one_pass"):
            monkeypatch.setattr(f"{module}.at_once", lambda device: True)
    elif way:
        monkeypatch.setattr(f"{blocks}._BLOCK_PAIRS", 1)
    if way == "by head":
        for name in (f"{blocks}.LONG", f"{blocks}._HEAD_PAIRS", "headtypes.attention.ablate.LONG"):
            monkeypatch.setattr(name, 1)


def read_with(reducer, model, encoded, batch_tokens=4096):
    (found,) = read_attention(model, encoded, [reducer], batch_tokens=batch_tokens, what="test")
    return found


def measured(measurement, run, samples, *, kind, norms=False):
    (found,) = read_samples(run, samples, kind, [measurement], norms)
    return found


def distance_features(model, encoded):
    """[sample, layer, head, 69]."""
    return read_with(DistanceFeatures(encoded.kinds), model, encoded)


def reader_of(reducers, lengths, layers, heads):
    for reducer in reducers:
        reducer.begin(Pass(len(lengths), layers, heads, torch.float32))
    inputs = {"input_ids": torch.zeros(len(lengths), max(lengths), dtype=torch.int64)}
    return AttentionReader(reducers, Batch(np.arange(len(lengths)), list(lengths), inputs))
