"""What a model takes: how many tokens, and the token that fills inputs which are shorter than others of a batch."""

from transformers import PreTrainedConfig, PreTrainedTokenizerBase

from headtypes.core.errors import InputError

# Families that number positions from the padding token's id upwards, so that fewer positions are left.
_POSITIONS_AFTER_PADDING = {
    "camembert",
    "data2vec-text",
    "esm",
    "mpnet",
    "roberta",
    "roberta-prelayernorm",
    "xlm-roberta",
    "xlm-roberta-xl",
    "xmod",
}


def padding_token(config: PreTrainedConfig) -> int | None:
    """The id of the padding token; None where config.json has none, for which some have -1."""
    token = config.pad_token_id
    return None if token is None or token < 0 else token


def check_padding(config: PreTrainedConfig, where: str) -> None:
    """Raise `InputError` where a classification head could not find the ends of the texts in a batch.

    where: the model, for the message.
    """
    if padding_token(config) is None:
        raise InputError(
            f"{where} has no pad_token_id in its config.json, which a classification head needs to find the end of "
            "a text; add it."
        )


def longest_input(config: PreTrainedConfig, tokenizer: PreTrainedTokenizerBase) -> int:
    """The most tokens that model and tokenizer take."""
    positions = getattr(config, "max_position_embeddings", None) or 10**9
    if config.model_type in _POSITIONS_AFTER_PADDING:
        positions -= (padding_token(config) or 0) + 1
    return int(min(positions, tokenizer.model_max_length))
