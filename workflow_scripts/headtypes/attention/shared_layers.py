"""Forward passes over one batch that have their first layers in common, which are computed once.

In a pass that begins in a later layer, those before it return what they returned in an earlier pass. Everything else of
the model runs as ever, so that no family of models needs code of its own, and each pass gives the same numbers, to the
last bit, as it would alone.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from headtypes.attention.hook import Forward, Hook, Layer, open_attention, run, run_forward
from headtypes.models.model_config import headed_layers
from headtypes.models.placement import device_of, replace_for

Passes = Callable[[dict[str, Tensor], Iterable[Hook]], Iterator[Any]]


@contextmanager
def shared_layers(model: PreTrainedModel, sets: Sequence[np.ndarray]) -> Iterator[Passes]:
    """Let the passes over a batch share the layers in which they do the same to all heads, where the model allows it.

    sets:  what is done to each head in each of the passes, [layer, head] each; they share most where they are sorted.
    yields a function of a batch's inputs and the hook of each pass (which may be made as they are asked for) that gives
        the model's output in each pass, in their order, while the model's attention is open.

    Between passes, one tensor [sample, token, channel] is kept for each layer in which a later pass begins. Nothing is
    shared where a layer does more than to return such a tensor.
    """
    with_heads = headed_layers(model.config)
    begins = [*with_heads, model.config.num_hidden_layers]
    shared = [0, *(begins[int((one == next_).all(1).cumprod().sum())] for one, next_ in pairwise(sets))]
    current = _Current(with_heads)
    with ExitStack() as replaced:
        if any(shared):
            for number, layer in enumerate(_layers(model)):
                replace_for(replaced, layer, "forward", partial(current.through, number, layer.forward))
            if not _begins_anywhere(model, current):
                shared = [0] * len(shared)
        yield partial(_run_passes, model, shared, current)


class _Current:
    """The forward pass that is under way, which not all models hand on to their layers."""

    def __init__(self, with_heads: Iterable[int]):
        """with_heads: the layers that have heads."""
        self._pass: _Later | None = None
        self.with_heads = set(with_heads)

    def run(self, model: PreTrainedModel, inputs: dict[str, Tensor], forward: "_Later") -> Any:
        """As `run_forward`."""
        self._pass = forward
        try:
            return run_forward(model, inputs, forward)
        finally:
            self._pass = None

    def through(self, number: int, plain: Callable, *args, **kwargs) -> Any:
        """What a layer returns; plain: what computes it."""
        compute = partial(plain, *args, **kwargs)
        return compute() if self._pass is None else self._pass.returned(number, compute, number in self.with_heads)


def _run_passes(
    model: PreTrainedModel, shared: Sequence[int], current: _Current, inputs: dict[str, Tensor], hooks: Iterable[Hook]
) -> Iterator[Any]:
    """shared: in how many first layers each pass does what the pass before it does."""
    states: dict[int, Any] = {}
    for number, (first, hook) in enumerate(zip(shared, hooks, strict=True)):
        later = set(accumulate(shared[number + 1 :], min))
        states = {layer: state for layer, state in states.items() if layer in {first, *later}}
        yield current.run(model, inputs, _Later(hook, first, later, states))


class _Later(Forward):
    """A forward pass that may begin in a later layer.

    first:  its first layer.
    later:  the layers in which other passes will begin.
    states: what the layer before each of these returned; those of `later` are added.
    """

    def __init__(self, hook: Hook, first: int, later: set[int], states: dict[int, Any]):
        super().__init__(hook)
        self._first, self._later, self._states = first, later, states

    def returned(self, number: int, compute: Callable[[], Any], has_heads: bool) -> Any:
        """What a layer returns."""
        if number < self._first:
            self.layers += has_heads
            # To be handed on by the layers between.
            return self._states[self._first]
        output = compute()
        if number + 1 in self._later:
            self._states[number + 1] = output
        return output


def _layers(model: PreTrainedModel) -> Iterable[nn.Module]:
    """The modules that seem to be the layers, in their order."""
    lists = (module for module in model.modules() if isinstance(module, nn.ModuleList))
    return next((modules for modules in lists if len(modules) == model.config.num_hidden_layers), ())


def _begins_anywhere(model: PreTrainedModel, current: _Current) -> bool:
    """Whether passes that begin in any layer give, to the last bit, what a whole one gives; tried on a few tokens."""
    ids = torch.arange(1, 4, device=device_of(model))[None]
    inputs, layers = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}, range(model.config.num_hidden_layers)

    def hook(number: int, layer: Layer) -> Tensor:
        return layer.head_outputs() / (number + 1)

    with open_attention(model), torch.inference_mode():
        try:
            whole, states = run(model, inputs, hook), {}
            passes = [current.run(model, inputs, _Later(hook, first, set(layers[1:]), states)) for first in layers]
            return all(_equal(whole, output) for output in passes)
        except Exception:  # Layers that do more than to return a tensor fail in many ways without it.
            return False


def _equal(one: Any, other: Any) -> bool:
    pairs = zip(one.values(), other.values(), strict=True)
    return all(torch.equal(*pair) for pair in pairs if isinstance(pair[0], Tensor))
