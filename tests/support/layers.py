"""Random layers as `headtypes.attention.hook` hands them over, and their attention computed densely."""

import numpy as np
import torch
from scipy.special import softmax

from headtypes.attention.hook import Layer


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
