"""What reducers read of a model, and of layers that are made up."""

import numpy as np
import torch

from headtypes.analyses.distances.measure import DistanceFeatures
from headtypes.attention.hook import Batch
from headtypes.attention.one_pass import AttentionReader, read_attention, read_samples
from headtypes.attention.reducers import Pass


def read_with(reducer, model, encoded, batch_tokens=4096):
    """The result of one reducer on a model."""
    (found,) = read_attention(model, encoded, [reducer], batch_tokens=batch_tokens, what="test")
    return found


def measured(measurement, run, samples, *, kind, norms=False):
    """The result of one measurement, in a pass of its own."""
    (found,) = read_samples(run, samples, kind, [measurement], norms)
    return found


def distance_features(model, encoded):
    """[sample, layer, head, 69]."""
    return read_with(DistanceFeatures(encoded.kinds), model, encoded)


def reader_of(reducers, lengths, layers, heads):
    """The hook by which reducers read one batch of samples of these lengths, all of their pass."""
    for reducer in reducers:
        reducer.begin(Pass(len(lengths), layers, heads, torch.float32))
    inputs = {"input_ids": torch.zeros(len(lengths), max(lengths), dtype=torch.int64)}
    return AttentionReader(reducers, Batch(np.arange(len(lengths)), list(lengths), inputs))
