"""The model around its attention layers, found by a run on three tokens with random head outputs.

Nothing else equals random numbers, or what is made of them, by chance.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from headtypes.attention.hook import Layer, open_attention, run
from headtypes.models.placement import device_of

_TOKENS = 3


@dataclass
class Probed:
    """One attention layer.

    outputs: the head outputs, [1, token, channels].
    before:  modules that were called since the layer before, and the first tensor that each read; after: those tensors
        from then on until the next layer.
    readers: modules without others in them that read the head outputs, and nothing else first.
    written: what the last of these made of the head outputs, [1, token, width].
    """

    outputs: Tensor
    before: list[tuple[nn.Module, Tensor]]
    readers: list[nn.Module] = field(default_factory=list)
    written: Tensor | None = None
    after: list[Tensor] = field(default_factory=list)


def probe_layers(model: PreTrainedModel) -> list[Probed]:
    """Run a model once on a few tokens and return a `Probed` for each of its attention layers."""
    layers: list[Probed] = []
    called: list[tuple[nn.Module, Tensor]] = []

    def attend(number: int, layer: Layer) -> Tensor:
        outputs = torch.randn_like(layer.zero_outputs())
        layers.append(Probed(outputs.transpose(1, 2).flatten(2), called.copy()))
        called.clear()
        return outputs

    def look(module: nn.Module, arguments: tuple, named: Mapping) -> None:
        tensors = (argument for argument in (*arguments, *named.values()) if isinstance(argument, Tensor))
        read = next(tensors, None)
        if read is None or not read.is_floating_point():
            return
        # A copy, since what is read may be changed in place.
        called.append((module, read.clone()))
        if not layers:
            return
        layers[-1].after.append(called[-1][1])
        outputs, is_leaf = layers[-1].outputs, not list(module.children())
        if is_leaf and read.numel() == outputs.numel() and torch.equal(read.reshape(-1), outputs.reshape(-1)):
            layers[-1].readers.append(module)

    def note(module: nn.Module, arguments: tuple, output: object) -> None:
        if layers and layers[-1].readers and module is layers[-1].readers[-1] and isinstance(output, Tensor):
            layers[-1].written = output.reshape(1, _TOKENS, -1).clone()

    ids = torch.zeros((1, _TOKENS), dtype=torch.int64, device=device_of(model))
    hooks = [module.register_forward_pre_hook(look, with_kwargs=True) for module in model.modules()]
    hooks += [module.register_forward_hook(note) for module in model.modules()]
    try:
        with open_attention(model), torch.inference_mode(), torch.random.fork_rng():
            run(model, {"input_ids": ids, "attention_mask": torch.ones_like(ids)}, attend)
    finally:
        for hook in hooks:
            hook.remove()
    return layers
