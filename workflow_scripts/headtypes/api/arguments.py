"""What is handed to the functions of this room: each argument is checked here, and told in one sentence."""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field, ValidationError, validate_call
from torch import nn
from transformers import PreTrainedTokenizerFast

from headtypes.core.errors import InputError, shortened
from headtypes.models.model_config import longest_input


def checked(function: Callable) -> Callable:
    """Have a function refuse arguments that are not of their types with an `InputError` that names each."""
    validated = validate_call(config=ConfigDict(arbitrary_types_allowed=True))(function)

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return validated(*args, **kwargs)
        except ValidationError as error:
            names = list(signature(function).parameters)
            sentences = dict.fromkeys(_sentence(problem, names) for problem in error.errors())
            raise InputError(f"{function.__name__}: {' '.join(sentences)}") from None

    return call


def _sentence(error: dict, names: list[str]) -> str:
    message, where = error["msg"].removeprefix("Value error, ").rstrip("."), error["loc"][0] if error["loc"] else ""
    # Arguments by position have their number; what follows tells which of several types one is not.
    where = names[where] if isinstance(where, int) and where < len(names) else where
    return f"{where}: {message[0].lower()}{message[1:]}; found {shortened(repr(error['input']))}."


def _model(model: Any) -> nn.Module:
    name = type(model).__name__
    if not isinstance(model, nn.Module):
        raise InputError(f"The model is a {name}; give one that from_pretrained of Transformers has loaded.")
    if isinstance(model, nn.DataParallel | nn.parallel.DistributedDataParallel):
        raise InputError(f"The model is in a {name}, whose copies cannot be read; give model.module.")
    if hasattr(model, "_orig_mod"):
        raise InputError("The model was compiled by torch.compile; give the model as it was before.")
    return model


def _read_model(model: Any) -> nn.Module:
    model = _model(model)
    if model.training:
        raise InputError("Heads are read in evaluation mode alone; call model.eval() first.")
    learned = getattr(model, "active_peft_config", None)
    if getattr(learned, "is_prompt_learning", False):
        raise InputError(
            f"The model has a prefix or prompt of peft ({learned.peft_type.value}), which is not among the tokens that "
            "are read; read the model without it (model.get_base_model()), or ablate it with the prefix by `ablated`."
        )
    return model


def _tokenizer(tokenizer: Any) -> PreTrainedTokenizerFast:
    if not isinstance(tokenizer, PreTrainedTokenizerFast):
        raise InputError(
            f"The tokenizer is a {type(tokenizer).__name__}; give a fast one, as AutoTokenizer.from_pretrained loads."
        )
    return tokenizer


# A loaded model; one in evaluation mode, to which no call adds anything; its fast tokenizer.
Model = Annotated[nn.Module, BeforeValidator(_model)]
ReadModel = Annotated[nn.Module, BeforeValidator(_read_model)]
Tokenizer = Annotated[PreTrainedTokenizerFast, BeforeValidator(_tokenizer)]
Positive = Annotated[int, Field(ge=1)]


def longest_of(model: nn.Module, tokenizer: PreTrainedTokenizerFast, max_length: int | None) -> int:
    """The tokens of the longest input: `max_length` or, where it is None, what model and tokenizer take.

    Raises `InputError` where it is more than the model takes, or the tokenizer has more tokens than the model.
    """
    embedded = model.get_input_embeddings().num_embeddings
    if len(tokenizer) > embedded:
        raise InputError(
            f"The tokenizer has {len(tokenizer):,} tokens and the model {embedded:,}: it is that of another model."
        )
    longest = longest_input(model.config, tokenizer)
    positions = getattr(model.config, "max_position_embeddings", None) or 10**9
    if max_length is not None and max_length > positions:
        raise InputError(f"max_length is {max_length}, but the model takes {positions} tokens at most.")
    return longest if max_length is None else max_length
