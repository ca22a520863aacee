"""Heads of a loaded model ablated for any code that calls it: pipelines, `Trainer.evaluate`, `generate`, one's own."""

import inspect
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial, update_wrapper
from typing import Any

import numpy as np
import torch
from pydantic import InstanceOf
from torch import Tensor
from torch.utils.hooks import RemovableHandle
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel

from headtypes.analyses.types.partitions import Partition
from headtypes.api.arguments import Model, alone, check_evaluation_mode, check_partition, checked
from headtypes.attention.ablate import Ablation, Change, SentencePairs
from headtypes.attention.hook import ATTENTION, Layer, equal_lengths
from headtypes.attention.operations import OPERATIONS, Reading, head_of, operation_of, operations_by_head
from headtypes.core.errors import InputError
from headtypes.models.architectures import (
    check_layers,
    check_number_of_heads,
    computes_attention_itself,
    through_interface,
)
from headtypes.models.model_config import layers_and_heads
from headtypes.models.placement import replace_method

# The name by which the attention of an ablated model is registered with Transformers.
ABLATED = "headtypes_ablated"
_NEEDING = " and ".join(name for name, operation in OPERATIONS.items() if operation.needs_sentences)
_LEFT = (
    "The `with` block of `ablated` was left, or the attention of the model replaced, before this call had ended, so "
    "that not all of it was ablated; leave the block when all calls have ended."
)

Sentences = Callable[[Tensor, Tensor | None], np.ndarray]


@checked
@contextmanager
def ablated(
    model: Model,
    operations: Mapping[str, str | Change],
    *,
    partition: InstanceOf[Partition] | None = None,
    sentences: Sentences | None = None,
    reading: Reading | None = None,
    head_outputs: np.ndarray | None = None,
) -> Iterator[PreTrainedModel]:
    """Ablate heads of a model until the `with` block is left; the block gets the model.

    model:      model in evaluation mode, on any device: a decoder or an encoder that the workflow supports.
    operations: {target: operation}. A target is a head, `layer-head` from 1, or a type of the partition. A head's own
        operation replaces that of its type. An operation is named as in the configuration, such as `zero` or
        `resample 2` (2 is the seed of the draw), or is a function of your own: (attention, rows) -> other attention of
        the same shape. Here attention is [text, head, row, key] of the heads with this operation, padding included,
        and rows is the slice of the query rows in the text.
    partition:  types of the model's heads (`reading.head_types`, `partitions.read_partition`).
    sentences:  only for resample, drop_intra and drop_inter: a function that returns the number of each token's
        sentence, [text, token], from 0; -1 for special tokens and padding. It takes token ids and the attention mask
        (or None), both [text, token]. If two texts are read together, the first text is sentence 0, and the sentences
        of the second count from 1. These three operations refuse steps with a cache.
    reading:    one way to read the paper, by default `Reading()`; uniform_over_padding is refused.
    head_outputs: only for mean: each head's mean output over tokens, [layer, head, channel] (`read_head_outputs`).

    Every call of the model is ablated, in all threads. A second `with` on the model and a gradient through the heads
    are refused. After the block, also after an exception, the model is as it was; running calls end with an error.
    Raises `InputError` if an operation or a target does not exist or lacks an argument that it needs. A call of the
    model raises `InputError` if the heads cannot be ablated.
    """
    reading = reading or Reading()
    if model.config.is_encoder_decoder and model.get_encoder() is not model:
        raise InputError(
            f"{type(model).__name__} is an encoder with a decoder, whose heads cannot be ablated together; ablate "
            "those of model.get_encoder()."
        )
    check_partition(model, partition)
    named = [target for target in operations if head_of(target) is None]
    if partition is None and named:
        raise InputError(f"operations: {named[0]} is no head, and types need `partition`, which says whose they are.")
    types = np.full(layers_and_heads(model), None, dtype=object) if partition is None else partition.type_of
    by_head = operations_by_head(types, operations, "operations")
    # Raises now rather than in the first call.
    Ablation(by_head, [], reading, head_outputs)
    needed = any(operation_of(operation).needs_sentences for operation in operations.values())
    if needed and sentences is None:
        raise InputError(f"{_NEEDING} need `sentences`, a function that says where the sentences are.")
    if reading.uniform_over_padding:
        raise InputError("uniform_over_padding is for windows of one length, as the workflow fills them; leave it out.")
    calls = _Calls(lambda texts: _Call(by_head, texts, reading, head_outputs), sentences if needed else None)
    with ExitStack() as entered:
        # Held while the model is changed, and while it is restored.
        lock = alone(model)
        entered.enter_context(lock)
        if model.config._attn_implementation == ABLATED:
            raise InputError(
                f"The heads of this {type(model).__name__} are ablated already; leave that `with` block first, or name "
                "all operations in one."
            )
        # Some heads call a part of the body directly, so that every part is watched, unless it is not told by the whole
        # that this one was called.
        parts = [model] if computes_attention_itself(model) else model.modules()
        parts = [part for part in parts if isinstance(part, PreTrainedModel)]
        for part in parts:
            hook = part.register_forward_pre_hook(calls.begin, with_kwargs=True, prepend=True)
            # Garbage does not find its hooks any more, as where this is a generator's that was not closed.
            calls.kept.append(hook)
            entered.callback(hook.remove)
        if hasattr(model, "generate"):
            whole = update_wrapper(partial(calls.whole, model.generate), model.generate)
            replace_method(entered, model, "generate", whole)
        entered.enter_context(through_interface(model, ABLATED))
        entered.callback(calls.leave)
        calls.ends = [part.register_forward_hook(calls.end, with_kwargs=True, always_call=True) for part in parts]
        if model.config._attn_implementation != ABLATED:
            check_layers(model, 0)
        lock.release()
        entered.callback(lock.acquire)
        yield model


# The ablation of one forward pass, whose inputs may be padded on either side or continue a cache.
class _Call(Ablation):
    def __init__(
        self, operations: np.ndarray, sentences: np.ndarray | None, reading: Reading, head_outputs: np.ndarray | None
    ):
        super().__init__(operations, [] if sentences is None else list(sentences), reading, head_outputs)
        self._needed = [any(operation.needs_sentences for operation, _ in layer) for layer in self._operations]
        self._by_keys: dict[int, list[SentencePairs]] = {}
        self.layers = 0
        self.model: PreTrainedModel | None = None

    def attend(self, layer: Layer) -> Tensor:
        number, self.layers = self.layers, self.layers + 1
        check_number_of_heads(self.model, layer.query.shape[1])
        return self(number, layer)

    def groups_of(self, number: int, layer: Layer) -> list[SentencePairs]:
        samples, keys = len(layer.key), layer.key.shape[2]
        known = [len(sentence) for sentence in self._sentences] == [keys] * samples
        if self._needed[number] and not known:
            raise InputError(
                f"{_NEEDING} need the sentences of all tokens, but this call has inputs_embeds, or the ids of its new "
                "tokens alone, and earlier ones are in a cache; call `generate` with use_cache=False."
            )
        if keys not in self._by_keys:
            sentences, device = self._sentences if known else [np.full(keys, -1)] * samples, layer.query.device
            self._by_keys[keys] = [
                SentencePairs(group, sentences, self.reading, device)
                for group in equal_lengths([keys] * samples, device)
            ]
        return self._by_keys[keys]


# The hooks that run before and after each forward pass of an ablated model, and around `generate`.
class _Calls:
    def __init__(self, ablation: Callable[[np.ndarray | None], _Call], sentences: Sentences | None):
        self._ablation, self._sentences = ablation, sentences
        # Calls that were interrupted do not end, and are gone.
        self._open: weakref.WeakSet[_Call] = weakref.WeakSet()
        self._left = False
        self.kept: list[RemovableHandle] = []
        self.ends: list[RemovableHandle] = []

    def begin(self, model: PreTrainedModel, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict] | None:
        if _call_of(kwargs) is not None:
            return None
        if "forward" in kwargs:
            raise InputError("The heads of an ablated model cannot be read; leave the `with` block of `ablated` first.")
        check_evaluation_mode(model)
        call = self._ablation(self._of_texts(model, args, kwargs))
        # The body gets the same arguments from the model around it, and is not to check the call too.
        call.model = model
        self._open.add(call)
        if self._left:
            raise InputError(_LEFT)
        return args, {**kwargs, "forward": call.attend}

    def end(self, model: PreTrainedModel, args: tuple, kwargs: dict[str, Any], output: Any) -> None:
        call = _call_of(kwargs)
        if call not in self._open or call.model is not model:
            return
        self._open.discard(call)
        if output is not None:
            if self._left or model.config._attn_implementation not in (ABLATED, ATTENTION):
                raise InputError(_LEFT)
            check_layers(model, call.layers)

    def whole(self, generate: Callable, *args, **kwargs) -> Any:
        output = generate(*args, **kwargs)
        if self._left:
            raise InputError(_LEFT)
        return output

    def leave(self) -> None:
        # Running forward passes fail at their end: their remaining layers are no longer ablated.
        self._left = True
        for call in list(self._open):
            weakref.finalize(call, self._remove)
        self._remove()

    def _remove(self) -> None:
        if not list(self._open):
            for hook in self.ends:
                hook.remove()

    def _of_texts(self, model: PreTrainedModel, args: tuple, kwargs: dict[str, Any]) -> np.ndarray | None:
        if self._sentences is None:
            return None
        given = inspect.signature(model.forward).bind_partial(*args, **kwargs).arguments
        ids = given.get("input_ids")
        if ids is None:
            return None
        sentences = np.asarray(self._sentences(ids, given.get("attention_mask")))
        if sentences.shape != tuple(ids.shape) or not np.issubdtype(sentences.dtype, np.integer):
            raise InputError(
                f"`sentences` has to return the sentence of each token, whole numbers {list(ids.shape)}; found "
                f"{sentences.dtype} {list(sentences.shape)}."
            )
        return sentences


def _call_of(kwargs: Mapping[str, Any]) -> _Call | None:
    call = getattr(kwargs.get("forward"), "__self__", None)
    return call if isinstance(call, _Call) else None


def _attend(module, *args, forward: Callable[[Layer], Tensor] | None = None, num_items_in_batch=None, **kwargs):
    # The last is the Trainer's, for its loss, and models hand it to their layers.
    if forward is None:
        raise InputError(
            f"{type(module).__name__} belongs to a model whose heads are ablated, and was called without that model; "
            "call the model itself."
        )
    attend = partial(AttentionInterface()[ATTENTION], module, *args, forward=forward, **kwargs)
    if not torch.is_grad_enabled():
        return attend()
    return _WithoutGradient.apply(lambda: attend()[0], *args[:3]), None


class _WithoutGradient(torch.autograd.Function):
    @staticmethod
    def forward(_, attend: Callable[[], Tensor], *inputs: Tensor) -> Tensor:
        return attend()

    @staticmethod
    def backward(*_):
        raise InputError("Gradients do not pass through ablated heads; leave the `with` block of `ablated` first.")


AttentionInterface.register(ABLATED, _attend)
AttentionMaskInterface.register(ABLATED, AttentionMaskInterface()[ATTENTION])
