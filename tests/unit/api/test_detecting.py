"""Detectors from Python are those of the workflow."""

import numpy as np
import pandas as pd
import pytest

from headtypes.analyses.detectors.measure import draw_sequences, measure_detectors
from headtypes.analyses.detectors.results import detector_table
from headtypes.api.detecting import detect_heads
from headtypes.core.errors import InputError
from tests.support.models import plain_attentions, tiny_bert, tiny_language_model
from tests.support.records import recorded


@pytest.mark.parametrize("name", ["bert", "llama"])
def test_the_table_is_that_of_the_workflow(name, tmp_path):
    model, tokenizer = tiny_bert() if name == "bert" else tiny_language_model(name)
    before = model.config._attn_implementation
    found = detect_heads(model, tokenizer, sequences=6, length=8, least=0.05, seed=3)
    assert model.config._attn_implementation == before
    record = recorded(model, tokenizer, tmp_path)
    scores = measure_detectors(record, sequences=6, length=8, seed=3, precision="float32", batch_tokens=4096)
    pd.testing.assert_frame_equal(found, detector_table(scores, least=0.05, seed=3))


def two_before(ids):
    """From each token, the token two places before it."""
    return np.eye(len(ids), k=-2, dtype=bool)


@pytest.mark.parametrize("name", ["bert", "llama"])
def test_a_detector_of_ones_own_is_measured_as_it_says(name):
    """Beside the mean over rows of dense attention, and beside the others that a row may look at."""
    model, tokenizer = tiny_bert() if name == "bert" else tiny_language_model(name)
    found = detect_heads(model, tokenizer, sequences=4, length=8, own={"two before": two_before})
    own = found[found["detector"] == "two before"]
    drawn = draw_sequences(tokenizer, sequences=4, length=8, max_length=64, seed=0, model="")
    scores, nulls = [], []
    for ids in drawn.encoded.input_ids[:4]:
        attention, size = plain_attentions(model, ids, None), len(ids)
        rows = range(2, size)
        scores.append(np.mean([attention[:, :, row, row - 2] for row in rows], axis=0))
        others = [row + 1 if name == "llama" else size for row in rows]
        rest = [attention[:, :, row].sum(-1) - attention[:, :, row, row - 2] for row in rows]
        nulls.append(np.mean([each / (count - 1) for each, count in zip(rest, others, strict=True)], axis=0))
    np.testing.assert_allclose(own["score"], np.mean(scores, axis=0).ravel(), atol=1e-5)
    np.testing.assert_allclose(own["null"], np.mean(nulls, axis=0).ravel(), atol=1e-5)
    # Those of the workflow are as without it, but for the correction for the number of detectors.
    plain = detect_heads(model, tokenizer, sequences=4, length=8)
    pd.testing.assert_frame_equal(
        found[found["detector"] != "two before"].drop(columns=["corrected_p", "detected"]).reset_index(drop=True),
        plain.drop(columns=["corrected_p", "detected"]).reset_index(drop=True),
        check_exact=False,
        rtol=1e-4,
    )


@pytest.mark.parametrize(
    ("own", "why"),
    [
        ({"first": two_before}, "There is a detector first already"),
        ({"mine": lambda ids: np.zeros((len(ids), len(ids)), bool)}, "The detector mine has to return .* found none"),
        ({"mine": lambda ids: ids}, r"The detector mine has to return .*bool \[18, 18\]; found int64 \[18\]"),
    ],
)
def test_a_detector_that_cannot_be_one_is_refused(own, why):
    with pytest.raises(InputError, match=why):
        detect_heads(*tiny_bert(), sequences=2, length=8, own=own)
