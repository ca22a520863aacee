"""Supported architectures: attention through Transformers' interface, and whether heads can be read and ablated."""

import threading
from contextlib import ExitStack
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface, AutoModel, PreTrainedModel

from headtypes.core.errors import InputError
from headtypes.models.fetching import fetch_model
from headtypes.models.model_config import body_of, config_of, headed_layers, is_causal
from headtypes.models.placement import replace_method
from headtypes.models.records import ModelRecord, write_model_record

# Some families compute attention themselves. While heads are read, the one function that does is replaced by one that
# hands the same queries, keys, values and biases to the interface; tests compare both.


class _Own(threading.local):
    # Keyword argument of the model's call that runs in this thread, which tells our attention function what to do with
    # each layer's attention.
    forward: Any = None

    def __init__(self, implementation: str):
        self._implementation = implementation

    def __deepcopy__(self, memory: dict) -> "_Own":
        return self

    def begin(self, model: nn.Module, args: tuple, kwargs: dict[str, Any]) -> None:
        self.forward = kwargs.get("forward")

    def end(self, model: nn.Module, args: tuple, output: Any) -> None:
        self.forward = None

    def attend(self, module: nn.Module, *states: Tensor | None, **arguments) -> Tensor:
        function = AttentionInterface()[self._implementation]
        return function(module, *states, forward=self.forward, **arguments)[0]


def _mpnet(module: nn.Module, own: _Own, hidden_states, attention_mask=None, position_bias=None, **kwargs):
    shape = (*hidden_states.shape[:-1], -1, module.attention_head_size)
    query, key, value = (linear(hidden_states).view(shape).transpose(1, 2) for linear in (module.q, module.k, module.v))
    outputs = own.attend(module, query, key, value, attention_mask, position_bias=position_bias)
    return (module.o(outputs.flatten(2)),)


# As `BloomAttention.forward` and `FalconAttention.forward` of Transformers.
def _bloom(module: nn.Module, own: _Own, hidden_states, residual, alibi, attention_mask, layer_past=None, **kwargs):
    query, key, value = module._reshape(module.query_key_value(hidden_states))
    if layer_past is not None:
        key, value = layer_past.update(key, value, module.layer_idx)
    bias = alibi.view(len(query), module.num_heads, 1, -1)
    how = {"scaling": module.inv_norm_factor, "position_bias": bias}
    outputs = own.attend(module, query, key, value, attention_mask, **how)
    return module.dense(outputs.flatten(2)) + residual, None


def _falcon(
    module, own: _Own, hidden_states, alibi, attention_mask, layer_past=None, position_embeddings=None, **kwargs
):
    from transformers.models.falcon.modeling_falcon import apply_rotary_pos_emb

    if alibi is not None:
        raise InputError(
            "FalconAttention adds the bias of ALiBi once or twice to its scores, depending on how Transformers "
            "computes them; this architecture is not supported."
        )
    heads = module._split_heads(module.query_key_value(hidden_states))
    query, key, value = (states.transpose(1, 2) for states in heads)
    query, key = apply_rotary_pos_emb(query, key, *position_embeddings)
    if layer_past is not None:
        key, value = layer_past.update(key, value, module.layer_idx)
    return module.dense(own.attend(module, query, key, value, attention_mask).flatten(2)), None


def _gptj(module: nn.Module, own: _Own, query, key, value, attention_mask=None):
    outputs = own.attend(module, query, key, value, attention_mask, scaling=1 / module.scale_attn)
    return outputs.transpose(1, 2), None


# StableLM does not hand the keyword argument `forward` of the model's call to its layers.
def _stablelm(module: nn.Module, own: _Own, *args, **kwargs):
    return type(module).forward(module, *args, **kwargs, forward=own.forward)


_REPLACED = {
    "MPNetSelfAttention": ("forward", _mpnet),
    "BloomAttention": ("forward", _bloom),
    "FalconAttention": ("forward", _falcon),
    "GPTJAttention": ("_attn", _gptj),
    "StableLmAttention": ("forward", _stablelm),
}


def computes_attention_itself(model: nn.Module) -> bool:
    return any(type(module).__name__ in _REPLACED for module in model.modules())


def through_interface(model: PreTrainedModel, implementation: str) -> ExitStack:
    """Make a model compute attention by a registered function, until the returned stack is closed.

    implementation: name of the function in Transformers' `AttentionInterface`; `model(..., forward=x)` passes it `x`.
    """
    before, own = model.config._attn_implementation, _Own(implementation)
    with ExitStack() as restored:
        if before == implementation:
            return restored.pop_all()
        if not computes_attention_itself(model):
            restored.callback(model.set_attn_implementation, before)
            model.set_attn_implementation(implementation)
            return restored.pop_all()
        # By this name the model makes its masks.
        restored.callback(setattr, model.config, "_attn_implementation", before)
        model.config._attn_implementation = implementation
        restored.callback(model.register_forward_pre_hook(own.begin, with_kwargs=True).remove)
        restored.callback(model.register_forward_hook(own.end, always_call=True).remove)
        for module in model.modules():
            if type(module).__name__ in _REPLACED:
                name, replacement = _REPLACED[type(module).__name__]
                replace_method(restored, module, name, partial(replacement, module, own))
        return restored.pop_all()


# Arguments of an attention function that change nothing: a sliding window is in the mask already, positions are in the
# queries and keys, and token types are passed on even where a model has none.
_HARMLESS = {"sliding_window", "position_ids", "cache_position", "token_type_ids"}
# Those that change the scores, as `hook.Layer` does: its cap, sink and bias.
_COMPUTED = {"softcap", "s_aux", "position_bias"}
_NOT_SUPPORTED = "this architecture is not supported."
_PROBE = "headtypes_probe"


def check_layer(module: torch.nn.Module, mask: Tensor | None, arguments: dict[str, Any]) -> None:
    """Raise `InputError` if our own attention, `hook.Layer`, cannot take a layer's mask or keyword arguments."""
    for name, value in arguments.items():
        if value is not None and not isinstance(value, bool) and name not in _HARMLESS | _COMPUTED:
            raise InputError(f"{type(module).__name__} computes its attention with `{name}`; {_NOT_SUPPORTED}")
    causal = arguments.get("is_causal")
    if mask is None and (getattr(module, "is_causal", False) if causal is None else causal):
        raise InputError(f"{type(module).__name__} asks for no mask although it is causal; {_NOT_SUPPORTED}")
    if mask is not None and (mask.dtype != torch.bool or mask.shape[1] != 1):
        raise InputError(
            f"{type(module).__name__} makes its own mask, which may add a bias to the scores or differ between heads; "
            + _NOT_SUPPORTED
        )


def check_layers(model: torch.nn.Module, attentions: int) -> None:
    """Raise `InputError` unless a pass computed attention once per layer with heads; attentions: how often it did."""
    name, layers = type(model).__name__, len(headed_layers(model.config))
    if attentions < layers:
        raise InputError(
            f"{name}: {attentions} of {layers} layers use Transformers' attention interface, through which heads are "
            f"read and ablated; {_NOT_SUPPORTED}"
        )
    if attentions > layers:
        raise InputError(
            f"{name} computes attention {attentions} times in {layers} layers, so that layer and number do not "
            f"identify a head; {_NOT_SUPPORTED}"
        )


def check_number_of_heads(model: torch.nn.Module, heads: int) -> None:
    said = model.config.num_attention_heads
    if heads != said:
        raise InputError(
            f"{type(model).__name__} has layers with different numbers of heads, as pruning leaves them ({heads} where "
            f"its config says {said}); {_NOT_SUPPORTED}"
        )


def check_model(record: ModelRecord) -> None:
    """Raise `InputError` if the heads of a fetched model cannot be read and ablated.

    The model runs on tensors that have shapes but no values. An architecture that fails without values is accepted
    here, and checked in its first real forward pass (`hook.run`).
    """
    try:
        _run_without_numbers(record)
    except InputError as error:
        raise InputError(f"models.{record.name}: {record.folder}: {error}") from None


def _run_without_numbers(record: ModelRecord) -> None:
    config = config_of(record)
    positions = getattr(config, "position_embedding_type", None)
    if str(positions).startswith("relative_key"):
        raise InputError(
            f"its config.json has position_embedding_type {positions}, which Transformers no longer computes; "
            + _NOT_SUPPORTED
        )
    if getattr(config, "pruned_heads", None):
        raise InputError(
            "its config.json has pruned_heads, and Transformers no longer loads a model without some of its heads; "
            "name the model before pruning."
        )
    if getattr(config, "use_bidirectional_attention", None) in (True, "all") and is_causal(config):
        raise InputError(
            f"its config.json has use_bidirectional_attention, which Transformers does not compute in a "
            f'{config.model_type} model; write "is_causal": false beside it.'
        )
    config.use_cache = False
    heads: list[int] = []
    try:
        with torch.device("meta"):
            # Mixtures of experts run in this precision alone.
            model = AutoModel.from_config(config, dtype=torch.bfloat16, trust_remote_code=False)
            model, ids = body_of(model).eval(), torch.zeros((1, 3), dtype=torch.int64)
            with through_interface(model, _PROBE), torch.inference_mode():
                if model.config._attn_implementation == _PROBE:
                    model(input_ids=ids, attention_mask=torch.ones_like(ids), forward=heads)
    except InputError:
        raise
    except Exception:  # Code that needs numbers fails in many ways.
        return
    check_layers(model, len(heads))
    for number in heads:
        check_number_of_heads(model, number)


def _attend(module, query, key, value, attention_mask, scaling=None, dropout=0.0, forward=None, **kwargs):
    check_layer(module, attention_mask, kwargs)
    if forward is not None:
        forward.append(query.shape[1])
    batch, heads, queries, _ = query.shape
    return query.new_empty((batch, queries, heads, value.shape[-1])), None


def _mask(batch_size: int, q_length: int, kv_length: int, *args, **kwargs) -> Tensor:
    return torch.ones((batch_size, 1, q_length, kv_length), dtype=torch.bool)


AttentionInterface.register(_PROBE, _attend)
AttentionMaskInterface.register(_PROBE, _mask)


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    model = fetch_model(**spec)
    check_model(model)
    write_model_record(outputs.model, model)
