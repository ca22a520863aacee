"""Detectors from Python are those of the workflow."""

import pandas as pd
import pytest

from headtypes.analyses.detectors.measure import measure_detectors
from headtypes.analyses.detectors.results import detector_table
from headtypes.api.detecting import detect_heads
from tests.support.models import tiny_bert, tiny_language_model
from tests.support.records import recorded


@pytest.mark.parametrize("name", ["bert", "llama"])
def test_the_table_is_that_of_the_workflow(name, tmp_path):
    model, tokenizer = tiny_bert() if name == "bert" else tiny_language_model(name)
    before = model.config._attn_implementation
    found = detect_heads(model, tokenizer, sequences=6, length=8, least=0.05, seed=3)
    assert model.config._attn_implementation == before
    record = recorded(model, tokenizer, tmp_path)
    scores = measure_detectors(record, sequences=6, length=8, seed=3, precision="float32", batch_tokens=4096)
    pd.testing.assert_frame_equal(found, detector_table(scores, least=0.05), atol=1e-6)
