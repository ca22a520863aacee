"""The losses of models on their inputs, one for each input, so that gradients can be those of a single input."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import PreTrainedModel

# A target that is not predicted, for `torch.nn.functional.cross_entropy`.
NO_TARGET = -100


@contextmanager
def logits_of_some(model: PreTrainedModel, places: Callable[[], tuple[Tensor, Tensor]]) -> Iterator[None]:
    """Let the last linear layer, over the vocabulary, be computed for some tokens of each batch alone.

    places: asked in every forward pass: the inputs of the batch that these tokens are in, and their places there.
    """
    decoder = model.get_output_embeddings()
    hook = decoder and decoder.register_forward_pre_hook(lambda _, arguments: (arguments[0][places()],))
    try:
        yield
    finally:
        if hook:
            hook.remove()


def answer_losses(output, mask: Tensor, targets: Tensor) -> Tensor:
    """The loss of each input of a batch whose answer is a class, or the first and last token of a span: [input].

    output:  of a model with a head for the task.
    mask:    [input, token] 1 where a token is real; padding cannot be an answer.
    targets: [input, softmax] int64, as `examples.Examples.targets` gives them. The loss is the mean of the cross
        entropies of the softmaxes.
    """
    if "logits" in output:
        logits = output.logits[:, :, None]
    else:
        logits = torch.stack([output.start_logits, output.end_logits], dim=2)
        logits = logits.masked_fill(mask[:, :, None] == 0, -torch.inf)
    return _cross_entropy(logits, targets.to(logits.device)).mean(1)


def token_losses(logits: Tensor, targets: Tensor, owners: Tensor, inputs: int) -> Tensor:
    """The loss of each input of a batch of which some tokens are predicted, the mean of their cross entropies: [input].

    logits:  [prediction, vocabulary].
    targets: [prediction] int64, the tokens to predict, or `NO_TARGET`, which does not count.
    owners:  [prediction] int64, the input that each belongs to; every input has one that counts.
    inputs:  how many there are.
    """
    losses = _cross_entropy(logits, targets)
    totals = losses.new_zeros(inputs).index_add(0, owners, losses)
    return totals / torch.bincount(owners[targets != NO_TARGET], minlength=inputs)


def token_loss_sums(logits: Tensor, targets: Tensor, owners: Tensor, inputs: int) -> Tensor:
    """As `token_losses`, but the sum of the cross entropies of each input, 0 where it has none: [input] float64."""
    losses = _cross_entropy(logits, targets).double()
    return losses.new_zeros(inputs).index_add(0, owners, losses)


def _cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    # Half precision is too coarse for the loss.
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    return cross_entropy(logits, targets, ignore_index=NO_TARGET, reduction="none")
