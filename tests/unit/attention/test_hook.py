"""Samples that are computed together have one length, and their blocks of rows hold each row once."""

from dataclasses import replace

import pytest
import torch

from headtypes.attention import hook
from headtypes.attention.hook import Group, equal_lengths
from tests.support.layers import layer_of

CPU, GPU = torch.device("cpu"), torch.device("meta")


@pytest.mark.parametrize("lengths", [[5, 5, 5, 3, 3, 1], [1], [200] * 7 + [160] * 5, [64] * 50, [9000, 2], [4, 6, 4]])
def test_groups_hold_each_sample_once_with_its_length(lengths):
    found = equal_lengths(lengths, CPU)
    assert [length for group in found for length in lengths[group.samples]] == lengths
    for group in found:
        assert set(lengths[group.samples]) == {group.length}
        samples = group.samples.stop - group.samples.start
        assert samples == 1 or samples * group.length**2 <= hook._BLOCK_PAIRS


def test_as_many_samples_as_fit_go_together():
    assert [group.samples for group in equal_lengths([90] * 5, CPU)] == [slice(0, 4), slice(4, 5)]


@pytest.mark.parametrize("length", [1, 31, 32, 33, 160, 384, 512, 1000, 8192])
def test_blocks_hold_each_row_once(length):
    blocks = list(Group(slice(0, 1), length).blocks(CPU))
    assert [row for block in blocks for row in range(length)[block]] == list(range(length))
    rows = [block.stop - block.start for block in blocks]
    assert all(each % hook.LEAST_ROWS == 0 for each in rows[:-1])
    assert max(rows) * length <= max(hook._BLOCK_PAIRS, hook.LEAST_ROWS * length) + hook.LEAST_ROWS * length


@pytest.mark.parametrize("length", [100, 1023, 1024])
def test_blocks_of_heads_hold_each_row_of_each_head_once(length):
    layer, seen = layer_of([length], heads=3, causal=False, seed=0), []
    for heads, part, rows in Group(slice(0, 1), length).blocks_of_heads(layer):
        assert torch.equal(part.query, layer.query[:, heads])
        seen += [(head, row) for head in range(3)[heads] for row in range(length)[rows]]
    assert (heads == slice(2, 3)) == (length >= 1024)
    assert sorted(seen) == [(head, row) for head in range(3) for row in range(length)]


def test_on_a_gpu_a_layer_comes_at_once():
    layer = layer_of([384, 384, 384, 200], heads=3, causal=False, seed=0)
    on_gpu = replace(layer, query=layer.query.to(GPU))
    found = equal_lengths([384, 384, 384, 200], GPU)
    assert [group.samples for group in found] == [slice(0, 3), slice(3, 4)]
    for group in found:
        assert list(group.blocks_of_heads(on_gpu)) == [(slice(0, 3), on_gpu, slice(0, group.length))]


def test_on_a_gpu_a_block_of_a_long_text_has_no_more_pairs_than_memory_is_asked_for():
    rows = list(Group(slice(0, 1), 8192).blocks(GPU))
    assert rows == [slice(start, start + 256) for start in range(0, 8192, 256)]
    assert hook._GPU_PAIRS == 256 * 8192
