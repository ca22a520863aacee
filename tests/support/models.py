"""Small random models of odd sizes, and a plain forward pass that shows all it computes."""

import copy
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from transformers import (
    MODEL_FOR_MASKED_LM_MAPPING,
    MODEL_FOR_QUESTION_ANSWERING_MAPPING,
    AutoConfig,
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForQuestionAnswering,
    BertForQuestionAnswering,
    RobertaForQuestionAnswering,
)

from headtypes.attention.hook import ATTENTION
from headtypes.models.architectures import through_interface
from tests.support.tiny import bert_tokenizer, gpt2_tokenizer, llama_tokenizer, roberta_tokenizer

WORDS = ["the", "a", "cat", "dog", "house", "river", "old", "young", "sat", "ran", "saw", "by", "under", "it", "was"]
QUESTIONS = [
    ("who sat by the river?", "The old cat, the young dog. It sat by the river, and ran."),
    ("where?", "A dog was in the house. The dog saw the river, the cat, and the old house. It ran. It sat."),
    ("who ran under the old house, by the river?", "It was the cat."),
]


def tiny_bert(layers: int = 3, heads: int = 5, head_size: int = 7, seed: int = 0):
    sizes = {"intermediate_size": 33, "max_position_embeddings": 64}
    return _tiny(BertForQuestionAnswering, bert_tokenizer(WORDS), layers, heads, head_size, seed, **sizes)


def tiny_roberta(layers: int = 2, heads: int = 3, head_size: int = 6, seed: int = 1):
    tokenizer = roberta_tokenizer(WORDS)
    sizes = {"intermediate_size": 21, "max_position_embeddings": 90, "type_vocab_size": 1}
    sizes["pad_token_id"] = tokenizer.pad_token_id
    return _tiny(RobertaForQuestionAnswering, tokenizer, layers, heads, head_size, seed, **sizes)


def _tiny(kind: type, tokenizer, layers: int, heads: int, head_size: int, seed: int, **sizes: int):
    torch.manual_seed(seed)
    config = kind.config_class(
        vocab_size=len(tokenizer),
        hidden_size=heads * head_size,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        initializer_range=0.2,
        **sizes,
    )
    return kind(config).eval(), tokenizer


def saved(model, tokenizer, folder: Path) -> Path:
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def opened(model):
    model = copy.deepcopy(model)
    through_interface(model, ATTENTION)
    return model


def state(model) -> list:
    """All that it may leave behind in a model that its heads were read or ablated."""
    return [
        model.config._attn_implementation,
        [(sorted(vars(each)), len(each._forward_pre_hooks), len(each._forward_hooks)) for each in model.modules()],
        [each.config.to_dict() for each in model.modules() if hasattr(each, "config")],
    ]


def in_float64(model):
    """A copy of a model in float64, for which experts must be computed one after the other."""
    model = copy.deepcopy(model).double()
    model.set_experts_implementation("eager")
    return model


def plain_attentions(model, ids: list[int], token_types: list[int] | None) -> np.ndarray:
    """Attention of one sample without padding, as Transformers gives it: [layer, head, query, key] float64."""
    model = in_float64(model)
    model.set_attn_implementation("eager")
    # Families that compute their attention themselves are told so.
    model.config._attn_implementation = "eager"
    inputs = {"input_ids": torch.tensor([ids]), "attention_mask": torch.ones(1, len(ids), dtype=torch.int64)}
    if token_types is not None:
        inputs["token_type_ids"] = torch.tensor([token_types])
    with torch.inference_mode():
        output = model(**inputs, output_attentions=True)
    return torch.cat(output.attentions).numpy()


class Family(NamedTuple):
    """A kind of model: its type, the tokenizer of its kind, and what its configuration has beside `SIZES`."""

    type: str
    make_tokenizer: Callable
    more: Mapping = {}


SIZES = {
    "vocab_size": 50,
    "hidden_size": 24,
    "embedding_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 20,
    "max_position_embeddings": 64,
    "initializer_range": 0.3,
    "pad_token_id": 0,
}
_SHARED_KEYS = {"num_key_value_heads": 2, "head_dim": 6}
_PAD_IS_1 = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2, "max_position_embeddings": 66}
_NO_PAD = {"bos_token_id": 0, "pad_token_id": None, "eos_token_id": 1}
_LOCAL = {**_NO_PAD, **_SHARED_KEYS, "sliding_window": 5}
_CAPPED = {"attn_logit_softcapping": 2.0, "query_pre_attn_scalar": 6}
_EXPERTS = {"num_local_experts": 3, "num_experts_per_tok": 2}
# Two of four layers have heads; the others amplify what float32 rounds, even where all else is in float64.
_HYBRID = {**_NO_PAD, **_SHARED_KEYS, "num_hidden_layers": 4, "initializer_range": 0.15}
_EVERY_SECOND = {"layer_types": ["linear_attention", "full_attention"] * 2}
_LINEAR = {
    f"linear_{name}": 2 if name.startswith("num") else 6
    for name in ("num_key_heads", "num_value_heads", "key_head_dim", "value_head_dim")
}
_MAMBA = {"mamba_n_heads": 4, "mamba_d_head": 12, "mamba_d_state": 8, "mamba_n_groups": 1}
_SHARED_EXPERT = {"num_experts": 3, "num_experts_per_tok": 2, "moe_intermediate_size": 20}
_SHARED_EXPERT |= {"shared_expert_intermediate_size": 20}
_JAMBA = {"attn_layer_period": 2, "attn_layer_offset": 1, "num_experts": 2, "mamba_d_state": 4, "mamba_dt_rank": 4}
_JAMBA |= {"use_mamba_kernels": False}
_GRANITE = {"shared_intermediate_size": 20}
_NEMOTRON = {"mamba_num_heads": 4, "mamba_head_dim": 12, "ssm_state_size": 8, "n_groups": 1}
_NEMOTRON |= {"layers_block_type": ["linear_attention", "full_attention", "mlp", "full_attention"]}
_ZAMBA = {"mamba_headdim": 12, "n_mamba_heads": 4, "mamba_d_state": 8, "mamba_ngroups": 1, "num_mem_blocks": 1}
_ZAMBA |= {"attention_head_dim": 6, "layers_block_type": ["linear_attention", "hybrid"] * 2}
_GEMMA3N = {"num_hidden_layers": 2, "layer_types": ["sliding_attention", "full_attention"], "laurel_rank": 4}
_GEMMA3N |= {"hidden_size_per_layer_input": 6, "vocab_size_per_layer_input": 40, "num_kv_shared_layers": 0}
_GEMMA3N |= {"altup_num_inputs": 2, "activation_sparsity_pattern": [0.0] * 2}

FAMILIES = {
    each.type: each
    for each in (
        *(Family(name, bert_tokenizer) for name in ("bert", "electra", "albert")),
        Family("distilbert", bert_tokenizer, {"hidden_dim": 20}),
        Family("mobilebert", bert_tokenizer, {"intra_bottleneck_size": 24, "initializer_range": 0.1}),
        *(Family(name, bert_tokenizer) for name in ("ernie", "nomic_bert")),
        # Local layers look 3 tokens to either side; the first layer is not local.
        Family("modernbert", bert_tokenizer, {"local_attention": 6}),
        *(
            Family(name, roberta_tokenizer, _PAD_IS_1)
            for name in ("roberta", "xlm-roberta", "camembert", "data2vec-text")
        ),
        Family("eurobert", roberta_tokenizer, {**_PAD_IS_1, **_SHARED_KEYS, "max_position_embeddings": 64}),
        Family("gpt2", gpt2_tokenizer, {"bos_token_id": 0, "eos_token_id": 0}),
        Family("opt", gpt2_tokenizer, {**_NO_PAD, "ffn_dim": 20, "word_embed_proj_dim": 24, "pad_token_id": 1}),
        Family("gpt_neox", gpt2_tokenizer, _NO_PAD),
        Family("llama", llama_tokenizer, {**_NO_PAD, **_SHARED_KEYS}),
        Family("mistral", llama_tokenizer, {**_NO_PAD, **_SHARED_KEYS, "sliding_window": 5}),
        *(Family(name, gpt2_tokenizer, {**_NO_PAD, **_SHARED_KEYS}) for name in ("qwen2", "qwen3")),
        Family("gemma", llama_tokenizer, {**_NO_PAD, **_SHARED_KEYS}),
        Family("gemma3_text", llama_tokenizer, {**_NO_PAD, **_SHARED_KEYS, "sliding_window": 5}),
        Family("olmo2", gpt2_tokenizer, {**_NO_PAD, **_SHARED_KEYS}),
        Family("phi3", llama_tokenizer, {**_NO_PAD, **_SHARED_KEYS, "sliding_window": None}),
        Family("mpnet", roberta_tokenizer, _PAD_IS_1),
        *(Family(name, gpt2_tokenizer, _NO_PAD) for name in ("bloom", "falcon")),
        Family("gptj", gpt2_tokenizer, {**_NO_PAD, "rotary_dim": 4}),
        Family("stablelm", gpt2_tokenizer, {**_NO_PAD, "num_key_value_heads": 2, "partial_rotary_factor": 0.7}),
        # Scores are capped where they are large.
        Family("gemma2", llama_tokenizer, {**_LOCAL, **_CAPPED}),
        Family("gpt_oss", gpt2_tokenizer, {**_LOCAL, **_EXPERTS}),
        Family("mixtral", llama_tokenizer, {**_NO_PAD, **_SHARED_KEYS, **_EXPERTS}),
        Family("qwen3_moe", gpt2_tokenizer, {**_NO_PAD, **_SHARED_KEYS, **_EXPERTS, "moe_intermediate_size": 20}),
        Family("lfm2", llama_tokenizer, {**_HYBRID, "layer_types": ["conv", "full_attention"] * 2}),
        Family("qwen3_next", gpt2_tokenizer, {**_HYBRID, **_EVERY_SECOND, **_LINEAR, **_SHARED_EXPERT}),
        Family("qwen3_5_text", gpt2_tokenizer, {**_HYBRID, **_EVERY_SECOND, **_LINEAR}),
        Family("olmo_hybrid", gpt2_tokenizer, {**_HYBRID, **_EVERY_SECOND, **_LINEAR}),
        Family("jamba", llama_tokenizer, {**_HYBRID, **_JAMBA}),
        Family("bamba", llama_tokenizer, {**_HYBRID, **_MAMBA, "attn_layer_indices": [1, 3]}),
        Family("granitemoehybrid", gpt2_tokenizer, {**_HYBRID, **_EVERY_SECOND, **_EXPERTS, **_MAMBA, **_GRANITE}),
        Family("falcon_h1", llama_tokenizer, {**_NO_PAD, **_SHARED_KEYS, **_MAMBA, "mamba_d_ssm": 48}),
        Family("nemotron_h", llama_tokenizer, {**_HYBRID, **_NEMOTRON}),
        Family("zamba2", llama_tokenizer, {**_HYBRID, **_ZAMBA}),
        Family("recurrent_gemma", llama_tokenizer, {**_HYBRID, "num_hidden_layers": 6}),
        Family("gemma3n_text", llama_tokenizer, {**_LOCAL, **_GEMMA3N}),
    )
}


# Encoders with a decoder, of which the encoder is read.
_TWO_STACKS = {
    **_PAD_IS_1,
    "d_model": 24,
    "decoder_layers": 3,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 20,
    "decoder_ffn_dim": 20,
    "init_std": 0.3,
}
_T5 = {**_PAD_IS_1, "d_model": 24, "d_kv": 6, "d_ff": 20, "num_decoder_layers": 3}
ENCODERS = {
    each.type: each
    for each in (
        *(Family(name, roberta_tokenizer, _T5) for name in ("t5", "mt5", "umt5")),
        *(
            Family(name, roberta_tokenizer, _TWO_STACKS)
            for name in ("bart", "mbart", "m2m_100", "marian", "pegasus", "blenderbot", "plbart")
        ),
    )
}


@cache
def tiny_encoder(name: str):
    config, tokenizer = family_config(name)
    torch.manual_seed(3)
    return AutoModel.from_config(config).eval(), tokenizer


@cache
def tiny_family(name: str):
    """A random model of a family (of `ENCODERS`, the encoder), with a question-answering head where there is one."""
    if name in ENCODERS:
        model, tokenizer = tiny_encoder(name)
        return model.get_encoder(), tokenizer
    config, tokenizer = family_config(name)
    torch.manual_seed(3)
    auto = AutoModelForQuestionAnswering if type(config) in MODEL_FOR_QUESTION_ANSWERING_MAPPING else AutoModel
    return auto.from_config(config).eval(), tokenizer


def tiny_language_model(name: str, **sizes):
    """A random model of a family with a head for masked words, or else for the next token, and its tokenizer."""
    config, tokenizer = family_config(name, **sizes)
    torch.manual_seed(4)
    auto = AutoModelForMaskedLM if type(config) in MODEL_FOR_MASKED_LM_MAPPING else AutoModelForCausalLM
    return auto.from_config(config).eval(), tokenizer


def family_config(name: str, **sizes):
    family = (FAMILIES | ENCODERS)[name]
    tokenizer = family.make_tokenizer(WORDS)
    return AutoConfig.for_model(name, **{**SIZES, "vocab_size": len(tokenizer), **family.more, **sizes}), tokenizer
