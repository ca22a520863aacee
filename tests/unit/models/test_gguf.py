"""Models in GGUF are found, hashed and loaded as others are."""

import importlib.metadata

import numpy as np
import pytest
import torch

from headtypes.core.files import sha256_file
from headtypes.models.architectures import check_model
from headtypes.models.fetching import fetch_model, load_tokenizer
from headtypes.models.loading import load_model
from headtypes.models.records import read_model_record, write_model_record
from tests.support.gguf_model import write_tiny_llama


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A Llama in GGUF: its file, and the model and tokenizer that were written."""
    pytest.importorskip("gguf")
    file = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    return file, *write_tiny_llama(file)


def test_it_is_the_model_that_was_written(written, tmp_path):
    file, model, tokenizer = written
    record = fetch_model("tiny", {"gguf": str(file)}, sha256=sha256_file(file))
    assert record.weights == {"tiny.gguf": sha256_file(file)}
    assert record.files == {}
    assert (record.layers, record.heads, record.width, record.max_length) == (2, 4, 24, 64)
    assert record.reader == importlib.metadata.version("gguf")
    # Keys are shared, and the head is the embeddings.
    assert record.parameters == sum(each.numel() for each in model.parameters())
    write_model_record(tmp_path / "record.json", record)
    record = read_model_record(tmp_path / "record.json")
    check_model(record)
    words = "the cat sat by the river."
    ids = tokenizer(words)["input_ids"]
    assert load_tokenizer(record)(words)["input_ids"] == ids
    found = load_model(record, "float32", "causal_lm")
    with torch.inference_mode():
        logits = [each(input_ids=torch.tensor([ids])).logits.numpy() for each in (found, model)]
    np.testing.assert_allclose(*logits, atol=1e-5)
