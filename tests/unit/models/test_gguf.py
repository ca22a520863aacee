"""Models in GGUF are found, hashed and loaded as others are."""

import importlib.metadata
import json

import numpy as np
import pytest
import torch

from headtypes.core.files import sha256_file
from headtypes.models.architectures import check_model
from headtypes.models.fetching import fetch_model, load_tokenizer
from headtypes.models.loading import load_model
from headtypes.models.records import read_model_record, write_model_record
from tests.support.gguf_model import write_tiny_llama


def test_it_is_the_model_that_was_written_whatever_lies_beside_it(tmp_path):
    pytest.importorskip("gguf")
    (tmp_path / "alone").mkdir()
    file = tmp_path / "alone/tiny.gguf"
    model, tokenizer = write_tiny_llama(file)
    record = fetch_model("tiny", {"gguf": str(file)}, sha256=sha256_file(file))
    assert record.weights == {"tiny.gguf": sha256_file(file)}
    assert record.files == {}
    assert (record.layers, record.heads, record.width, record.max_length) == (2, 4, 24, 64)
    assert record.reader == importlib.metadata.version("gguf")
    # Keys are shared, and the head is the embeddings.
    assert record.parameters == sum(each.numel() for each in model.parameters())
    # Transformers would take the tokenizer's class, its longest input and added tokens from what lies beside the file.
    for name, contents in {
        "tokenizer_config.json": {"tokenizer_class": "BertTokenizer", "model_max_length": 7, "bos_token": "[other]"},
        "config.json": {"model_type": "bert"},
        "tokenizer.json": {},
        "adapter_config.json": {"base_model_name_or_path": "someone/else"},
    }.items():
        (file.parent / name).write_text(json.dumps(contents))
    assert fetch_model("tiny", {"gguf": str(file)}) == record
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
