"""Ablated models equal a dense computation, sample by sample, written from the definition of each operation."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import chi2

from headtypes.attention.ablate import Ablation
from headtypes.attention.hook import Layer
from headtypes.attention.operations import Reading, reading_matters
from tests.support.dense import CHANGES, PAPER, ablated, defined, dropped_pairs, mixed
from tests.support.models import tiny_bert, tiny_roberta
from tests.support.reading import WAYS, attention_of, cut_into_blocks, layer_of
from tests.support.records import windows_of

MODELS = {"bert": tiny_bert, "roberta": tiny_roberta}
READINGS = {
    "segments": Reading(sentences="segments"),
    "special tokens inter": Reading(special_tokens="inter"),
    "special tokens cut": Reading(special_tokens="cut"),
    "renormalise": Reading(renormalise=True),
    "uniform over padding": Reading(uniform_over_padding=True),
}


def found_and_defined(model, windows, operations, reading=PAPER):
    return ablated(model, windows, operations, reading)[1].double(), defined(model, windows, 1, operations, reading)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("reading", READINGS.values(), ids=READINGS)
@pytest.mark.parametrize("operation", CHANGES)
def test_each_reading_equals_the_dense_computation_and_matters_where_it_says(name, operation, reading):
    model, tokenizer = MODELS[name]()
    windows, operations = windows_of(tokenizer), mixed(model, ["keep", operation])
    found, expected = found_and_defined(model, windows, operations, reading)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=0)
    paper = defined(model, windows, 1, operations)
    (field,) = [field for field, value in vars(reading).items() if value != vars(PAPER)[field]]
    assert ((expected - paper).abs().max() > 1e-3) == (field in reading_matters([operation]))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("special_tokens", ["neither", "inter", "cut"])
def test_readings_and_operations_together_equal_the_dense_computation(name, special_tokens):
    model, tokenizer = MODELS[name](layers=4, heads=6)
    reading = Reading("segments", special_tokens, renormalise=True, uniform_over_padding=True)
    operations = mixed(model, ["keep", *CHANGES], seed=1)
    # What padding gets from the others reaches the tokens through uniform heads further up.
    operations[3, ::2] = "uniform"
    assert set(CHANGES) - {"uniform"} <= set(operations[:3].flat)
    found, expected = found_and_defined(model, windows_of(tokenizer), operations, reading)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=0)


def test_a_row_that_loses_everything_is_zero_however_it_is_read():
    model, tokenizer = tiny_bert()
    windows = windows_of(tokenizer)
    windows = replace(windows, sentence=np.ones_like(windows.sentence))
    dropped, gone = (
        ablated(model, windows, mixed(model, [operation]), Reading(renormalise=True))[1]
        for operation in ("drop_intra", "zero")
    )
    torch.testing.assert_close(dropped, gone, atol=1e-5, rtol=0)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("kept", [64, 1], ids=["", "nothing kept for the next layer"])
@pytest.mark.parametrize("operation", ["drop_intra", "drop_inter", "uniform"])
@pytest.mark.parametrize("way", WAYS)
@torch.inference_mode()
def test_samples_of_one_length_together_equal_the_definition(operation, causal, kept, way, monkeypatch):
    monkeypatch.setattr("headtypes.attention.hook._BLOCK_PAIRS", 4000)
    monkeypatch.setattr("headtypes.attention.ablate._BLOCKS_KEPT", kept)
    cut_into_blocks(monkeypatch, way)
    lengths = [60, 60, 45, 45, 12, 12, 12, 3]
    rng = np.random.default_rng(0)
    sentences = [np.sort(rng.integers(-1, 4, length)) for length in lengths]
    ablation = Ablation(np.array([["keep", operation, operation]] * 2, dtype=object), sentences, PAPER)
    for number in range(2):
        layer = layer_of(lengths, heads=3, causal=causal, seed=number)
        outputs = ablation(number, layer)
        for sample, length in enumerate(lengths):
            attention = attention_of(layer, sample, length)
            if operation == "uniform":
                seen = attention[1:] > 0
                attention[1:] = seen / seen.sum(-1, keepdims=True)
            else:
                attention[1:, dropped_pairs(operation, tuple(sentences[sample].tolist()), PAPER).numpy()] = 0
            expected = attention @ layer.value[sample, :, :length].double().numpy()
            np.testing.assert_allclose(outputs[sample, :, :length], expected, atol=1e-5)


def planted(causal: bool = False) -> Layer:
    """A layer in which head 1 looks at the token itself, and head 2 at the first; values are the tokens' positions."""
    length = 40
    query = torch.zeros(1, 2, length, length)
    query[0, 0], query[0, 1, :, 0] = 60 * torch.eye(length), 60
    value = torch.arange(length, dtype=torch.float32)[:, None].expand(1, 2, length, 1)
    mask = torch.ones(1, 1, length, length, dtype=torch.bool).tril() if causal else None
    return Layer(query, torch.eye(length).expand(1, 2, length, length), value, mask, 1.0)


# The first and the last three tokens are special.
KINDS = np.array([-1, *[0] * 36, *[-1] * 3])


def planted_outputs(operation: str, causal: bool = False, number: int = 0) -> np.ndarray:
    ablation = Ablation(np.full((number + 1, 2), operation, dtype=object), [KINDS], PAPER)
    layer = planted(causal)
    for earlier in range(number):
        ablation(earlier, layer)
    return ablation(number, layer)[0, :, :, 0].numpy()


def test_a_temperature_spreads_attention_from_where_a_head_looks_over_all_that_it_may_look_at():
    position = np.arange(40)
    np.testing.assert_allclose(planted_outputs("temperature 1"), planted_outputs("keep"), atol=1e-5)
    np.testing.assert_allclose(planted_outputs("keep"), [position, 0 * position], atol=1e-4)
    for causal in (False, True):
        hot, uniform = planted_outputs("temperature 1000000", causal), planted_outputs("uniform", causal)
        np.testing.assert_allclose(hot, uniform, atol=1e-2)
    warm = planted_outputs("temperature 15")
    weight = np.exp(4) / (np.exp(4) + 39)
    np.testing.assert_allclose(warm[0], position * weight + (780 - position) / 39 * (1 - weight), rtol=1e-5)
    np.testing.assert_allclose(planted_outputs("temperature 0.01"), planted_outputs("keep"), atol=1e-4)


@pytest.mark.parametrize("causal", [False, True])
def test_resampling_takes_away_which_token_gets_which_output_and_nothing_else(causal):
    found = planted_outputs("resample 1", causal)
    np.testing.assert_allclose(found[1], 0, atol=1e-4, err_msg="every token gets the same from this head")
    taken, position = found[0].round().astype(int), np.arange(40)
    np.testing.assert_array_equal(KINDS[taken], KINDS)
    alone = position < 2 if causal else np.zeros(40, bool)
    np.testing.assert_array_equal(taken == position, alone, err_msg="the first of its kind keeps its own")
    if causal:
        assert (taken <= position).all()


@pytest.mark.parametrize("causal", [False, True])
def test_every_other_token_is_as_likely_in_each_layer_head_and_draw(causal):
    drawn = np.array([planted_outputs(f"resample {seed}", causal)[0] for seed in range(400)]).round().astype(int)
    of_layer = planted_outputs("resample 0", causal, number=1)[0].round().astype(int)
    assert len({*map(tuple, drawn), tuple(of_layer)}) == 401
    counts = np.bincount(drawn[:, 20], minlength=40)
    expected = (KINDS == 0).astype(float)
    expected[20 : None if causal else 21] = 0
    expected *= 400 / expected.sum()
    assert not counts[expected == 0].any()
    chi_square = ((counts - expected) ** 2)[expected > 0] / expected[expected > 0]
    # Less likely than one in ten thousand.
    assert chi_square.sum() < chi2.isf(1e-4, (expected > 0).sum() - 1)


def test_what_a_head_draws_is_the_same_whatever_is_done_to_others_and_not_that_of_another_head():
    ablation = Ablation(np.array([["keep", "resample 5"]], dtype=object), [KINDS], PAPER)
    other_way_round = replace(planted(), query=planted().query.flip(1))
    alone = ablation(0, other_way_round)[0, 1, :, 0].numpy()
    both = Ablation(np.array([["resample 5", "resample 5"]], dtype=object), [KINDS], PAPER)
    np.testing.assert_array_equal(both(0, other_way_round)[0, 1, :, 0].numpy(), alone)
    assert (planted_outputs("resample 5")[0] != alone).any()
