"""Batches: every sample once, within the budget, padded at the end."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from headtypes.batching import model_inputs, pad, plan_batches

CPU = torch.device("cpu")


@given(st.lists(st.integers(1, 600), max_size=60), st.integers(1, 5000))
def test_every_sample_comes_once_and_no_batch_of_several_is_over_the_budget(lengths, budget):
    batches = plan_batches(lengths, budget)
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[index] for index in batch) <= budget


@given(st.lists(st.integers(1, 600), min_size=1, max_size=60), st.integers(1, 5000))
def test_the_longest_samples_come_first_and_samples_of_one_length_in_their_order(lengths, budget):
    planned = [index for batch in plan_batches(lengths, budget) for index in batch]
    assert planned == sorted(range(len(lengths)), key=lambda index: (-lengths[index], index))


@given(st.lists(st.integers(1, 600), min_size=1, max_size=60), st.integers(1, 5000))
def test_no_batch_could_take_the_next_sample_too(lengths, budget):
    batches = plan_batches(lengths, budget)
    for batch in batches[:-1]:
        assert (len(batch) + 1) * lengths[batch[0]] > budget


def test_the_plan_of_windows_given_as_an_array_is_that_of_a_list():
    lengths = [5, 9, 2, 9, 7]
    of_list, of_array = plan_batches(lengths, 18), plan_batches(np.array(lengths), 18)
    assert [batch.tolist() for batch in of_list] == [batch.tolist() for batch in of_array] == [[1, 3], [4, 0], [2]]


def test_rows_are_padded_at_the_end():
    assert pad([[1, 2, 3], [4]], fill=9, device=CPU).tolist() == [[1, 2, 3], [4, 9, 9]]


@pytest.mark.parametrize("token_types", [None, [[0, 1, 1], [0]]])
def test_padding_is_masked_and_a_model_without_segments_gets_none(token_types):
    inputs = model_inputs([[7, 8, 9], [7]], token_types, 5, CPU)
    assert inputs["input_ids"].tolist() == [[7, 8, 9], [7, 5, 5]]
    assert inputs["attention_mask"].tolist() == [[1, 1, 1], [1, 0, 0]]
    if token_types is None:
        assert "token_type_ids" not in inputs
    else:
        assert inputs["token_type_ids"].tolist() == [[0, 1, 1], [0, 0, 0]]
    assert {tensor.dtype for tensor in inputs.values()} == {torch.int64}
