"""Divergences equal their definition, computed densely; heads in two dimensions show distances that fit."""

import itertools

import numpy as np
import pytest
import torch
from scipy.spatial.distance import pdist, squareform
from scipy.special import rel_entr

from headtypes.analyses.divergence.measure import SMOOTHING, compare_heads, divergences, measure_divergence
from headtypes.analyses.divergence.projection import goodness_of_fit, layer_test, project_heads
from headtypes.analyses.divergence.results import Divergence
from headtypes.attention.hook import EntropySums, Layer
from headtypes.attention.one_pass import ModelOnTask
from headtypes.data.encoding import encode_samples
from tests.support.dense import GATED, defined_norms, with_no_token
from tests.support.models import FAMILIES as ALL
from tests.support.models import in_float64, plain_attentions, tiny_bert, tiny_family
from tests.support.reading import attention_of, layer_of
from tests.support.records import recorded, shortened_samples


def defined_divergence(one: np.ndarray, other: np.ndarray, smoothing: float) -> float:
    """Jensen-Shannon divergence of two heads [query, key], summed over the rows of a segment, in nats."""
    # A head of a local layer may look at fewer tokens than one of another layer.
    p, q = (
        with_no_token((1 - smoothing) * head + smoothing * (head > 0) / (head > 0).sum(1, keepdims=True))
        for head in (one, other)
    )
    return 0.5 * sum(rel_entr(head, (p + q) / 2).sum() for head in (p, q))


SAMPLES = shortened_samples(2)
# With shared keys and without, causal and not, with local layers of both, with a bias, and with a share for no token.
FAMILIES = ("bert", "roberta", "gpt2", "llama", "modernbert", "mistral", "mpnet", "gpt_oss")


def expected_divergence(samples, smoothing):
    heads = len(samples[0])
    total = np.zeros((heads, heads))
    for (a, b), maps in itertools.product(itertools.combinations(range(heads), 2), samples):
        total[a, b] += defined_divergence(maps[a], maps[b], smoothing)
    return total + total.T


def measured(model, encoded, batch_tokens=10_000):
    (total,), rows = divergences(model, encoded, batch_tokens=batch_tokens, what="test")
    return total, rows


@pytest.fixture
def unsmoothed(monkeypatch):
    monkeypatch.setattr("headtypes.analyses.divergence.measure.SMOOTHING", 0)


@pytest.mark.parametrize("name", FAMILIES)
def test_divergences_in_padded_batches_equal_the_definition(name):
    model, tokenizer = tiny_family(name)
    # Nothing but the comparison shall round.
    model, encoded = in_float64(model), encode_samples(SAMPLES[:4], tokenizer, "question_answering", 64)
    total, rows = measured(model, encoded)
    types = encoded.token_types or [None] * 4
    maps = [plain_attentions(model, *sample) for sample in zip(encoded.input_ids, types, strict=True)]
    expected = expected_divergence([heads.reshape(-1, *heads.shape[2:]) for heads in maps], SMOOTHING)
    np.testing.assert_allclose(total, expected, rtol=1e-5, atol=1e-9)
    assert rows == sum(encoded.lengths)
    np.testing.assert_allclose(measured(model, encoded, 1)[0], total, rtol=1e-6)


@pytest.mark.parametrize("name", [each for each in ALL if each not in GATED])
def test_divergences_by_norms_equal_the_definition(name, unsmoothed):
    model, tokenizer = tiny_family(name)
    model, encoded = in_float64(model), encode_samples(SAMPLES[:2], tokenizer, "question_answering", 20)
    settings = {"batch_tokens": 10_000, "what": "test"}
    (weights, norms), _ = divergences(model, encoded, norms=True, **settings)
    types = encoded.token_types or [None] * 2
    maps = [defined_norms(model, name, *sample) for sample in zip(encoded.input_ids, types, strict=True)]
    expected = expected_divergence([heads.reshape(-1, *heads.shape[2:]) for heads in maps], 0)
    np.testing.assert_allclose(norms, expected, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(divergences(model, encoded, **settings)[0][0], weights, rtol=1e-5, atol=1e-7)


def test_a_batch_that_is_halved_counts_once(monkeypatch):
    """Memory runs out where norms are compared, after weights were."""

    def stumbling(layers, lengths, *args, norms):
        if norms and len(lengths) > 1:
            raise torch.OutOfMemoryError("planted")
        return compare_heads(layers, lengths, *args, norms=norms)

    model, tokenizer = tiny_family("bert")
    encoded = encode_samples(SAMPLES[:4], tokenizer, "question_answering", 64)
    whole, _ = divergences(model, encoded, batch_tokens=10_000, what="test", norms=True)
    monkeypatch.setattr("headtypes.analyses.divergence.measure.compare_heads", stumbling)
    halved, _ = divergences(model, encoded, batch_tokens=10_000, what="test", norms=True)
    np.testing.assert_allclose(halved, whole, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("causal", [False, True])
def test_many_heads_and_long_samples_equal_the_definition(causal, monkeypatch):
    """In blocks that divide neither the heads nor the rows evenly."""
    monkeypatch.setattr("headtypes.analyses.divergence.measure._NUMBERS", 1000)
    lengths = [150, 71]
    layers = [layer_of(lengths, heads=5, causal=causal, seed=seed) for seed in range(3)]
    maps = [np.concatenate([attention_of(layer, *sample) for layer in layers]) for sample in enumerate(lengths)]
    found = compare_heads(layers, lengths, EntropySums())
    np.testing.assert_allclose(found, expected_divergence(maps, SMOOTHING), rtol=1e-5)


def planted(maps: np.ndarray) -> Layer:
    """A layer whose heads have these maps [head, query, key], of one sample."""
    query = torch.from_numpy(np.log(np.maximum(maps, 1e-87))).float()[None]
    return Layer(query, torch.eye(maps.shape[1]).expand_as(query), torch.zeros_like(query), None, 1.0)


def test_heads_that_are_the_same_are_at_distance_0_and_heads_that_share_no_token_at_ln_2_a_row(unsmoothed):
    length = 40
    one, half, broad = np.zeros((3, length, length))
    one[:, 3], half[:, [5, 6]], broad[:] = 1, 0.5, 1 / length
    layers = [planted(np.stack([one, half, broad])), planted(np.stack([broad, half, one]))]
    found = compare_heads(layers, [length], EntropySums()) / length
    for a, b in ((0, 5), (1, 4), (2, 3)):
        assert abs(found[a, b]) < 1e-7
    for a, b in ((0, 1), (0, 4), (5, 1), (5, 4)):
        np.testing.assert_allclose(found[a, b], np.log(2), rtol=1e-6)
    np.testing.assert_array_equal(found, found.T)
    assert not found.diagonal().any()


def test_heads_that_are_nearly_the_same_are_told_apart():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(1, 128, 128)) + 0.01 * rng.normal(size=(3, 128, 128))
    maps = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    layer = planted(maps)
    # As float32 has them.
    maps = layer.attention(slice(None))[0].double().numpy()
    expected = expected_divergence([maps], SMOOTHING)
    assert 1e-6 < expected[0, 1] / 128 < 1e-4
    found = compare_heads([layer], [128], EntropySums())
    np.testing.assert_allclose(found / 128, expected / 128, atol=1e-8, rtol=0)


def test_the_samples_of_a_task_are_read_in_pairs_of_texts_and_smoothed_as_in_the_released_code(tmp_path):
    run = ModelOnTask(recorded(*tiny_bert(), tmp_path), task="squad", precision="float32", batch_tokens=512)
    found = measure_divergence(run, SAMPLES, kind="question_answering")
    assert found.sample_ids == [sample.id for sample in SAMPLES]
    encoded = run.encode(SAMPLES, "question_answering")
    assert {token for types in encoded.token_types for token in types} == {0, 1}
    expected, rows = measured(run.model, encoded)
    np.testing.assert_allclose(found.total, expected, rtol=1e-6)
    assert found.rows == rows


LAYERS, HEADS, ROWS = 4, 6, 50


def in_two_dimensions() -> np.ndarray:
    """Places of heads, those of a layer around one place."""
    rng = np.random.default_rng(0)
    return np.repeat(rng.normal(size=(LAYERS, 2)), HEADS, axis=0) + 0.3 * rng.normal(size=(LAYERS * HEADS, 2))


def test_distances_in_two_dimensions_are_shown_as_they_are():
    distances = squareform(pdist(in_two_dimensions()))
    places, summary = project_heads(Divergence(ROWS * distances, ROWS, LAYERS, ["a"]), seed=3)
    assert places[["layer", "head"]].to_numpy().tolist() == [list(head) for head in np.ndindex(LAYERS, HEADS)]
    np.testing.assert_allclose(squareform(pdist(places[["x", "y"]])), distances, atol=1e-3)
    assert summary["stress"] < 1e-3
    assert summary["correlation"] > 0.99999
    assert summary["rows"] == ROWS


def test_stress_and_correlation_are_those_of_the_definition():
    rng = np.random.default_rng(2)
    places, distances = rng.normal(size=(7, 2)), squareform(rng.random(21))
    pairs = list(itertools.combinations(range(7), 2))
    given, shown = np.array([(distances[a, b], np.hypot(*(places[a] - places[b]))) for a, b in pairs]).T
    stress = np.sqrt(np.sum((shown - given) ** 2) / np.sum(shown**2))
    expected = {"stress": stress, "correlation": np.corrcoef(given, shown)[0, 1]}
    assert goodness_of_fit(distances, places) == pytest.approx(expected)
    assert goodness_of_fit(np.zeros((3, 3)), np.zeros((3, 2))) == {"stress": None, "correlation": None}


def test_heads_of_a_layer_that_are_alike_are_found():
    distances, layer = squareform(pdist(in_two_dimensions())), np.repeat(np.arange(LAYERS), HEADS)
    found = layer_test(distances, layer, seed=0)
    same = np.equal.outer(layer, layer)
    assert found["within"] == pytest.approx(distances[same & ~np.eye(len(layer), dtype=bool)].mean())
    assert found["between"] == pytest.approx(distances[~same].mean())
    assert found["difference"] == pytest.approx(found["within"] - found["between"])
    assert found["p"] == 1 / 2001
    # Where layers say nothing, their p is anything.
    shuffled = np.random.default_rng(5).permutation(layer)
    assert layer_test(distances, shuffled, seed=0, permutations=200)["p"] > 0.05
