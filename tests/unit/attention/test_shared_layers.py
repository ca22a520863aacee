"""Layers that several passes have in common: computed once, and every pass gives what it would give alone."""

from itertools import chain, pairwise

import numpy as np
import pytest
import torch

from headtypes.attention.ablate import Ablation
from headtypes.attention.batches import model_inputs
from headtypes.attention.hook import open_attention, run
from headtypes.attention.operations import Reading
from headtypes.attention.shared_layers import shared_layers
from headtypes.models.model_config import layers_and_heads
from tests.support.dense import head_outputs_for
from tests.support.models import FAMILIES, tiny_bert, tiny_language_model

LAYERS, HEADS = 4, 4
# Samples of the batch, two of which are padded.
IDS = [[3, 5, 7, 9, 4, 8, 6], [3, 9, 6, 5, 4], [3, 4]]
SENTENCES = [np.array(each) for each in ([-1, 0, 0, 1, 1, 2, -1], [-1, 0, 1, 1, -1], [0, 0])]
# What is done to some heads: {(layer, head): operation}.
CHANGES = (
    {},
    {(3, 1): "zero"},
    {(3, 1): "uniform", (3, 2): "drop_inter"},
    {(2, 0): "drop_intra"},
    {(2, 0): "drop_intra", (3, 1): "mean"},
    {(0, 1): "mean"},
    {(0, 1): "mean", (2, 3): "zero"},
    {(0, 1): "mean", (2, 3): "resample", (3, 0): "temperature 2"},
    {(0, 2): "uniform"},
)


def sets_of(layers: int) -> list[np.ndarray]:
    """[layer, head] operations, by what is done to some heads, in order; layers: of the model, which may have fewer."""
    sets = []
    for change in CHANGES:
        operations = np.full((layers, HEADS), "keep", dtype=object)
        for (layer, head), operation in change.items():
            operations[layer * layers // LAYERS, head] = operation
        sets.append(operations)
    return sorted(sets, key=lambda operations: tuple(operations.flat))


SETS = sets_of(LAYERS)


def outputs_of(model, sets, together: bool, reading: Reading | None = None, length: int = 0) -> tuple[list, int]:
    """All tensors of the model's output under each set, and how many layers were computed."""
    inputs = model_inputs(IDS, None, 0, model.device, length)
    means, computed = head_outputs_for(model), []

    def hook(operations):
        ablation = Ablation(operations, SENTENCES, reading or Reading(), means)
        return lambda number, layer: computed.append(number) or ablation(number, layer)

    hooks = map(hook, sets)
    with open_attention(model), torch.inference_mode(), shared_layers(model, sets) as run_passes:
        computed.clear()
        found = list(run_passes(inputs, hooks)) if together else [run(model, inputs, each) for each in hooks]
    return [[value for value in output.values() if isinstance(value, torch.Tensor)] for output in found], len(computed)


def same(one: list, other: list) -> bool:
    return all(torch.equal(*pair) for pair in zip(chain(*one), chain(*other), strict=True))


@pytest.mark.same_bits
@pytest.mark.parametrize("family", FAMILIES)
def test_every_pass_gives_the_bytes_that_it_gives_alone(family):
    sizes = {} if "num_hidden_layers" in FAMILIES[family].more else {"num_hidden_layers": LAYERS}
    model, _ = tiny_language_model(family, **sizes)
    layers, _ = layers_and_heads(model)
    sets = sets_of(layers)
    plain, each = outputs_of(model, sets, together=False)
    shared, computed = outputs_of(model, sets, together=True)
    assert same(shared, plain)
    assert not any(same([one], [other]) for one, other in pairwise(plain))
    assert each == len(sets) * layers
    # ALBERT computes all layers by one module.
    distinct = {tuple(operations[: layer + 1].flat) for operations in sets for layer in range(layers)}
    assert computed == (each if family == "albert" else len(distinct))


@pytest.mark.same_bits
def test_windows_padded_in_full_give_the_bytes_that_they_give_alone():
    model, _ = tiny_bert(LAYERS, HEADS)
    how = {"reading": Reading(uniform_over_padding=True), "length": 11}
    plain, _ = outputs_of(model, SETS, together=False, **how)
    assert same(outputs_of(model, SETS, together=True, **how)[0], plain)
    assert not same(outputs_of(model, SETS, together=True)[0], plain)


def test_the_model_is_left_as_it_was():
    model, _ = tiny_bert(LAYERS, HEADS)
    with shared_layers(model, SETS):
        assert all("forward" in vars(layer) for layer in model.bert.encoder.layer)
    assert not any("forward" in vars(layer) for layer in model.bert.encoder.layer)
