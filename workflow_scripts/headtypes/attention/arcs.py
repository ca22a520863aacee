"""A head without some of its attention: arcs, from one token to another, whose weight is taken away."""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from headtypes.attention.hook import Layer
from headtypes.models.products import product


class Arcs(NamedTuple):
    """Who looks at whom: of each arc the input it is in, and the tokens that look and are looked at."""

    sample: Int[np.ndarray, " arc"]
    query: Int[np.ndarray, " arc"]
    key: Int[np.ndarray, " arc"]


class WithoutArcs:
    """The hook of a batch: one head attends as ever, but for some arcs, where A[s, t] = 0.

    number, head: of the layer and of the head in it, from 0; queries: heads of queries that count as one head.
    arcs:         those of the batch, their samples counted in it.
    renormalise:  whether each row is divided by what is left of it, as if the arcs were masked before the softmax; a
        row that loses everything stays zero.
    """

    def __init__(self, number: int, head: int, arcs: Arcs, *, renormalise: bool, queries: int = 1):
        self._number, self._arcs, self._renormalise = number, arcs, renormalise
        self._heads = slice(head * queries, (head + 1) * queries)

    def __call__(self, number: int, layer: Layer) -> Float[Tensor, "sample head query channel"]:
        """The head outputs of a layer; rows without arcs are those of the plain model."""
        outputs = layer.head_outputs()
        if number == self._number and len(self._arcs.sample):
            sample, query, key = (torch.as_tensor(index, device=outputs.device) for index in self._arcs)
            of_head = layer.heads(self._heads)
            rows = slice(None)
            attention = of_head.attention(rows)
            attention[sample, :, query, key] = 0
            if self._renormalise:
                attention = of_head.renormalised(attention, rows)
            outputs[sample, self._heads, query] = product(attention, of_head.value)[sample, :, query]
        return outputs
