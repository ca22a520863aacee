"""Of an encoder with a decoder, the heads of either and their cross-attention are read and ablated rightly."""

import re
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import eager_mask

from headtypes.analyses.ablation.evaluation import Settings, evaluate_all
from headtypes.analyses.ablation.head_outputs import measure_head_outputs
from headtypes.analyses.ablation.importance import head_importance
from headtypes.analyses.distances.measure import extract_features
from headtypes.analyses.gradients.measure import measure_answer_gradients
from headtypes.analyses.maps.measure import map_attention
from headtypes.attention.run import ModelOnTask
from headtypes.data.answering import load_for
from headtypes.data.encoding import prepare_windows
from headtypes.data.kinds.registry import KINDS
from headtypes.data.kinds.text_to_text import TextWithTarget
from headtypes.data.records import Sample
from headtypes.data.windows import read_windows, write_windows
from headtypes.models.architectures import check_model
from headtypes.models.fetching import fetch_model
from tests.support.models import ENCODERS, in_float64, tiny_text_to_text
from tests.unit.analyses.distances.test_reducer import defined_features

KIND = "text_to_text"
# Of targets of one length, sources differ in theirs, and the other way about.
ROWS = [
    TextWithTarget("a", "the old cat sat by the river, and it ran.", "a dog saw it."),
    TextWithTarget("b", "the dog ran.", "the cat sat."),
    TextWithTarget(
        "c", "the young dog. It saw the house, and the old cat by the river.", "the dog saw the house, by it."
    ),
    TextWithTarget("d", "a house was under the river.", "a cat ran. It sat."),
]
SAMPLES = [Sample(row.id, row.text, row.target) for row in ROWS]
SPECIAL = {"<s>": "[CLS]", "</s>": "[SEP]"}
SETTINGS = Settings(kind=KIND, precision="float32", batch_tokens=4096)
LAYERS = {"encoder": (2, 4), "decoder": (3, 2), "cross": (3, 2)}
# The attention of a module, by what the families call it.
NAMES = (("cross", r"decoder.*(encoder_attn|EncDecAttention)$"), ("decoder", r"decoder.*(self_attn|SelfAttention)$"))


@pytest.fixture(scope="module", params=ENCODERS)
def saved(request, tmp_path_factory):
    """A random model, its tokenizer, and what finds it again, for one attention."""
    model, tokenizer = tiny_text_to_text(request.param)
    folder = tmp_path_factory.mktemp("model")
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return model, tokenizer, lambda attention: fetch_model("tiny", {"folder": str(folder)}, attention=attention)


def one_of(row, model, tokenizer):
    """A row as Transformers would train on it: the inputs of a forward pass, and the tokens to predict."""
    source, labels = (torch.tensor([tokenizer(text).input_ids]) for text in (row.text, row.target))
    if hasattr(model, "prepare_decoder_input_ids_from_labels"):
        return {"input_ids": source, "decoder_input_ids": model.prepare_decoder_input_ids_from_labels(labels)}, labels
    shift = sys.modules[type(model).__module__].shift_tokens_right
    return {"input_ids": source, "decoder_input_ids": shift(labels, 1, model.config.decoder_start_token_id)}, labels


def attention_of(name):
    return next((attention for attention, pattern in NAMES if re.search(pattern, name)), "encoder")


def heads_of(model, attention):
    heads = getattr(model.config, "decoder_attention_heads", 4) if attention != "encoder" else 4
    return LAYERS[attention][0], heads


def test_each_attention_is_fetched_found_fit_and_described(saved):
    model, _, record_of = saved
    for attention in LAYERS:
        record = record_of(attention)
        check_model(record)
        assert (record.layers, record.heads) == heads_of(model, attention)
        assert record.causal == (attention == "decoder")


@pytest.mark.parametrize("attention", ["decoder", "cross"])
def test_features_in_padded_batches_equal_the_definition_on_single_pairs(saved, attention):
    model, tokenizer, record_of = saved
    run = ModelOnTask(record_of(attention), task="t", precision="float32", batch_tokens=4096)
    found = extract_features(run, SAMPLES, kind=KIND, norms=True)
    plain = in_float64(model)
    plain.set_attn_implementation("eager")
    for row, features in zip(ROWS, found.distance, strict=True):
        inputs, _ = one_of(row, model, tokenizer)
        with torch.inference_mode():
            output = plain(**inputs, output_attentions=True)
        maps = torch.cat(output.decoder_attentions if attention == "decoder" else output.cross_attentions).numpy()
        source, target = (
            tokenizer.convert_ids_to_tokens(inputs[name][0]) for name in ("input_ids", "decoder_input_ids")
        )
        expected = defined_features(maps, target, SPECIAL, 64) if attention == "decoder" else aligned(maps, source)
        np.testing.assert_allclose(features, expected, atol=1e-5, rtol=0)
    assert found.length.tolist() == [len(tokenizer(row.target).input_ids) for row in ROWS]


def aligned(maps, source):
    """The feature of cross-attention pair by pair: the distance is that of the two places."""
    *shape, queries, keys = maps.shape
    features = np.zeros((*shape, 69))
    for s in range(queries):
        for t, token in enumerate(source):
            kind = SPECIAL.get(token, token.removeprefix("Ġ"))
            special = ["[CLS]", "[SEP]", ",", "."]
            column = (
                65 + special.index(kind) if kind in special else int(64 * abs(s * keys - t * queries) / queries / keys)
            )
            features[..., column] += maps[..., s, t]
    return features / queries


def reference_losses(model, tokenizer, attention, operations, means=None, outputs=None):
    """The summed loss of each row, of the model with every attention in full, some heads changed by definition.

    means: [layer, head, channel], for heads that are changed to them. outputs: gets each head's, of the one attention.
    """
    model = in_float64(model)
    names = {module: name for name, module in model.named_modules()}
    counted: dict[str, int] = {}

    def attend(module, query, key, value, attention_mask=None, scaling=None, dropout=0.0, position_bias=None, **kwargs):
        scores = query @ key.transpose(-1, -2) * (query.shape[-1] ** -0.5 if scaling is None else scaling)
        scores = scores if position_bias is None else scores + position_bias
        scores = scores if attention_mask is None else scores + attention_mask
        maps, which = scores.softmax(-1), attention_of(names[module])
        layer = counted[which] = counted.get(which, -1) + 1
        for head in range(maps.shape[1]) if which == attention else ():
            operation = operations[layer, head]
            if operation == "zero":
                maps[:, head] = 0
            elif operation == "uniform":
                seen = (scores[:, head] > -1e30).to(maps)
                maps[:, head] = seen / seen.sum(-1, keepdim=True)
            elif operation == "temperature 0.3":
                maps[:, head] = (scores[:, head] / 0.3).softmax(-1)
        output = maps @ value
        if which == attention and outputs is not None:
            outputs.setdefault(layer, []).append(output[0].numpy())
        for head in np.flatnonzero(operations[layer] == "mean") if which == attention else ():
            output[:, head] = torch.from_numpy(means[layer, head]).to(output)
        return output.transpose(1, 2).contiguous(), None

    AttentionInterface.register("two_texts_reference", attend)
    AttentionMaskInterface.register("two_texts_reference", eager_mask)
    model.set_attn_implementation("two_texts_reference")
    losses = []
    for row in ROWS:
        counted.clear()
        inputs, labels = one_of(row, model, tokenizer)
        with torch.inference_mode():
            logits = model(**inputs).logits[0].log_softmax(-1)
        losses.append(-logits[torch.arange(labels.shape[1]), labels[0]].sum().item())
    return losses


@pytest.mark.parametrize("attention", LAYERS)
def test_losses_under_operations_equal_the_dense_computation(saved, attention):
    model, tokenizer, record_of = saved
    record = record_of(attention)
    windows = prepare_windows(ROWS, tokenizer, kind=KIND, max_length=64, max_seq_length=64, record=record)
    shape, rng = (record.layers, record.heads), np.random.default_rng(1)
    changes = ["keep", "zero", "uniform", "temperature 0.3"]
    sets = [np.full(shape, each, object) for each in changes] + [rng.choice(np.array(changes, object), shape)]
    found = evaluate_all(ROWS, windows, record, sets, None, SETTINGS, "test")
    for operations, (_, scores) in zip(sets, found, strict=True):
        expected = reference_losses(model, tokenizer, attention, operations)
        np.testing.assert_allclose(scores["loss"], expected, rtol=1e-4)
        assert scores["tokens"].tolist() == [len(tokenizer(row.target).input_ids) for row in ROWS]
    alone = evaluate_all(ROWS, windows, record, sets, None, replace(SETTINGS, batch_tokens=1), "test")
    for (_, one), (_, other) in zip(found, alone, strict=True):
        np.testing.assert_allclose(one["loss"], other["loss"], rtol=1e-5)
    mean = KINDS[KIND].mean_scores(found[0][1])
    assert mean["n_pairs"] == 4
    assert mean["loss"] == pytest.approx(sum(found[0][1]["loss"]) / mean["n_tokens"])


@pytest.mark.parametrize("attention", LAYERS)
def test_mean_outputs_of_heads_and_losses_with_them_equal_the_dense_computation(saved, attention):
    model, tokenizer, record_of = saved
    record, outputs = record_of(attention), {}
    shape = record.layers, record.heads
    found = measure_head_outputs(SAMPLES, record, kind=KIND, task="t", precision="float32", batch_tokens=4096)
    reference_losses(model, tokenizer, attention, np.full(shape, "keep"), outputs=outputs)
    means = np.stack([np.concatenate(outputs[layer], axis=1).mean(1) for layer in range(record.layers)])
    np.testing.assert_allclose(found, means, atol=1e-5)
    windows = prepare_windows(ROWS, tokenizer, kind=KIND, max_length=64, max_seq_length=64, record=record)
    for operations in (np.full(shape, "mean", object), np.random.default_rng(1).choice(["mean", "keep"], shape)):
        ((_, scores),) = evaluate_all(ROWS, windows, record, [operations], found, SETTINGS, "test")
        expected = reference_losses(model, tokenizer, attention, operations, means)
        np.testing.assert_allclose(scores["loss"], expected, rtol=1e-4)


def tiny(folder, attention, name="bart"):
    model, tokenizer = tiny_text_to_text(name)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return model, tokenizer, fetch_model("tiny", {"folder": str(folder)}, attention=attention)


@pytest.mark.parametrize("attention", LAYERS)
def test_importance_and_gradients_equal_those_of_the_plain_model(attention, tmp_path):
    model, tokenizer, record = tiny(tmp_path, attention)
    windows = prepare_windows(ROWS, tokenizer, kind=KIND, max_length=64, max_seq_length=64, record=record)
    targets = KINDS[KIND].answer_targets(ROWS, windows, record)
    importance = head_importance(load_for(record, "float32", KIND), KIND, windows, targets, 4096, "test")
    settings = {"precision": "float32", "batch_tokens": 4096, "samples": 9, "seed": 0}
    gradients = measure_answer_gradients(ROWS, windows, record, task="t", kind=KIND, **settings).values
    plain, expected, of_all = in_float64(model), 0.0, 0.0
    plain.set_attn_implementation("eager")
    gates = torch.ones(record.layers, record.heads, dtype=torch.float64, requires_grad=True)
    projections = [
        module
        for name, module in plain.named_modules()
        if name.endswith(".out_proj") and attention_of(name.removesuffix(".out_proj")) == attention
    ]
    for number, projection in enumerate(projections):
        projection.register_forward_pre_hook(
            lambda _, read, number=number: (
                (read[0].unflatten(-1, (record.heads, -1)) * gates[number][:, None]).flatten(-2),
            )
        )
    assert len(projections) == record.layers
    for row in ROWS:
        inputs, labels = one_of(row, model, tokenizer)
        output = plain(**inputs, output_attentions=True)
        loss = torch.nn.functional.cross_entropy(output.logits[0], labels[0])
        maps = {"encoder": output.encoder_attentions, "decoder": output.decoder_attentions}
        of_maps = torch.autograd.grad(loss, maps.get(attention, output.cross_attentions), retain_graph=True)
        of_all = of_all + torch.cat(of_maps).abs().mean((-1, -2)).numpy() / len(ROWS)
        expected = expected + torch.autograd.grad(loss, gates)[0].abs().numpy() / len(ROWS)
    np.testing.assert_allclose(importance, expected, rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(gradients[..., -1], of_all, rtol=1e-3, atol=1e-7)


def test_a_map_of_cross_attention_has_both_texts_and_empty_rows_of_the_source(tmp_path):
    model, tokenizer, record = tiny(tmp_path, "cross")
    shown = map_attention(ModelOnTask(record, task="t", precision="float32"), SAMPLES[1:2], kind=KIND, norms=True)
    inputs, _ = one_of(ROWS[1], model, tokenizer)
    source = inputs["input_ids"].shape[1]
    plain = in_float64(model)
    plain.set_attn_implementation("eager")
    expected = torch.cat(plain(**inputs, output_attentions=True).cross_attentions).detach().numpy()
    np.testing.assert_allclose(shown.attention[:, :, source:, :source], expected, atol=1e-5)
    assert not shown.attention[:, :, :source].any()
    assert not shown.attention[..., source:].any()
    assert len(shown.tokens) == shown.attention.shape[-1] == shown.lengths.shape[-1]
    assert shown.tokens[1:3] + shown.tokens[source + 2 : source + 4] == ["the", "dog", "the", "cat"]


def test_what_the_decoder_reads_is_the_target_one_token_later_with_the_sentences_of_both(tmp_path):
    _, tokenizer, record = tiny(tmp_path, "decoder")
    windows = prepare_windows(ROWS, tokenizer, kind=KIND, max_length=64, max_seq_length=64, record=record)
    ids, _, sentences, sources = (each and [row.tolist() for row in each] for each in windows.texts("decoder"))
    whole = tokenizer(ROWS[3].target)["input_ids"]
    assert ids[3] == [2, *whole[:-1]]
    assert windows.targets[windows.tokens(3)].tolist() == whole
    # "a", " cat", " ran", ".", " ", "I", "t", " sat", "."
    assert sentences[3] == [-1, -1, *[0] * 4, *[1] * 5]
    assert sources[2] == tokenizer(ROWS[2].text)["input_ids"]
    read, _, of_source, others = (each and [row.tolist() for row in each] for each in windows.texts("encoder"))
    assert (read, others) == (sources, ids)
    assert of_source[2] == [-1, *[0] * 4, *[1] * 17, -1]
    write_windows(tmp_path / "windows.h5", windows, {})
    some = read_windows(tmp_path / "windows.h5").of_questions(np.array([1, 2]))
    assert [row.tolist() for row in some.texts("decoder")[3]] == sources[1:3]
    encoded = ModelOnTask(record, task="t", precision="float32", max_seq_length=6).encode(SAMPLES, KIND)
    assert encoded.input_ids[3] == [2, *whole[:5]]
    assert encoded.truncated.tolist() == [True, False, True, True]
    assert encoded.of_some([2]).others == [[*tokenizer(ROWS[2].text)["input_ids"][:5], tokenizer.eos_token_id]]


@pytest.mark.parametrize("name", ["bart", "mbart"])
def test_a_decoder_begins_as_the_model_has_it(name, tmp_path):
    model, tokenizer, record = tiny(tmp_path, "decoder", name)
    encoded = ModelOnTask(record, task="t", precision="float32").encode(SAMPLES, KIND)
    for row, ids in zip(ROWS, encoded.input_ids, strict=True):
        assert one_of(row, model, tokenizer)[0]["decoder_input_ids"][0].tolist() == ids
