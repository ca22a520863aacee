"""Models in GGUF are found, hashed and loaded as others are."""

import importlib.metadata
import json
from pathlib import Path

import numpy as np
import pytest
import torch

from headtypes.core.files import sha256_file
from headtypes.models.architectures import check_model
from headtypes.models.fetching import fetch_model, load_tokenizer
from headtypes.models.loading import load_model
from headtypes.models.records import read_model_record, write_model_record
from tests.support.models import WORDS, tiny_language_model
from tests.support.tiny import gpt2_tokenizer

gguf = pytest.importorskip("gguf")


def write_tiny_llama(file: Path):
    """Write a random Llama whose heads share keys, as llama.cpp's converter does; return it and its tokenizer."""
    tokenizer = gpt2_tokenizer(WORDS)
    model, _ = tiny_language_model("llama", vocab_size=len(tokenizer), tie_word_embeddings=True, head_dim=6)
    config = model.config
    writer = gguf.GGUFWriter(file, "llama")
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_rope_dimension_count(config.head_dim)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_vocab_size(config.vocab_size)
    made = json.loads(tokenizer.backend_tokenizer.to_str())["model"]
    tokens = sorted(made["vocab"], key=made["vocab"].get)
    special = set(tokenizer.all_special_tokens)
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(tokens)
    writer.add_token_types([3 if token in special else 1 for token in tokens])
    writer.add_token_merges([merge if isinstance(merge, str) else " ".join(merge) for merge in made["merges"]])
    for name in ("bos", "eos", "unk", "pad"):
        getattr(writer, f"add_{name}_token_id")(0)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config.num_hidden_layers)
    for name, weights in model.state_dict().items():
        if name != "lm_head.weight":
            writer.add_tensor(names.get_name(name, [".weight"]), in_order(name, weights.numpy(), config))
    for part in ("header", "kv_data", "tensors"):
        getattr(writer, f"write_{part}_to_file")()
    writer.close()
    return model, tokenizer


def in_order(name: str, weights: np.ndarray, config) -> np.ndarray:
    """Queries and keys with the two halves of each head's channels interleaved, as llama.cpp rotates them."""
    heads = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}.get(name.split(".")[-2])
    if heads is None:
        return weights
    halves = weights.reshape(heads, 2, weights.shape[0] // heads // 2, -1)
    return np.ascontiguousarray(halves.swapaxes(1, 2).reshape(weights.shape))


def test_it_is_the_model_that_was_written_whatever_lies_beside_it(tmp_path):
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
