"""Samples that are computed together have one length; blocks hold each row once, and batches each sample once."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from headtypes.attention import hook
from headtypes.attention.hook import Group, equal_lengths, plan_batches
from tests.support.models import tiny_bert
from tests.support.reading import layer_of

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


@given(st.lists(st.integers(1, 600), max_size=60), st.integers(1, 5000))
def test_batches_hold_each_sample_once_the_longest_first_as_many_as_the_budget_allows(lengths, budget):
    batches = plan_batches(lengths, budget)
    planned = [index for batch in batches for index in batch]
    assert planned == sorted(range(len(lengths)), key=lambda index: (-lengths[index], index))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * lengths[batch[0]] <= budget
    assert all((len(batch) + 1) * lengths[batch[0]] > budget for batch in batches[:-1])


def run_batches(model, ids, types, batch_tokens, step, **how):
    def run_batch(batch, forward):
        forward(lambda number, layer: layer.head_outputs())
        step(batch)

    hook.run_batches(model, ids, types, run_batch, batch_tokens=batch_tokens, what="test", **how)


@pytest.mark.parametrize("length", [None, 6])
def test_batches_are_those_of_the_plan_with_the_inputs_of_their_samples(length):
    model, _ = tiny_bert(layers=1)
    ids = [np.arange(1, size + 1) for size in (2, 5, 3)]
    types = [np.ones(size, dtype=int) for size in (2, 5, 3)]
    found = []
    run_batches(model, ids, types, 10, found.append, length=length)
    samples = [batch.samples for batch in found]
    padded = [[ids[index].size for index in batch] if length is None else [length] for batch in samples]
    assert [batch.tolist() for batch in samples] == ([[1, 2], [0]] if length is None else [[0], [1], [2]])
    for done, sizes in zip(found, padded, strict=True):
        batch, inputs = done.samples, done.inputs
        assert done.lengths == [ids[index].size for index in batch]
        assert {tensor.shape for tensor in inputs.values()} == {(len(batch), max(sizes))}
        for row, index in enumerate(batch):
            real = inputs["attention_mask"][row].bool()
            assert inputs["input_ids"][row][real].tolist() == ids[index].tolist()
            assert inputs["token_type_ids"][row][real].tolist() == types[index].tolist()
            assert set(inputs["input_ids"][row][~real].tolist()) <= {model.config.pad_token_id}
            assert real.sum() == done.lengths[row]


def test_a_batch_that_is_too_large_is_halved_at_its_padded_length():
    model, _ = tiny_bert(layers=1)
    tried, done = [], []

    def step(batch):
        assert "token_type_ids" not in batch.inputs
        tried.append(len(batch.samples))
        if len(batch.samples) > 2:
            raise torch.OutOfMemoryError("planted")
        done.append((batch.samples.tolist(), batch.inputs["input_ids"].tolist()))

    run_batches(model, [np.full(size, size) for size in (1, 2, 3, 4, 5)], None, 25, step)
    assert tried == [5, 2, 3, 1, 2]
    assert [batch for batch, _ in done] == [[4, 3], [2], [1, 0]]
    assert {len(row) for _, ids in done for row in ids} == {5}
    assert done[1][1][0][:3] == [3, 3, 3]
