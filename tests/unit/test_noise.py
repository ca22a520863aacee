"""Layers return noise where it is asked for, of the size that was asked for, and nowhere else."""

import pytest
import torch


def returned_twice() -> list[torch.Tensor]:
    layer, numbers = torch.nn.Linear(30, 30), torch.ones(30, 30)
    with torch.inference_mode():
        return [layer(numbers), layer(numbers)]


def test_two_calls_differ_by_little_where_noise_is_asked_for(request):
    size = request.config.getoption("--noise")
    one, other = returned_twice()
    assert torch.equal(one, other) == (not size)
    torch.testing.assert_close(one, other, rtol=10 * (size or 0), atol=0)


@pytest.mark.same_bits
def test_two_calls_of_a_test_of_equal_bits_are_equal():
    assert torch.equal(*returned_twice())
