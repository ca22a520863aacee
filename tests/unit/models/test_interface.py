"""Methods that are replaced while heads are read: the model is as before afterwards, and whatever calls it is read."""

import numpy as np
import pytest
import torch

from headtypes.api.ablation import ablated
from headtypes.attention.hook import open_attention, run
from headtypes.attention.operations import Reading
from headtypes.core.errors import InputError
from headtypes.models.interface import _OWN
from tests.support.dense import dense_output
from tests.support.models import state, tiny_family, tiny_language_model

FAMILIES = ("mpnet", "bloom", "falcon", "gptj", "stablelm")
IDS = torch.tensor([[5, 6, 7, 8, 9]])
INPUTS = {"input_ids": IDS, "attention_mask": torch.ones_like(IDS)}


@pytest.mark.parametrize("name", FAMILIES)
def test_a_model_is_left_as_it_was_even_by_a_pass_that_fails(name):
    model, _ = tiny_family(name)
    before = state(model)
    assert {type(each).__name__ for each in model.modules()} & set(_OWN)

    def fails(number, layer):
        raise RuntimeError("stop")

    with open_attention(model):
        within = state(model)
        assert within != before
        with open_attention(model):
            assert state(model) == within
        assert state(model) == within
        with pytest.raises(RuntimeError, match="stop"), torch.inference_mode():
            run(model, INPUTS, fails)
        seen = []
        with torch.inference_mode():
            run(model, INPUTS, lambda number, layer: seen.append(number) or layer.head_outputs())
        assert seen == [0, 1]
    assert state(model) == before


@pytest.mark.parametrize("name", FAMILIES)
def test_heads_are_ablated_for_whatever_calls_the_model(name):
    model, _ = tiny_language_model(name)
    with ablated(model, {"1-2": "zero", "2-4": "uniform"}), torch.inference_mode():
        found = model(**INPUTS).logits
        if model.base_model is not model:
            with pytest.raises(InputError, match="was called without that model"):
                model.base_model(**INPUTS)
        torch.testing.assert_close(model(**INPUTS).logits, found, atol=2e-5, rtol=1e-5)
    operations = np.full((2, 4), "keep", dtype=object)
    operations[0, 1], operations[1, 3] = "zero", "uniform"
    expected = dense_output(model, IDS[0].tolist(), None, operations, [0] * 5, Reading()).logits
    torch.testing.assert_close(found.double(), expected, atol=2e-5, rtol=1e-5)
