"""A model's attention through Transformers' attention interface, also where its family computes it itself.

In such a family, the one function that computes attention is replaced while heads are read, by one that hands the same
queries, keys, values and biases to the interface; each is tested against the model's own attention maps and outputs.
"""

import threading
from contextlib import ExitStack
from functools import partial
from typing import Any

from torch import Tensor, nn
from transformers import AttentionInterface, PreTrainedModel

from headtypes.core.errors import InputError
from headtypes.models.placement import replace_for


class _Given(threading.local):
    """The `forward` that the current forward pass of a model was given, in each thread."""

    forward: Any = None

    def __deepcopy__(self, memory: dict) -> "_Given":
        return self

    def begin(self, model: nn.Module, args: tuple, kwargs: dict[str, Any]) -> None:
        self.forward = kwargs.get("forward")

    def end(self, model: nn.Module, args: tuple, output: Any) -> None:
        self.forward = None


class _Attend:
    """The attention function of a module."""

    def __init__(self, module: nn.Module, implementation: str, given: _Given):
        self._module, self._implementation, self.given = module, implementation, given

    def __call__(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, **arguments) -> Tensor:
        attend = AttentionInterface()[self._implementation]
        return attend(self._module, query, key, value, mask, forward=self.given.forward, **arguments)[0]


def _mpnet(module: nn.Module, attend: _Attend, hidden_states, attention_mask=None, position_bias=None, **kwargs):
    shape = (*hidden_states.shape[:-1], -1, module.attention_head_size)
    query, key, value = (linear(hidden_states).view(shape).transpose(1, 2) for linear in (module.q, module.k, module.v))
    return (module.o(attend(query, key, value, attention_mask, position_bias=position_bias).flatten(2)),)


def _bloom(
    module: nn.Module, attend: _Attend, hidden_states, residual, alibi, attention_mask, layer_past=None, **kwargs
):
    """Compute `BloomAttention.forward`, whose scores have a bias that grows with the key's position (ALiBi)."""
    query, key, value = module._reshape(module.query_key_value(hidden_states))
    if layer_past is not None:
        key, value = layer_past.update(key, value, module.layer_idx)
    bias = alibi.view(len(query), module.num_heads, 1, -1)
    outputs = attend(query, key, value, attention_mask, scaling=module.inv_norm_factor, position_bias=bias)
    return module.dense(outputs.flatten(2)) + residual, None


def _falcon(
    module: nn.Module,
    attend: _Attend,
    hidden_states,
    alibi,
    attention_mask,
    layer_past=None,
    position_embeddings=None,
    **kwargs,
):
    """Compute `FalconAttention.forward`, where positions are in the queries and keys."""
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
    return module.dense(attend(query, key, value, attention_mask).flatten(2)), None


def _gptj(module: nn.Module, attend: _Attend, query, key, value, attention_mask=None):
    return attend(query, key, value, attention_mask, scaling=1 / module.scale_attn).transpose(1, 2), None


def _stablelm(module: nn.Module, attend: _Attend, *args, **kwargs):
    """Compute `StableLmAttention.forward`, which uses the interface, but to which its model does not hand `forward`
    on.
    """
    return type(module).forward(module, *args, **kwargs, forward=attend.given.forward)


# By the class that computes attention: the method that does, and what replaces it.
_OWN = {
    "MPNetSelfAttention": ("forward", _mpnet),
    "BloomAttention": ("forward", _bloom),
    "FalconAttention": ("forward", _falcon),
    "GPTJAttention": ("_attn", _gptj),
    "StableLmAttention": ("forward", _stablelm),
}


def computes_attention_itself(model: nn.Module) -> bool:
    """Tell whether a model is of a family in which a function is replaced."""
    return any(type(module).__name__ in _OWN for module in model.modules())


def through_interface(model: PreTrainedModel, implementation: str) -> ExitStack:
    """Let a model compute its attention through a function of the interface, until what is returned is closed.

    implementation: the function's name. What the model is called with as `forward` reaches it as a keyword argument.
    """
    before, given = model.config._attn_implementation, _Given()
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
        restored.callback(model.register_forward_pre_hook(given.begin, with_kwargs=True).remove)
        restored.callback(model.register_forward_hook(given.end, always_call=True).remove)
        for module in model.modules():
            if type(module).__name__ in _OWN:
                name, replacement = _OWN[type(module).__name__]
                own = partial(replacement, module, _Attend(module, implementation, given))
                replace_for(restored, module, name, own)
        return restored.pop_all()
