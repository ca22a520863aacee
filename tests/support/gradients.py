"""Gradients by kind of token computed densely: every map in float64, as a variable of its own, one input at a time."""

from collections.abc import Sequence

import numpy as np
import torch

from tests.support.models import in_float64

KINDS = ("sep", "cls", "punctuation", "other", "all")


def surfaces(tokenizer, ids: Sequence[int]) -> np.ndarray:
    """The kind of each token, by how it is written: [token] str."""
    cls, sep = tokenizer.cls_token or tokenizer.bos_token, tokenizer.sep_token or tokenizer.eos_token
    kinds = []
    for token in tokenizer.convert_ids_to_tokens([int(token_id) for token_id in ids]):
        plain = token.removeprefix("##").removeprefix("Ġ")
        kinds.append({cls: "cls", sep: "sep", ",": "punctuation", ".": "punctuation"}.get(plain, "other"))
    return np.array(kinds)


def dense_gradients(model, ids: Sequence[int], types: Sequence[int] | None, loss) -> np.ndarray:
    """|dLoss / dA| of one input without padding: [layer, head, query, key] float64.

    loss: from the output of the plain model to its loss on the input.
    """
    plain = in_float64(model).requires_grad_(True)
    plain.set_attn_implementation("eager")
    inputs = {"input_ids": torch.tensor([[int(token) for token in ids]])}
    inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
    if types is not None:
        inputs["token_type_ids"] = torch.tensor([[int(type_) for type_ in types]])
    output = plain(**inputs, output_attentions=True)
    return torch.cat(torch.autograd.grad(loss(output), output.attentions)).abs().numpy()


def means_by_kind(gradients: np.ndarray, kinds: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """The mean over all rows and all keys of a kind, of one input: [layer, head, kind]; NaN where it has none.

    kinds: as of `surfaces`; counted: [token] bool, whether a token counts as one that is attended to.
    """
    means = np.full((*gradients.shape[:2], len(KINDS)), np.nan)
    for column, kind in enumerate(KINDS):
        keys = counted & ((kinds == kind) | (kind == "all"))
        if keys.any():
            means[..., column] = gradients[..., keys].mean((-2, -1))
    return means


def mean_where_there_are(means: Sequence[np.ndarray]) -> np.ndarray:
    """The mean over samples, of those that have the kind."""
    means = np.array(means)
    there = ~np.isnan(means)
    with np.errstate(invalid="ignore"):
        return np.where(there, means, 0).sum(0) / there.sum(0)
