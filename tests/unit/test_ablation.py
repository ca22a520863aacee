"""Ablated models equal a dense computation, sample by sample, written from the definition of each operation."""

import copy

import numpy as np
import pytest
import torch
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import eager_mask

from headtypes.ablation import Ablation, Reading, operations_by_head
from headtypes.attention import run
from headtypes.batching import model_inputs
from headtypes.windows import build_windows
from tests.models import QUESTIONS, opened, tiny_bert, tiny_roberta

MODELS = {"bert": tiny_bert, "roberta": tiny_roberta}
OPERATIONS = ("zero", "uniform", "drop_intra", "drop_inter")


def questions() -> list[dict]:
    return [{"id": str(n), "question": q, "context": c} for n, (q, c) in enumerate(QUESTIONS)]


def defined_attention(attention, operation: str, sentence, reading: Reading):
    """One head's attention [query, key] after an operation, pair by pair."""
    attention = attention.clone()
    length = len(sentence)
    sentence = [min(number, 1) if reading.sentences == "segments" else number for number in sentence]
    for s in range(length):
        for t in range(length):
            intra = sentence[s] == sentence[t]
            if sentence[s] < 0 or sentence[t] < 0:
                intra = s == t if reading.special_tokens == "inter" else None
            dropped = {"zero": True, "drop_intra": intra is True, "drop_inter": intra is False}
            if dropped.get(operation, False):
                attention[s, t] = 0
            elif operation == "uniform":
                attention[s, t] = 1 / length
        if reading.renormalise and attention[s].sum() > 0:
            attention[s] /= attention[s].sum()
    return attention


def dense_logits(model, ids, types, operations, sentence, reading=Reading()):
    """Start and end logits of one sample without padding, in float64, with every attention map in full."""

    def attend(module, query, key, value, attention_mask, scaling, dropout=0.0, **kwargs):
        attention = torch.softmax(query @ key.transpose(-1, -2) * scaling, dim=-1)
        for head, operation in enumerate(operations[module.layer_idx]):
            attention[0, head] = defined_attention(attention[0, head], operation, sentence, reading)
        return (attention @ value).transpose(1, 2), attention

    AttentionInterface.register("dense_reference", attend)
    AttentionMaskInterface.register("dense_reference", eager_mask)
    model = copy.deepcopy(model).double()
    for number, layer in enumerate(model.base_model.encoder.layer):
        layer.attention.self.layer_idx = number
    model.set_attn_implementation("dense_reference")
    inputs = {"input_ids": torch.tensor([ids.tolist()])}
    if types is not None:
        inputs["token_type_ids"] = torch.tensor([types.tolist()])
    with torch.inference_mode():
        output = model(**inputs)
    return torch.stack([output.start_logits[0], output.end_logits[0]])


def ablated_logits(model, windows, chosen, operations, reading=Reading()):
    """Logits of some windows, run as one padded batch through `Ablation`: one [2, token] per window."""
    bounds = [slice(windows.offsets[index], windows.offsets[index + 1]) for index in chosen]
    types = None if windows.token_type_ids is None else [windows.token_type_ids[each] for each in bounds]
    inputs = model_inputs([windows.input_ids[each] for each in bounds], types, 1, torch.device("cpu"))
    sentences = [windows.sentence[each] for each in bounds]
    with torch.inference_mode():
        output = run(opened(model), inputs, Ablation(operations, sentences, reading))
    logits = torch.stack([output.start_logits, output.end_logits], dim=1)
    return [row[:, : each.stop - each.start] for row, each in zip(logits, bounds, strict=True)]


def mixed(model, names, seed=0):
    shape = (model.config.num_hidden_layers, model.config.num_attention_heads)
    return np.random.default_rng(seed).choice(np.array(names, dtype=object), shape)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("operation", [*OPERATIONS, "mixed"])
def test_an_operation_equals_the_dense_computation(name, operation):
    model, tokenizer = MODELS[name]()
    windows = build_windows(questions(), tokenizer, window=60)
    operations = mixed(model, ["keep", *OPERATIONS] if operation == "mixed" else ["keep", operation])
    found = ablated_logits(model, windows, range(len(windows)), operations)
    for index, logits in enumerate(found):
        tokens = slice(windows.offsets[index], windows.offsets[index + 1])
        types = windows.token_type_ids
        expected = dense_logits(
            model,
            windows.input_ids[tokens],
            None if types is None else types[tokens],
            operations,
            windows.sentence[tokens].tolist(),
        )
        torch.testing.assert_close(logits.double(), expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    "reading",
    [Reading(sentences="segments"), Reading(special_tokens="inter"), Reading(renormalise=True)],
    ids=["segments", "special tokens inter", "renormalise"],
)
@pytest.mark.parametrize("operation", ["drop_intra", "drop_inter"])
def test_each_reading_equals_the_dense_computation(operation, reading):
    model, tokenizer = tiny_bert()
    windows = build_windows(questions(), tokenizer, window=60)
    operations = mixed(model, ["keep", operation])
    (found,) = ablated_logits(model, windows, [1], operations, reading)
    tokens = slice(windows.offsets[1], windows.offsets[2])
    arguments = (
        windows.input_ids[tokens],
        windows.token_type_ids[tokens],
        operations,
        windows.sentence[tokens].tolist(),
    )
    torch.testing.assert_close(found.double(), dense_logits(model, *arguments, reading), atol=1e-5, rtol=0)
    paper = dense_logits(model, *arguments)
    assert (dense_logits(model, *arguments, reading) - paper).abs().max() > 1e-3


@pytest.mark.parametrize("name", MODELS)
def test_keeping_all_heads_is_the_plain_model(name):
    model, tokenizer = MODELS[name]()
    windows = build_windows(questions(), tokenizer, window=60)
    found = ablated_logits(model, windows, range(3), mixed(model, ["keep"]))
    for index, logits in enumerate(found):
        tokens = slice(windows.offsets[index], windows.offsets[index + 1])
        inputs = {"input_ids": torch.tensor(windows.input_ids[tokens][None].astype(int))}
        if windows.token_type_ids is not None:
            inputs["token_type_ids"] = torch.tensor(windows.token_type_ids[tokens][None].astype(int))
        with torch.inference_mode():
            output = model(**inputs)
        expected = torch.stack([output.start_logits[0], output.end_logits[0]])
        torch.testing.assert_close(logits, expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("operation", ["drop_intra", "drop_inter"])
def test_blocks_of_query_rows_change_nothing(operation, monkeypatch):
    model, tokenizer = tiny_bert()
    windows = build_windows(questions(), tokenizer, window=60)
    operations = mixed(model, ["keep", operation])
    whole = ablated_logits(model, windows, [1], operations)
    monkeypatch.setattr("headtypes.ablation._BLOCK_ROWS", 7)
    torch.testing.assert_close(ablated_logits(model, windows, [1], operations), whole, atol=1e-5, rtol=0)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_sample_in_a_padded_batch_is_the_sample_alone(operation):
    model, tokenizer = tiny_bert()
    windows = build_windows(questions(), tokenizer, window=60)
    operations = mixed(model, ["keep", operation])
    together = ablated_logits(model, windows, range(len(windows)), operations)
    for index, logits in enumerate(together):
        (alone,) = ablated_logits(model, windows, [index], operations)
        torch.testing.assert_close(logits, alone, atol=1e-5, rtol=0)


def test_operations_follow_the_types():
    types = np.array([["dense", "diagonal"], ["vertical", "dense"]], dtype=object)
    found = operations_by_head(types, {"dense": "zero", "vertical": "uniform"})
    assert found.tolist() == [["zero", "keep"], ["uniform", "zero"]]
