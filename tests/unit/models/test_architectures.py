"""Every family that docs/lookup/models.md lists as supported is read and ablated rightly; all others are refused.

Where methods are replaced while heads are read, the model is as before afterwards, and whatever calls it is read."""

import copy
import json
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch
from transformers import AutoConfig, AutoModel, AutoModelForSequenceClassification

from headtypes.analyses.distances.measure import DistanceFeatures
from headtypes.api.ablation import ablated as ablated_model
from headtypes.attention.ablate import Ablation
from headtypes.attention.hook import ATTENTION, Layer, model_inputs, run
from headtypes.attention.operations import Reading
from headtypes.core.errors import InputError
from headtypes.data.encoding import encode_samples
from headtypes.models.architectures import _REPLACED, check_layer, check_model, through_interface
from headtypes.models.fetching import fetch_model
from headtypes.models.loading import HEADS, MissingHeadError, load_model
from headtypes.models.model_config import body_of, is_causal, padding_token
from tests.support.dense import PAPER, WRITTEN, ablated, defined, dense_output, mixed, named, result
from tests.support.models import (
    ENCODERS,
    FAMILIES,
    SIZES,
    family_config,
    in_float64,
    opened,
    plain_attentions,
    state,
    tiny_encoder,
    tiny_family,
    tiny_language_model,
)
from tests.support.places import ROOT
from tests.support.reading import distance_features, reader_of
from tests.support.records import SAMPLES, described, inputs_of, recorded, windows_of
from tests.support.refusals import refusal
from tests.unit.analyses.distances.test_measure import defined_features

DOCS = ROOT / "docs" / "lookup" / "models.md"
MASK_OF_5 = torch.ones(1, 1, 5, 5, dtype=torch.bool).tril()


@pytest.mark.parametrize("name", [*FAMILIES, *ENCODERS])
def test_features_in_padded_batches_equal_the_definition_on_single_samples(name):
    model, tokenizer = tiny_family(name)
    encoded = encode_samples(SAMPLES, tokenizer, "question_answering", 64)
    found = distance_features(model, encoded)
    for index, ids in enumerate(encoded.input_ids):
        attention = plain_attentions(model, ids, encoded.token_types and encoded.token_types[index])
        expected = defined_features(attention, named(tokenizer, ids), 64)
        np.testing.assert_allclose(found[index], expected, atol=1e-5, rtol=0)


@cache
def exact(name):
    return in_float64(tiny_family(name)[0])


@pytest.mark.parametrize("name", [*FAMILIES, *ENCODERS])
@pytest.mark.parametrize("operation", [*WRITTEN, "all of them"])
def test_an_operation_equals_the_dense_computation(name, operation):
    model, tokenizer = tiny_family(name)
    windows = windows_of(tokenizer)
    operations = mixed(model, WRITTEN if operation == "all of them" else ["keep", operation])
    for window, found in enumerate(ablated(model, windows, operations)):
        if operation == "keep":
            with torch.inference_mode():
                expected = result(model(**inputs_of(windows, window)))[0].double()
        else:
            expected = defined(exact(name), windows, window, operations)
        # Relative to the largest, since a model without normalisation (MobileBERT) has large numbers.
        scale = expected.abs().max().clamp_min(1)
        torch.testing.assert_close(found / scale, (expected / scale).float(), atol=2e-5, rtol=0)


@pytest.mark.parametrize("masked", [False, True])
def test_renormalised_rows_keep_what_goes_to_no_token_as_masking_before_the_softmax_does(masked):
    model, tokenizer = tiny_family("gpt_oss")
    windows, reading = windows_of(tokenizer), Reading(renormalise=True)
    operations = mixed(model, ["keep", "drop_intra", "drop_inter"])
    for window, found in enumerate(ablated(model, windows, operations, reading)):
        expected = defined(model, windows, window, operations, reading, masked=masked)
        torch.testing.assert_close(found, expected.float(), atol=2e-5, rtol=0)


def test_uniform_over_padding_equals_the_dense_computation_in_a_causal_model():
    model, tokenizer = tiny_family("llama")
    model.config.pad_token_id = 0
    given = windows_of(tokenizer), mixed(model, ["keep", "uniform", "drop_inter"]), Reading(uniform_over_padding=True)
    (found, *_), expected = ablated(model, *given), defined(model, given[0], 0, *given[1:])
    torch.testing.assert_close(found, expected.float(), atol=2e-5, rtol=0)


def test_values_may_have_other_channels_than_queries():
    rng = torch.Generator().manual_seed(0)
    query, key = (torch.randn(1, 3, 5, 4, generator=rng) for _ in range(2))
    layer = Layer(query, key, torch.randn(1, 3, 5, 2, generator=rng), MASK_OF_5, 0.5)
    attention = (query @ key.transpose(-1, -2) * 0.5).masked_fill(~MASK_OF_5, -torch.inf).softmax(-1)
    expected = attention @ layer.value
    operations = np.array([["keep", "drop_inter", "zero"]], dtype=object)
    found = Ablation(operations, [np.zeros(5, int)], PAPER)(0, layer)
    torch.testing.assert_close(found[:, :2], expected[:, :2])
    assert not found[:, 2].any()
    torch.testing.assert_close(reader_of([DistanceFeatures([np.zeros(5, np.int8)])], [5], 1, 3)(0, layer), expected)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_saved_model_is_fetched_found_fit_and_loaded_and_takes_its_longest_input(name, tmp_path):
    model, tokenizer = tiny_family(name)
    record = recorded(model, tokenizer, tmp_path)
    check_model(record)
    assert (record.layers, record.heads, record.max_length) == (2, 4, 64)
    answers = type(model).__name__.endswith("QuestionAnswering")
    ids = [np.random.default_rng(0).integers(5, len(tokenizer), record.max_length)]
    for head in ("question_answering", None) if answers else (None,):
        loaded = load_model(record, "float32", head=head).cpu()
        inputs = model_inputs(ids, None, 0, torch.device("cpu"))
        with torch.inference_mode():
            found = run(opened(loaded), inputs, lambda number, layer: layer.head_outputs())
            expected = (model if answers == bool(head) else model.base_model)(**inputs)
        torch.testing.assert_close(result(found), result(expected), atol=1e-4, rtol=1e-4)
    if not answers:
        with pytest.raises(InputError, match=f"of type {name}, has no question-answering head"):
            load_model(record, "float32", head="question_answering")


@pytest.mark.parametrize("name", ENCODERS)
@pytest.mark.parametrize("saved", ["whole", "encoder alone"])
def test_of_an_encoder_with_a_decoder_the_encoder_is_read(name, saved, tmp_path):
    model, tokenizer = tiny_encoder(name)
    record = recorded(model, tokenizer, tmp_path)
    if saved == "encoder alone":
        weights = {name: weight for name, weight in model.state_dict().items() if "decoder." not in name}
        copy.deepcopy(model).save_pretrained(tmp_path, state_dict=weights)
        record = fetch_model("tiny", {"folder": str(tmp_path)})
    check_model(record)
    assert (record.layers, record.heads, record.causal) == (2, 4, False)
    inputs = model_inputs([[5, 6, 7, 8], [9, 10]], None, 1, torch.device("cpu"))
    loaded = load_model(record, "float32").cpu()
    with torch.inference_mode():
        found = run(opened(loaded), inputs, lambda number, layer: layer.head_outputs())
        expected = model.get_encoder()(**inputs)
    torch.testing.assert_close(result(found), result(expected), atol=1e-4, rtol=1e-4)
    for head in HEADS.keys() - {None}:
        with pytest.raises(MissingHeadError, match=r"the encoder alone is read; leave models\.\w+\.evaluate out"):
            load_model(record, "float32", head=head)


INTERFACE = r"\w+: 0 of 2 layers use Transformers' attention interface, through which heads are read and ablated"
REFUSED = {
    **dict.fromkeys(("deberta", "deberta-v2", "longformer", "big_bird", "convbert", "roformer"), ({}, INTERFACE)),
    # It has no limit, and says so where one is set.
    "xlnet": ({"max_position_embeddings": None, "d_head": 6}, INTERFACE),
    "doge": ({}, "DogeAttention makes its own mask, which may add a bias to the scores"),
    "diffllama": ({}, "DiffLlamaModel computes attention 4 times in 2 layers"),
    "laguna": (
        {
            "head_dim": 6,
            "num_key_value_heads": 2,
            "num_attention_heads_per_layer": [4, 2],
            "mlp_layer_types": ["dense"] * 2,
        },
        "LagunaModel has layers with different numbers of heads",
    ),
    "longt5": ({"d_model": 24, "num_layers": 2, "num_heads": 4}, INTERFACE),
    "switch_transformers": (
        {"d_model": 24, "d_kv": 6, "num_layers": 2, "num_heads": 4},
        "SwitchTransformersAttention makes its own mask",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_architecture_that_is_not_carried_is_refused_from_its_configuration(name, tmp_path):
    values = {key: value for key, value in {**SIZES, **REFUSED[name][0]}.items() if value is not None}
    AutoConfig.for_model(name, **values).save_pretrained(tmp_path)
    message = refusal(check_model, replace(described("mine"), folder=str(tmp_path)))
    assert message.startswith(f"models.mine: {tmp_path}: ")
    assert re.search(REFUSED[name][1], message)
    assert message.endswith("; this architecture is not supported.")


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        # Its eager attention adds ALiBi's bias twice, its fused attention once.
        ("falcon", {"alibi": True}, "FalconAttention adds the bias of ALiBi once or twice"),
        # Transformers reads such a model without a word, as one of absolute positions.
        ("bert", {"position_embedding_type": "relative_key_query"}, "which Transformers no longer computes"),
        ("bert", {"pruned_heads": {"0": [1]}}, "has pruned_heads, and Transformers no longer loads"),
        # Fused, it looks both ways where nothing is padded.
        ("gemma", {"use_bidirectional_attention": True}, 'write "is_causal": false beside it'),
    ],
)
def test_what_transformers_computes_wrongly_is_refused(name, values, message, tmp_path):
    AutoConfig.for_model(name, **SIZES, **values).save_pretrained(tmp_path)
    with pytest.raises(InputError, match=message):
        check_model(replace(described("mine", 512), folder=str(tmp_path)))


MASK = torch.ones(1, 1, 3, 3, dtype=torch.bool)


@pytest.mark.parametrize(
    ("mask", "arguments", "message"),
    [
        (MASK, {"twist": 0.5}, "computes its attention with `twist`"),
        (None, {"is_causal": True}, "asks for no mask although it is causal"),
        (MASK.float(), {}, "makes its own mask"),
        (MASK.expand(1, 4, 3, 3), {}, "makes its own mask"),
    ],
)
def test_what_a_layer_hands_to_its_attention_is_not_left_out_in_silence(mask, arguments, message):
    with pytest.raises(InputError, match=f"Linear {message}.*; this architecture is not supported.$"):
        check_layer(torch.nn.Linear(1, 1), mask, arguments)


SAYS = [(name, says) for name in FAMILIES for says in ({}, {"is_causal": False}, {"is_decoder": True})]


# Two families are refused when they look both ways: their attention takes itself for causal.
@pytest.mark.parametrize(
    ("name", "says"), [each for each in SAYS if each[0] not in ("stablelm", "gptj") or "is_causal" not in each[1]]
)
def test_a_model_is_recorded_as_causal_where_no_token_sees_those_behind_it(name, says):
    model = AutoModel.from_config(family_config(name, **says)[0]).eval()
    seen = []
    inputs = {"input_ids": torch.tensor([[5, 6, 7, 8]])}
    run(opened(body_of(model)), inputs, lambda number, layer: seen.append(layer.mask) or layer.head_outputs())
    looks_back = all(mask is not None and not mask[0, 0].triu(1).any() for mask in seen)
    assert is_causal(model.config) == looks_back


def test_a_decoder_that_looks_both_ways_predicts_no_next_token(tmp_path):
    model, tokenizer = tiny_language_model("gemma3_text", use_bidirectional_attention=True)
    record = recorded(model, tokenizer, tmp_path)
    check_model(record)
    assert not record.causal
    for head in (record.language_head, "causal_lm"):
        with pytest.raises(MissingHeadError, match=r"has no head for masked words|reads a text both ways"):
            load_model(record, "float32", head=head)


@pytest.mark.parametrize("pad_token", [None, -1])
def test_a_text_whose_end_cannot_be_found_is_not_classified(pad_token, tmp_path):
    _, tokenizer = tiny_family("gpt2")
    config = AutoConfig.for_model("gpt2", **{**SIZES, "vocab_size": len(tokenizer), "pad_token_id": pad_token})
    record = recorded(AutoModelForSequenceClassification.from_config(config), tokenizer, tmp_path)
    with pytest.raises(InputError, match=r"has no pad_token_id in its config\.json"):
        load_model(record, "float32", head="sequence_classification")


def test_a_classification_head_finds_the_end_of_a_causal_models_text_in_a_padded_batch():
    config = AutoConfig.for_model("llama", **SIZES, num_key_value_heads=2, head_dim=6)
    model = AutoModelForSequenceClassification.from_config(config).eval()
    texts = [[5, 6, 7, 8], [9, 10]]
    with torch.inference_mode():
        inputs = model_inputs(texts, None, 0, torch.device("cpu"))
        found = run(opened(model), inputs, lambda number, layer: layer.head_outputs()).logits
        expected = [model(input_ids=torch.tensor([text])).logits[0] for text in texts]
    torch.testing.assert_close(found, torch.stack(expected), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("values", [{"return_dict": False}, {"pad_token_id": 10**9}], ids=str)
def test_a_config_json_that_asks_for_other_outputs_or_padding_changes_nothing(values, tmp_path):
    """Tuples have no names, and a padding token beyond the vocabulary no vector."""
    model, tokenizer = tiny_family("gpt2")
    found = []
    for more in ({}, values):
        record = recorded(model, tokenizer, tmp_path)
        config = json.loads((tmp_path / "config.json").read_text())
        (tmp_path / "config.json").write_text(json.dumps({**config, **more}))
        loaded = load_model(fetch_model("tiny", {"folder": record.folder}), "float32", "question_answering")
        inputs = model_inputs([[5, 6, 7, 8], [9, 10]], None, padding_token(loaded.config) or 0, torch.device("cpu"))
        with torch.inference_mode():
            found.append(run(opened(loaded), inputs, lambda number, layer: layer.head_outputs()).start_logits)
    torch.testing.assert_close(*found, atol=1e-5, rtol=1e-5)


def table_of(heading: str) -> dict[str, list[str]]:
    text = DOCS.read_text(encoding="utf-8").split(f"## {heading}\n")[1].split("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    return {name: row[1:] for row in rows[2:] for name in re.findall("`([^`]+)`", row[0])}


@pytest.mark.parametrize(("heading", "families"), [("Supported", FAMILIES), ("Encoders with a decoder", ENCODERS)])
def test_the_docs_list_as_supported_what_is_tested_here_with_its_class(heading, families):
    table = table_of(heading)
    assert list(table) == list(families)
    for name, (tried, _) in table.items():
        assert tried == f"`{type(tiny_family(name)[0]).__name__}`"


def test_the_docs_list_as_unsupported_what_is_tested_here():
    assert list(table_of("Unsupported")) == list(REFUSED)


WITH_OWN_ATTENTION = ("mpnet", "bloom", "falcon", "gptj", "stablelm")
IDS = torch.tensor([[5, 6, 7, 8, 9]])
INPUTS = {"input_ids": IDS, "attention_mask": torch.ones_like(IDS)}


@pytest.mark.parametrize("name", WITH_OWN_ATTENTION)
def test_a_model_is_left_as_it_was_even_by_a_pass_that_fails(name):
    model, _ = tiny_family(name)
    before = state(model)
    assert {type(each).__name__ for each in model.modules()} & set(_REPLACED)

    def fails(number, layer):
        raise RuntimeError("stop")

    with through_interface(model, ATTENTION):
        within = state(model)
        assert within != before
        with through_interface(model, ATTENTION):
            assert state(model) == within
        assert state(model) == within
        with pytest.raises(RuntimeError, match="stop"), torch.inference_mode():
            run(model, INPUTS, fails)
        seen = []
        with torch.inference_mode():
            run(model, INPUTS, lambda number, layer: seen.append(number) or layer.head_outputs())
        assert seen == [0, 1]
    assert state(model) == before


@pytest.mark.parametrize("name", WITH_OWN_ATTENTION)
def test_heads_are_ablated_for_whatever_calls_the_model(name):
    model, _ = tiny_language_model(name)
    with ablated_model(model, {"1-2": "zero", "2-4": "uniform"}), torch.inference_mode():
        found = model(**INPUTS).logits
        if model.base_model is not model:
            with pytest.raises(InputError, match="was called without that model"):
                model.base_model(**INPUTS)
        torch.testing.assert_close(model(**INPUTS).logits, found, atol=2e-5, rtol=1e-5)
    operations = np.full((2, 4), "keep", dtype=object)
    operations[0, 1], operations[1, 3] = "zero", "uniform"
    expected = dense_output(model, IDS[0].tolist(), None, operations, [0] * 5, Reading()).logits
    torch.testing.assert_close(found.double(), expected, atol=2e-5, rtol=1e-5)
