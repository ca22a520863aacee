"""Batches: every sample once, within the budget, padded at the end."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from headtypes.attention.batches import plan_batches, run_model
from tests.support.models import tiny_bert


@given(st.lists(st.integers(1, 600), max_size=60), st.integers(1, 5000))
def test_batches_hold_each_sample_once_the_longest_first_as_many_as_the_budget_allows(lengths, budget):
    batches = plan_batches(lengths, budget)
    planned = [index for batch in batches for index in batch]
    assert planned == sorted(range(len(lengths)), key=lambda index: (-lengths[index], index))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * lengths[batch[0]] <= budget
    assert all((len(batch) + 1) * lengths[batch[0]] > budget for batch in batches[:-1])


def run_batches(model, ids, types, batch_tokens, step, **how):
    """Run a model, and call `step` with each batch that has run."""

    def hook(batch):
        return lambda number, layer: layer.head_outputs()

    finish = lambda batch, hook, output: step(batch)  # noqa: E731
    run_model(model, ids, types, hook=hook, finish=finish, batch_tokens=batch_tokens, what="test", **how)


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
