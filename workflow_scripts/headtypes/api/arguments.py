"""Models that would be read or ablated wrongly without a word."""

from torch import nn
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from headtypes.core.errors import InputError


def check_uncompiled(model: nn.Module) -> None:
    """Raise `InputError` for a compiled model, which goes on as it was when it was compiled."""
    if hasattr(model, "_orig_mod"):
        raise InputError("The model was compiled by torch.compile; give the model as it was before.")


def check_readable(model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast) -> None:
    """Raise `InputError` where heads would not be those of the model on the tokens of the texts alone."""
    check_uncompiled(model)
    if model.training:
        raise InputError("Heads are read in evaluation mode alone; call model.eval() first.")
    learned = getattr(model, "active_peft_config", None)
    if getattr(learned, "is_prompt_learning", False):
        raise InputError(
            f"The model has a prefix or prompt of peft ({learned.peft_type.value}), which is not among the tokens that "
            "are read; read the model without it (model.get_base_model()), or ablate it with the prefix by `ablated`."
        )
    embedded = model.get_input_embeddings().num_embeddings
    if len(tokenizer) > embedded:
        raise InputError(
            f"The tokenizer has {len(tokenizer):,} tokens and the model {embedded:,}: it is that of another model."
        )
