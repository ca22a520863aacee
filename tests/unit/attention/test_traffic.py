"""On a GPU, time goes into maps that are read and written: how often that is, counted on the CPU."""

import pytest
import torch

from benchmarks.traffic import Traffic, traffic


def test_what_operations_read_and_write_is_counted():
    of_four = torch.ones(4)
    rows = torch.ones(3, 4)
    with Traffic() as counted:
        rows.add_(of_four.expand(3, 4))
        rows[:, 1:].sum(1)
        torch.softmax(rows, -1, out=rows)
        rows.t()
    # A number has 4 bytes: 12 are read with 4 and 12 written; 9 read and 3 written; 12 read and written.
    expected = [("add", 4 * (12 + 4 + 12)), ("sum", 4 * (9 + 3)), ("softmax", 4 * 24)]
    assert [(name, moved) for name, _, moved in counted.found] == expected


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_a_layer_of_bert_large_is_read_with_few_readings_of_its_maps(dtype):
    maps = traffic(dtype).set_index("operation").maps
    assert maps["of a map's size"] <= 5.5
    assert maps["all"] <= 7
