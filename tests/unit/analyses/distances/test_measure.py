"""Distance features equal their definition, computed densely on one sample at a time."""

from functools import partial

import numpy as np
import pytest
import torch

from headtypes.analyses.distances.features import FINE_BINS, head_features, lacks_cls, split
from headtypes.analyses.distances.measure import DistanceFeatures
from headtypes.data.encoding import encode_samples
from headtypes.data.tasks import Sample
from tests.support.dense import named
from tests.support.models import plain_attentions, tiny_bert, tiny_language_model, tiny_roberta
from tests.support.reading import WAYS, attention_of, cut_into_blocks, distance_features, layer_of, read_with, reader_of
from tests.support.records import SAMPLES

KINDS = ["[CLS]", "[SEP]", ",", "."]


def defined_features(attention: np.ndarray, tokens: list[str], bins: int, keys: slice = slice(None)) -> np.ndarray:
    """[..., bins + 5], of attention [..., query, key] or of that to some keys; tokens: as `dense.named` has them."""
    length, position = len(tokens), np.arange(len(tokens))
    bucket = np.abs(position[:, None] - position) * bins // length
    np.fill_diagonal(bucket, bins)
    for number, kind in enumerate(KINDS, start=1):
        bucket[:, np.array(tokens) == kind] = bins + number
    features = np.zeros((*attention.shape[:-2], bins + 1 + len(KINDS)))
    for head in np.ndindex(attention.shape[:-2]):
        weights = attention[head][:, keys].ravel()
        features[head] = np.bincount(bucket[:, keys].ravel(), weights, minlength=features.shape[-1])
    return features / length


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    "lengths",
    [[45, 45, 45, 40, 40, 7, 7, 1], [200, 200, 200, 199], [700]],
    ids=["several at once", "in more groups", "long"],
)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("first", [False, True], ids=["", "first token"])
@torch.inference_mode()
def test_samples_that_are_read_together_equal_the_definition(lengths, causal, way, first, monkeypatch):
    cut_into_blocks(monkeypatch, way)
    rng = np.random.default_rng(0)
    layers = [layer_of(lengths, heads=3, causal=causal, seed=seed) for seed in range(2)]
    kinds = [(rng.integers(1, 5, length) * (rng.random(length) < 0.2)).astype(np.int8) for length in lengths]
    # One text begins with a comma, and others with an ordinary token.
    kinds[0][0], kinds[-1][0] = 3, 0
    reducer = DistanceFeatures(kinds, first)
    reader = reader_of([reducer], lengths, len(layers), heads=3)
    for number, layer in enumerate(layers):
        outputs = reader(number, layer)
        for sample, length in enumerate(lengths):
            attention = attention_of(layer, sample, length)
            shares, to_first = split(reducer.values[sample, number].numpy())
            defined = attention, [["", *KINDS][kind] for kind in kinds[sample]], FINE_BINS
            np.testing.assert_allclose(shares, defined_features(*defined), atol=1e-6)
            if first:
                np.testing.assert_allclose(to_first, defined_features(*defined, slice(1)), atol=1e-6)
            expected = attention @ layer.value[sample, :, :length].double().numpy()
            np.testing.assert_allclose(outputs[sample, :, :length], expected, atol=1e-5)
            assert way.startswith("as on a GPU") or not outputs[sample, :, length:].any()


def test_the_first_token_takes_the_place_of_cls_where_a_tokenizer_adds_none():
    """Both views equal the definition: as it stands, and with `[CLS]` for whatever token is first."""
    model, tokenizer = tiny_language_model("gpt2", num_attention_heads=3)
    samples = [*SAMPLES, Sample("comma", ", the cat sat by the river.", None), Sample("one", "cat", None)]
    samples = [Sample(each.id, each.first, None) for each in samples]
    encoded = encode_samples(samples, tokenizer, "text", 64)
    assert encoded.lengths[-1] < 5
    assert lacks_cls(encoded.kinds)
    found, first = split(read_with(DistanceFeatures(encoded.kinds, first=True), model, encoded))
    np.testing.assert_allclose(found, distance_features(model, encoded), atol=1e-6)
    for index, ids in enumerate(encoded.input_ids):
        attention, tokens = plain_attentions(model, ids, None), named(tokenizer, ids)
        for bins in (2, 16, 64):
            expected = defined_features(attention, tokens, bins)
            np.testing.assert_allclose(head_features(found[index], bins), expected, atol=1e-5, rtol=0)
            viewed = head_features(found[index], bins, first[index])
            expected = defined_features(attention, ["[CLS]", *tokens[1:]], bins)
            np.testing.assert_allclose(viewed, expected, atol=1e-5, rtol=0)
            np.testing.assert_allclose(viewed.sum(-1), 1, atol=1e-5)
            assert (viewed >= 0).all()


@pytest.mark.parametrize("make", [tiny_bert, tiny_roberta, partial(tiny_language_model, "llama")])
def test_a_tokenizer_that_begins_texts_with_a_token_of_its_own_has_a_cls(make):
    encoded = encode_samples(SAMPLES, make()[1], "question_answering", 64)
    assert not lacks_cls(encoded.kinds)
