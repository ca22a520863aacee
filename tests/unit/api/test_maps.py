"""Maps of a model, and heads of maps: the numbers are those that the model itself gives."""

import numpy as np
import pytest
import torch

from headtypes.api.maps import heads_of_maps, read_maps
from headtypes.api.reading import head_types, read_heads
from headtypes.core.errors import InputError
from tests.support.models import plain_attentions, tiny_bert, tiny_language_model

TEXTS = ["The old cat, the young dog.", "It sat by the river, and ran under the house.", "it was"]


def made(name: str):
    return tiny_bert(layers=4) if name == "bert" else tiny_language_model(name)


@pytest.mark.parametrize("name", ["bert", "llama"])
def test_maps_are_those_of_the_model_a_layer_each(name, capsys):
    model, tokenizer = made(name)
    capsys.readouterr()
    layers, tokens = read_maps(model, tokenizer, TEXTS[0])
    assert capsys.readouterr() == ("", "")
    ids = tokenizer(TEXTS[0])["input_ids"]
    expected = plain_attentions(model, ids, None)
    assert len(layers) == len(expected)
    assert len(tokens) == len(ids)
    for layer, plain in zip(layers, expected, strict=True):
        assert layer.shape == (1, *plain.shape)
        np.testing.assert_allclose(layer[0], plain, atol=1e-6)


def test_maps_of_norms_are_those_that_the_features_of_norms_are_made_of():
    model, tokenizer = tiny_bert()
    maps, _ = read_maps(model, tokenizer, TEXTS[0], norms=True)
    found = heads_of_maps([maps], [tokenizer(TEXTS[0])["input_ids"]], tokenizer)
    expected = read_heads(model, tokenizer, TEXTS[:1], norms=True)
    np.testing.assert_allclose(found.distance, expected.norms, atol=1e-6)
    assert not np.allclose(found.distance, expected.distance, atol=1e-3)


@pytest.mark.parametrize("name", ["bert", "llama"])
@pytest.mark.parametrize("form", ["tensors", "arrays", "cache"])
def test_heads_of_maps_are_those_that_are_read_of_the_model(name, form):
    model, tokenizer = made(name)
    ids = [tokenizer(text)["input_ids"] for text in TEXTS]
    maps = [plain_attentions(model, each, None) for each in ids]
    given = {
        "tensors": [[torch.tensor(layer)[None].requires_grad_() for layer in each] for each in maps],
        "arrays": maps,
        # Of a cache, as TransformerLens names what it keeps; layers in any order, with more beside them.
        "cache": [
            {
                f"blocks.{number}.attn.hook_pattern": torch.tensor(each[number])[None]
                for number in range(len(each))[::-1]
            }
            | {"blocks.0.attn.hook_z": torch.zeros(1)}
            for each in maps
        ],
    }[form]
    found, expected = heads_of_maps(given, ids, tokenizer), read_heads(model, tokenizer, TEXTS)
    np.testing.assert_allclose(found.distance, expected.distance, atol=1e-6)
    assert (found.first is None) == (expected.first is None)
    if found.first is not None:
        np.testing.assert_allclose(found.first, expected.first, atol=1e-6)
    assert (head_types(found, k=2).type_of == head_types(expected, k=2).type_of).all()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda maps: [maps[0][:, :, :, :-1]], r"Text 0 \(from 0\) has (\d+) tokens, and needs maps \[head, \1, \1\]"),
        (lambda maps: [maps[0] * 2], r"map of head 1-1 on text 0 \(from 0\) is no attention"),
        (lambda maps: maps * 2, "There are maps of 2 texts and tokens of 1"),
        (lambda maps: [{"blocks.1.attn.hook_pattern": maps[0][0]}], "lacks the pattern of some layer"),
        (lambda maps: [{("pattern", 0): maps[0][0]}], r"named blocks\.0\.attn\.hook_pattern and so on"),
        (lambda maps: [maps[0].swapaxes(-1, -2)], "is no attention.* the other way round"),
        (lambda maps: [[[layer] for layer in maps[0]]], "nested as `attentions` of `generate`"),
        (lambda maps: [maps[0][:, :, -1:]], "Steps of `generate`"),
    ],
)
def test_maps_that_do_not_fit_are_refused(change, why):
    model, tokenizer = tiny_bert()
    ids = tokenizer(TEXTS[0])["input_ids"]
    with pytest.raises(InputError, match=why):
        heads_of_maps(change([plain_attentions(model, ids, None)]), [ids], tokenizer)


def test_what_a_model_gives_and_takes_is_not_mixed_up_with_maps_and_tokens_of_texts():
    """A model of two layers on two texts: by their number, layers could be texts."""
    model, tokenizer = tiny_bert(layers=2)
    model.set_attn_implementation("eager")
    read = tokenizer([TEXTS[0], TEXTS[0]], return_tensors="pt")
    attentions = model(**read, output_attentions=True).attentions
    assert len(attentions) == len(read["input_ids"]) == 2
    with pytest.raises(InputError, match=r"those of layers, as a model gives them; give those of each text, \[\["):
        heads_of_maps(attentions, read["input_ids"], tokenizer)
    for nothing in (None, (None, None)):
        with pytest.raises(InputError, match=r"gave no attention.* load it with attn_implementation='eager'"):
            heads_of_maps(nothing, read["input_ids"], tokenizer)
    with pytest.raises(InputError, match=r"those of one text; give a list of texts, \[input_ids\]"):
        heads_of_maps([attentions[0]], read["input_ids"][0], tokenizer)
    by_text = [[layer[[text]] for layer in attentions] for text in range(2)]
    found = heads_of_maps(by_text, read["input_ids"], tokenizer)
    np.testing.assert_allclose(found.distance, read_heads(model, tokenizer, [TEXTS[0]] * 2).distance, atol=1e-6)


@pytest.mark.parametrize("side", ["left", "right"])
def test_maps_of_a_padded_batch_need_its_mask(side):
    model, tokenizer = tiny_bert()
    tokenizer.padding_side = side
    batch = tokenizer(TEXTS, padding=True, return_tensors="pt")
    model.set_attn_implementation("eager")
    with torch.inference_mode():
        attentions = model(**batch, output_attentions=True).attentions
    maps = [[layer[number] for layer in attentions] for number in range(len(TEXTS))]
    found = heads_of_maps(maps, batch["input_ids"], tokenizer, batch["attention_mask"])
    assert found.length.tolist() == batch["attention_mask"].sum(1).tolist()
    np.testing.assert_allclose(found.distance.sum(-1), 1, atol=1e-5)
    if side == "right":
        np.testing.assert_allclose(found.distance, read_heads(model, tokenizer, TEXTS).distance, atol=1e-5)
    with pytest.raises(InputError, match="begins or ends with padding; give the texts' attention_mask"):
        heads_of_maps(maps, batch["input_ids"], tokenizer)
