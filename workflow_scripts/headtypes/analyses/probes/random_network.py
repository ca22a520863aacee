"""A network that knows no language: a model's embeddings below random weights (Clark et al. 2019, section 5)."""

import copy

import torch
from transformers import PreTrainedModel

# Standard deviation of the weights of BERT before training.
_DEVIATION = 0.02
# The modules that hold the embeddings of words, positions and token types, and their norm, in Transformers' models.
_EMBEDDINGS = {"embeddings", "embed_tokens", "embed_positions", "embed_in", "wte", "wpe", "word_embeddings"}


def random_network(model: PreTrainedModel, seed: int) -> PreTrainedModel:
    """A copy of a model that keeps its embeddings: other weights are drawn anew, biases are 0, and norms scale by 1.

    model: in one place (`models.placement`), as the configuration is checked for.
    """
    drawn = copy.deepcopy(model)
    generator = torch.Generator().manual_seed(seed)
    kept = {id(parameter) for parameter in drawn.get_input_embeddings().parameters()}
    with torch.no_grad():
        for name, parameter in drawn.named_parameters():
            *modules, last = name.split(".")
            if id(parameter) in kept or _EMBEDDINGS.intersection(modules):
                continue
            if "bias" in last:
                parameter.zero_()
            elif parameter.ndim == 1:
                parameter.fill_(1)
            else:
                parameter.copy_(torch.randn(parameter.shape, generator=generator) * _DEVIATION)
        for name, module in drawn.named_modules():
            own = list(module.parameters(recurse=False))
            if own and all(each.ndim == 1 for each in own) and not _EMBEDDINGS.intersection(name.split(".")):
                # A norm may scale by its weight plus 1, as Gemma's do; the architecture knows which weight that takes.
                drawn._init_weights(module)
    return drawn
