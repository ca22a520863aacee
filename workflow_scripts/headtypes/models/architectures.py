"""Supported architectures: whether heads can be read and ablated, decided before any weight is read."""

from typing import Any

import torch
from torch import Tensor
from transformers import AttentionInterface, AttentionMaskInterface, AutoModel

from headtypes.core.errors import InputError
from headtypes.models.fetching import fetch_model
from headtypes.models.interface import through_interface
from headtypes.models.model_config import body_of, config_of, headed_layers, is_causal
from headtypes.models.records import ModelRecord, write_model_record

# Arguments of an attention function that change nothing: a sliding window is in the mask already, positions are in the
# queries and keys, and token types are passed on even where a model has none.
_HARMLESS = {"sliding_window", "position_ids", "cache_position", "token_type_ids"}
# Those that change the scores, as `hook.Layer` does: its cap, sink and bias.
_COMPUTED = {"softcap", "s_aux", "position_bias"}
_NOT_SUPPORTED = "this architecture is not supported."
_PROBE = "headtypes_probe"


def check_layer(module: torch.nn.Module, mask: Tensor | None, arguments: dict[str, Any]) -> None:
    """Raise `InputError` where a layer's attention is more than `hook.Layer` computes.

    mask, arguments: what the layer passes to its attention function. An argument that is not known to be harmless is an
        error, since ignoring it would silently compute another attention than the model's.
    """
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
    """Raise `InputError` unless a forward pass had exactly one attention, of so many, per layer that has heads."""
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
    """Raise `InputError` unless a layer has as many heads as the config of its model says."""
    said = model.config.num_attention_heads
    if heads != said:
        raise InputError(
            f"{type(model).__name__} has layers with different numbers of heads, as pruning leaves them ({heads} where "
            f"its config says {said}); {_NOT_SUPPORTED}"
        )


def check_model(record: ModelRecord) -> None:
    """Raise `InputError` where the heads of a fetched model cannot be read and ablated.

    The model runs on three tokens with tensors that have shapes but no values. A few architectures need values; for
    them the first real forward pass decides (`hook.run`).
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
