"""Detectors from Python are those of the workflow."""

import pandas as pd
import pytest

from headtypes.analyses.detectors.measure import measure_detectors
from headtypes.analyses.detectors.results import detector_table
from headtypes.api.detecting import detect_heads
from headtypes.core.errors import InputError
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
    pd.testing.assert_frame_equal(found, detector_table(scores, least=0.05, seed=3))


def test_sequences_that_are_too_long_are_refused():
    with pytest.raises(InputError, match=r"LlamaForCausalLM: half a sequence cannot have 40 different tokens"):
        detect_heads(*tiny_language_model("llama"), length=40)


def test_sequences_of_which_hardly_an_order_is_left_are_refused():
    with pytest.raises(InputError, match="LlamaForCausalLM: half a sequence needs at least 4 tokens, not 3"):
        detect_heads(*tiny_language_model("llama"), length=3)
