"""A tiny Llama in GGUF, as llama.cpp's converter writes one; needs the package `gguf`."""

import json
from pathlib import Path

import numpy as np

from tests.support.models import WORDS, tiny_language_model
from tests.support.tiny import gpt2_tokenizer

_NAMES = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}


def write_tiny_llama(file: Path):
    """Write a random Llama whose heads share keys, with a tokenizer that adds no token; return both."""
    from gguf import GGUFWriter

    tokenizer = gpt2_tokenizer(WORDS)
    model, _ = tiny_language_model("llama", vocab_size=len(tokenizer), tie_word_embeddings=True, head_dim=6)
    config = model.config
    writer = GGUFWriter(file, "llama")
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
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(0)
    writer.add_unk_token_id(0)
    writer.add_pad_token_id(0)
    for name, weights in model.state_dict().items():
        if name != "lm_head.weight":
            writer.add_tensor(_named(name), _ordered(name, weights.numpy(), config))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return model, tokenizer


def _named(name: str) -> str:
    whole = {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight"}
    if name in whole:
        return whole[name]
    _, _, number, rest = name.split(".", 3)
    return f"blk.{number}.{_NAMES[rest.removesuffix('.weight')]}.weight"


def _ordered(name: str, weights: np.ndarray, config) -> np.ndarray:
    """Queries and keys with the two halves of each head's channels interleaved, as llama.cpp rotates them."""
    heads = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}.get(name.split(".")[-2])
    if heads is None:
        return weights
    halves = weights.reshape(heads, 2, weights.shape[0] // heads // 2, -1)
    return np.ascontiguousarray(halves.swapaxes(1, 2).reshape(weights.shape))
