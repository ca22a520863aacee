"""Products of float32 by oneDNN: used where MKL does without AVX-512, equal but for rounding, and gone afterwards."""

import pytest
import torch
from torch import nn

from headtypes.attention.batches import run_model
from headtypes.models import products
from headtypes.models.products import fast_products, product
from tests.support.models import tiny_bert

IDS = [[2, 7, 8, 9, 3], [2, 11, 12, 13, 14, 15, 3]]
needs_onednn = pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="PyTorch without oneDNN")


@pytest.fixture
def slow_mkl(monkeypatch):
    monkeypatch.setattr(products, "prefers_onednn", lambda: True)


@needs_onednn
@pytest.mark.parametrize("shape", [(5, 48), (3, 7, 48), (1, 1, 48)])
@pytest.mark.parametrize("bias", [True, False])
def test_products_are_those_of_the_plain_layer_but_for_rounding(slow_mkl, shape, bias):
    torch.manual_seed(0)
    linear = nn.Linear(48, 20, bias=bias)
    inputs = torch.randn(shape)
    for given in (inputs, inputs.flip(-2), inputs.expand(2, *shape)[1], torch.randn(*shape[:-1], 96)[..., ::2]):
        exact = nn.functional.linear(given.double(), linear.weight.double(), linear.bias.double() if bias else None)
        with fast_products(linear), torch.inference_mode():
            torch.testing.assert_close(linear(given).double(), exact, atol=1e-6, rtol=1e-5)


@needs_onednn
@pytest.mark.parametrize("leading", [(), (1,), (1, 1), (2, 3)])
@pytest.mark.parametrize("right", ["contiguous", "transposed", "strided"])
def test_a_product_is_that_of_matmul_but_for_rounding(slow_mkl, leading, right):
    torch.manual_seed(0)
    left = torch.randn(*leading, 7, 16)
    second = {
        "contiguous": torch.randn(*leading, 16, 9),
        "transposed": torch.randn(*leading, 9, 16).transpose(-1, -2),
        "strided": torch.randn(*leading, 16, 27)[..., ::3],
    }[right]
    with torch.inference_mode():
        found = product(left, second)
    torch.testing.assert_close(found.double(), left.double() @ second.double(), atol=1e-5, rtol=1e-5)


@needs_onednn
def test_a_model_runs_with_them_and_is_afterwards_as_before(slow_mkl):
    model, _ = tiny_bert()
    plain = [model(input_ids=torch.tensor([ids])).start_logits for ids in IDS]
    seen, outputs = set(), {}

    def hook(batch):
        def read(number, layer):
            seen.update(type(module).__name__ for module in model.modules() if isinstance(module, nn.Linear))
            return layer.head_outputs()

        return read

    def finish(batch, _, output):
        for row, sample in enumerate(batch.samples):
            outputs[sample] = output.start_logits[row, : batch.lengths[row]]

    run_model(model, IDS, None, hook=hook, finish=finish, batch_tokens=64)
    assert seen == {"_OneDnnLinear"}
    for sample, expected in enumerate(plain):
        torch.testing.assert_close(outputs[sample][None], expected, atol=1e-5, rtol=1e-5)
    assert {type(module) for module in model.modules() if isinstance(module, nn.Linear)} == {nn.Linear}


@needs_onednn
@pytest.mark.parametrize("bias", [True, False])
def test_gradients_pass_through_fixed_weights(slow_mkl, bias):
    torch.manual_seed(0)
    linear = nn.Linear(24, 10, bias=bias).requires_grad_(False)
    found, expected = (torch.randn(2, 3, 24, generator=torch.Generator().manual_seed(1)) for _ in range(2))
    with fast_products(linear):
        found.requires_grad_()
        linear(found).sum().backward()
        weighted = torch.autograd.grad((linear(found) ** 2).sum(), found)[0]
    expected.requires_grad_()
    linear(expected).sum().backward()
    torch.testing.assert_close(found.grad, expected.grad, atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(weighted, torch.autograd.grad((linear(expected) ** 2).sum(), expected)[0])
