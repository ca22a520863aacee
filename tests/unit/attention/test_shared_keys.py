"""Where a head of keys and values counts as a head: all that is read of it, and done to it, by the definition."""

import copy
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from headtypes.analyses.ablation.head_outputs import measure_head_outputs
from headtypes.analyses.ablation.importance import HeadGates
from headtypes.analyses.distances.measure import extract_features
from headtypes.analyses.divergence.measure import divergences
from headtypes.analyses.gradients.measure import gradients_by_kind
from headtypes.attention import blocks
from headtypes.attention.ablate import Ablation
from headtypes.attention.hook import open_attention, run
from headtypes.attention.norms import KeyLengths
from headtypes.attention.operations import Reading
from headtypes.attention.run import ModelOnTask
from headtypes.data.encoding import encode_samples
from headtypes.models.loading import load_model
from tests.support.clark import defined_divergence
from tests.support.dense import CHANGES, dense_output, head_outputs_for
from tests.support.models import in_float64, plain_attentions, tiny_family
from tests.support.reading import attention_maps, distance_features, mean_head_outputs
from tests.support.records import SAMPLES, recorded

QUERIES, SHAPE = 2, (2, 2)
SETTINGS = {"task": "t", "precision": "float32", "batch_tokens": 512}
READING = Reading(renormalise=True)


@pytest.fixture
def counted():
    """A Llama of two layers of four heads, of which each two share keys and count as one; and its tokenizer."""
    model, tokenizer = tiny_family("llama")
    model = copy.deepcopy(model)
    model.queries_per_head = QUERIES
    return model, tokenizer


@pytest.fixture
def encoded(counted):
    return encode_samples(SAMPLES, counted[1], "question_answering", 64)


def mean_of_queries(by_query: np.ndarray) -> np.ndarray:
    """[layer, head of queries, ...] -> [layer, head of keys, ...]."""
    return by_query.reshape(len(by_query), -1, QUERIES, *by_query.shape[2:]).mean(2)


@pytest.mark.parametrize("long", [1024, 1], ids=["together", "one after another"])
def test_the_attention_of_a_head_is_the_mean_of_the_queries_that_share_its_keys(counted, encoded, long, monkeypatch):
    monkeypatch.setattr(blocks, "LONG", long)
    monkeypatch.setattr(blocks, "_LONG_WITH_ONEDNN", long)
    model, _ = counted
    found = distance_features(model, encoded)
    plain = copy.deepcopy(model)
    del plain.queries_per_head
    by_query = distance_features(plain, encoded)
    assert found.shape == (len(SAMPLES), *SHAPE, 69)
    for of_sample, of_queries in zip(found, by_query, strict=True):
        np.testing.assert_allclose(of_sample, mean_of_queries(of_queries), atol=1e-6)
    one = encode_samples(SAMPLES[:1], counted[1], "question_answering", 64)
    expected = mean_of_queries(plain_attentions(model, one.input_ids[0], None))
    np.testing.assert_allclose(attention_maps(model, one), expected, atol=1e-5)


def test_the_output_of_a_head_is_that_of_its_queries_side_by_side(counted, encoded):
    model, _ = counted
    plain = copy.deepcopy(model)
    del plain.queries_per_head
    found = mean_head_outputs(model, encoded)
    np.testing.assert_allclose(found.reshape(2, 4, 6), mean_head_outputs(plain, encoded), atol=1e-6)
    # And so is the matrix that it is multiplied by.
    outputs, projection = torch.randn(1, *SHAPE[1:], 5, 12), model.base_model.layers[0].self_attn.o_proj.weight
    written = torch.stack([outputs[:, 0] @ projection[:, :12].T, outputs[:, 1] @ projection[:, 12:].T], 1)
    torch.testing.assert_close(KeyLengths(model).of(0, slice(None), outputs), written.norm(dim=-1))


@pytest.mark.parametrize("operation", CHANGES)
def test_an_operation_is_done_to_all_queries_that_share_the_keys(counted, operation):
    model, tokenizer = in_float64(counted[0]), counted[1]
    ids = tokenizer(SAMPLES[0].first, SAMPLES[0].second)["input_ids"]
    sentence = np.repeat([0, 1, 2], [4, 5, len(ids)])[: len(ids)]
    operations, by_query = np.array([["keep", operation], [operation, "keep"]], object), head_outputs_for(model)
    with open_attention(model), torch.inference_mode():
        ablation = Ablation(operations, [sentence], READING, by_query.reshape(*SHAPE, -1), QUERIES)
        inputs = {"input_ids": torch.tensor([ids]), "attention_mask": torch.ones(1, len(ids), dtype=torch.int64)}
        found = run(model, inputs, ablation)
    done = np.repeat(operations, QUERIES, 1), sentence, READING
    expected = dense_output(model, ids, None, *done, head_outputs=by_query, queries=QUERIES)
    torch.testing.assert_close(found[0], expected[0], atol=1e-6, rtol=1e-6)


def test_importance_is_the_slope_of_the_loss_in_a_factor_of_all_queries(counted):
    model, tokenizer = in_float64(counted[0]), counted[1]
    inputs = dict(tokenizer(SAMPLES[0].first, SAMPLES[0].second, return_tensors="pt"))
    loss = lambda model, **how: model(**inputs, **how)[0].square().sum()  # noqa: E731
    gates = HeadGates(QUERIES)
    with open_attention(model):
        found = torch.autograd.grad(run(model, inputs, gates)[0].square().sum(), gates.gates)
    for layer, head in np.ndindex(SHAPE):
        ends = []
        for factor in (1.003, 0.997):
            scaled = copy.deepcopy(model)
            scaled.base_model.layers[layer].self_attn.o_proj.weight.data[:, 12 * head : 12 * (head + 1)] *= factor
            ends.append(loss(scaled).item())
        assert found[layer][0, head].item() == pytest.approx((ends[0] - ends[1]) / 0.006, rel=1e-3, abs=1e-3)


def test_the_gradient_of_the_attention_that_queries_have_in_common_is_the_sum_of_theirs(counted, encoded):
    model, _ = counted
    model, ids = in_float64(model), encoded.input_ids[0]
    plain = in_float64(model).requires_grad_(True)
    plain.set_attn_implementation("eager")
    output = plain(input_ids=torch.tensor([ids]), output_attentions=True)
    by_query = torch.cat(torch.autograd.grad(output[0].square().sum(), output.attentions)).numpy()
    expected = np.abs(by_query.reshape(2, 2, QUERIES, len(ids), len(ids)).sum(2)).mean((-1, -2))
    loss = SimpleNamespace(
        kinds=[np.zeros(len(ids), int)],
        input_ids=[ids],
        token_types=None,
        others=None,
        units=np.array([0]),
        start=lambda batch: None,
        attached=lambda model: open_attention(model),
        batch_tokens=lambda tokens, words: tokens,
        losses=lambda output, batch: output[0].square().sum()[None],
    )
    found = gradients_by_kind(model, loss, 512, "test")
    np.testing.assert_allclose(found[..., -1], expected, rtol=1e-5)


def test_divergences_are_those_of_the_mean_attention(counted):
    model, tokenizer = in_float64(counted[0]), counted[1]
    one = encode_samples(SAMPLES[:1], tokenizer, "question_answering", 64)
    maps = mean_of_queries(plain_attentions(model, one.input_ids[0], None))
    maps = maps.reshape(-1, *maps.shape[2:])
    (found,), _ = divergences(model, one, smoothing=0.001, batch_tokens=512, what="test")
    expected = [[defined_divergence(a, b, 0.001) for b in maps] for a in maps]
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-8)


def test_the_record_says_what_counts_as_a_head_and_all_results_follow(counted, tmp_path):
    model, tokenizer = tiny_family("llama")
    record = recorded(model, tokenizer, tmp_path / "shared", units="key_value_heads")
    assert (record.layers, record.heads, record.queries_per_head) == (*SHAPE, QUERIES)
    assert load_model(record, "float32").queries_per_head == QUERIES
    features = extract_features(ModelOnTask(record, **SETTINGS), SAMPLES, kind="question_answering")
    assert features.distance.shape[1:3] == SHAPE
    outputs = measure_head_outputs(SAMPLES, record, kind="question_answering", **SETTINGS)
    assert outputs.shape == (*SHAPE, QUERIES * 6)
