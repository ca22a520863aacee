"""Which head a language model has; unlike `loading`, this loads no model."""

from transformers import AutoConfig
from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING_NAMES

from headtypes.models.records import ModelRecord


def language_head(record: ModelRecord) -> str:
    """Which of `loading.HEADS` a fetched model has if it is a language model: for masked words, unless it is causal."""
    config = AutoConfig.from_pretrained(**record.pretrained)
    masked = record.model_type in MODEL_FOR_MASKED_LM_MAPPING_NAMES and not getattr(config, "is_decoder", False)
    return "masked_lm" if masked else "causal_lm"
