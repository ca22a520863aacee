"""Facts of a model's config.json, without loading it: layers, heads, longest input, padding token."""

from transformers import AutoConfig, PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, MODEL_FOR_MASKED_LM_MAPPING_NAMES

from headtypes.core.errors import InputError
from headtypes.models.records import ModelRecord

# Families that number positions from the padding token's id upwards, so that fewer positions are left.
_POSITIONS_AFTER_PADDING = {
    *("camembert", "data2vec-text", "esm", "mpnet", "roberta", "roberta-prelayernorm"),
    *("xlm-roberta", "xlm-roberta-xl", "xmod"),
}
# Kinds of layers that have no attention heads: convolutions, recurrences, and layers that have experts or a
# feed-forward network alone.
_HEADLESS = ("conv", "linear_attention", "mamba", "mlp", "moe", "recurrent")


def config_of(record: ModelRecord) -> PreTrainedConfig:
    """Return a fetched model's config; special kernels, feed-forward chunks and quantised arithmetic are turned off."""
    config = AutoConfig.from_pretrained(**record.pretrained)
    # What a config.json names may be code from the Hub, or a package that not every machine has.
    config._attn_implementation = config._experts_implementation = None
    # Outputs are read by their names, and not all models can do without these themselves.
    config.return_dict = True
    if getattr(config, "quantization_config", None):
        # Also where the machine could compute with the quantised ones.
        config.quantization_config = {**config.quantization_config, "dequantize": True}
    if hasattr(config, "chunk_size_feed_forward"):
        # Texts whose length it does not divide could not be computed.
        config.chunk_size_feed_forward = 0
    return config


def body_of(model: PreTrainedModel) -> PreTrainedModel:
    """Return the part of a model whose heads are read: the base model, or the encoder of an encoder-decoder."""
    body = model.base_model
    return body.get_encoder() if body.config.is_encoder_decoder else body


# Results number a head's layer by its position in this list.
def headed_layers(config: PreTrainedConfig) -> list[int]:
    """Return the indices, from 0, of the layers with attention heads: all layers, except in hybrid models."""
    kinds = getattr(config, "layer_types", None) or [""] * config.num_hidden_layers
    return [layer for layer, kind in enumerate(kinds) if kind not in _HEADLESS]


def layers_and_heads(model: PreTrainedModel) -> tuple[int, int]:
    config = model.config
    if not hasattr(config, "num_attention_heads"):
        raise InputError(f"a {config.model_type} model has no attention heads; name a Transformer.")
    return len(headed_layers(config)), config.num_attention_heads


def padding_token(config: PreTrainedConfig) -> int | None:
    """Return the id of the padding token; None if the config names none, or the model has no embedding for it."""
    token = config.pad_token_id
    return token if token is not None and 0 <= token < config.vocab_size else None


def check_padding(config: PreTrainedConfig, where: str) -> None:
    if padding_token(config) is None:
        raise InputError(
            f"{where} has no pad_token_id in its config.json, which a classification head needs to find the end of "
            "a text; add it."
        )


def longest_input(config: PreTrainedConfig, tokenizer: PreTrainedTokenizerBase | None = None) -> int:
    """Return the most tokens of an input that a model and, if given, its tokenizer take; 10**9 without a limit."""
    positions = getattr(config, "max_position_embeddings", None) or 0
    # Where there is no limit, some say -1.
    positions = positions if positions > 0 else 10**9
    if config.model_type in _POSITIONS_AFTER_PADDING:
        positions -= (padding_token(config) or 0) + 1
    return positions if tokenizer is None else int(min(positions, tokenizer.model_max_length))


def is_causal(config: PreTrainedConfig) -> bool:
    """Return whether tokens attend only to themselves and earlier tokens.

    False for encoder-decoders, if config.json says that tokens attend to all tokens (EmbeddingGemma), and for encoders
    with a class for masked words in Transformers. True for decoders, and for any other model type without such a class.
    """
    looks_both_ways = config.model_type == "gemma3_text" and config.use_bidirectional_attention
    if config.is_encoder_decoder or looks_both_ways or not getattr(config, "is_causal", True):
        return False
    can_be = config.model_type in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES and getattr(config, "is_decoder", False)
    return config.model_type not in MODEL_FOR_MASKED_LM_MAPPING_NAMES or bool(can_be)
