"""Arguments of the functions for one's own Python, checked in one way before anything is computed."""

import inspect
from collections.abc import Callable
from functools import wraps
from threading import RLock
from typing import Annotated, Any, TypeVar, get_type_hints
from weakref import WeakKeyDictionary

import numpy as np
import torch
from pydantic import ConfigDict, Field, PlainValidator, ValidationError, create_model
from torch import nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from headtypes.analyses.types.partitions import Partition
from headtypes.core.errors import InputError
from headtypes.models.model_config import body_of, layers_and_heads, longest_input
from headtypes.models.placement import device_of

# A seed of scikit-learn.
Seed = Annotated[int, Field(ge=0, lt=2**32)]
Called = TypeVar("Called", bound=Callable)
_LOCKS: WeakKeyDictionary[nn.Module, RLock] = WeakKeyDictionary()


def checked(function: Called) -> Called:
    """Decorate a function so that a call raises `InputError` if an argument does not fit its annotation."""
    hints = get_type_hints(function, include_extras=True)
    fields = {name: (hints[name], None) for name in inspect.signature(function).parameters}
    config = ConfigDict(arbitrary_types_allowed=True, strict=True, revalidate_instances="always")
    arguments = create_model(function.__name__, __config__=config, **fields)

    @wraps(function)
    def call(*args, **kwargs):
        given = inspect.signature(function).bind(*args, **kwargs).arguments
        try:
            plain = {name: each.item() if isinstance(each, np.generic) else each for name, each in given.items()}
            valid = arguments.model_validate(plain)
        except ValidationError as error:
            raise InputError(_said(error)) from None
        return function(**{name: getattr(valid, name) for name in given})

    return call


def _said(error: ValidationError) -> str:
    first, *others = error.errors(include_url=False)
    value, argument = first["input"], ".".join(map(str, first["loc"][:2]))
    # What may be of several types has an error for each.
    wanted = [each["msg"].removeprefix("Input should be ") for each in (first, *others) if each["input"] is value]
    found = repr(value) if isinstance(value, str | int | float | None) else f"a {type(value).__name__}"
    return f"{argument} should be {' or '.join(wanted)}; found {found}."


def _model(model: Any) -> nn.Module:
    parts = list(model.modules()) if isinstance(model, nn.Module) else []
    if any(hasattr(part, "_orig_mod") or part._compiled_call_impl is not None for part in parts):
        # It goes on as it was when it was compiled.
        raise InputError("The model, or a part of it, was compiled by torch.compile; give the model as it was before.")
    # A model of peft is none of Transformers, but has one.
    return _of_kind("model", model, PreTrainedModel, getattr(model, "get_base_model", lambda: model)())


def _of_kind(name: str, given: Any, kind: type, own: Any) -> Any:
    if isinstance(own, kind):
        return given
    inner = next((each for each in ("module", name) if isinstance(getattr(given, each, None), kind)), None)
    advice = f"give its `.{inner}`" if inner else "load it by `from_pretrained` of Transformers"
    raise InputError(f"{name} should be a {kind.__name__}, but it is a {type(given).__name__}; {advice}.")


Model = Annotated[PreTrainedModel, PlainValidator(_model)]
Tokenizer = Annotated[
    PreTrainedTokenizerBase, PlainValidator(lambda given: _of_kind("tokenizer", given, PreTrainedTokenizerBase, given))
]


def alone(model: PreTrainedModel) -> RLock:
    """Return the lock of a model, which a thread holds while it reads the heads or begins an ablation of heads."""
    return _LOCKS.setdefault(body_of(model), RLock())


def tokens_of_longest(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, max_length: int | None) -> int:
    """Return `max_length` or, if None, what model and tokenizer take at most; `InputError` if the model takes fewer."""
    most = longest_input(model.config)
    if max_length is not None and max_length > most:
        raise InputError(f"max_length is {max_length}, but the model takes {most} tokens at most.")
    return max_length or longest_input(model.config, tokenizer)


def check_partition(model: PreTrainedModel, partition: Partition | None) -> None:
    """Raise `InputError` if a partition has another number of layers or of heads than the model."""
    shape = layers_and_heads(model)
    if partition is not None and partition.shape != shape:
        theirs, ours = (f"{layers} layers of {heads}" for layers, heads in (partition.shape, shape))
        raise InputError(f"The partition is of {theirs} heads, but the model has {ours}.")


def check_evaluation_mode(model: PreTrainedModel) -> None:
    """Raise `InputError` if a part of a model is in training mode, in which dropout would change the numbers."""
    part = next((name or type(model).__name__ for name, part in model.named_modules() if part.training), None)
    if part is not None:
        raise InputError(f"{part} is in training mode, but heads are those of evaluation; call model.eval() first.")


def check_readable(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
    """Raise `InputError` for training mode, a learned prompt of peft, autocast, or a tokenizer of another model."""
    check_evaluation_mode(model)
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
    device = device_of(model).type
    if torch.amp.is_autocast_available(device) and torch.is_autocast_enabled(device):
        raise InputError(
            "torch.autocast computes in another precision than the model's; leave it to read heads, or load the model "
            "in that precision."
        )
