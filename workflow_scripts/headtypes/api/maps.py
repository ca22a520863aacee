"""The attention of one head of a loaded model on a text, as an array and as a picture."""

from dataclasses import dataclass
from io import BytesIO

import numpy as np
from matplotlib.figure import Figure
from pydantic import NonNegativeInt

from headtypes.analyses.maps.measure import Maps, readable
from headtypes.api.arguments import Model, Tokenizer, alone, check_readable, checked, tokens_of_longest
from headtypes.api.reading import samples_of
from headtypes.attention.one_pass import read_attention
from headtypes.attention.reducers import Block
from headtypes.core.errors import InputError
from headtypes.core.heads import head_name
from headtypes.core.style import PAGE, style, styled
from headtypes.data.encoding import encode_samples
from headtypes.data.kinds.sentence_pair import SentencePair
from headtypes.models.model_config import body_of, layers_and_heads
from headtypes.papers.guan2020.figures import draw_map


@dataclass(frozen=True)
class HeadMap:
    """The attention of one head on a text; the last line of a notebook's cell shows it.

    attention: [query, key] float32, rows sum to one; tokens: as a person reads them; layer, head: from 0.
    """

    attention: np.ndarray
    tokens: list[str]
    layer: int
    head: int

    @styled
    def figure(self) -> Figure:
        """Draw the map, queries downwards, as a figure of Matplotlib."""
        side = min(PAGE, 1.2 + 0.13 * len(self.tokens))
        figure = Figure(figsize=(side, side), layout="constrained")
        axes = figure.subplots()
        draw_map(axes, self.attention, self.tokens, side - 0.8)
        axes.set(title=f"head {head_name(self.layer, self.head)}")
        return figure

    def _repr_png_(self) -> bytes:
        png = BytesIO()
        with style():
            self.figure().savefig(png, dpi=150)
        return png.getvalue()


class _OneHead(Maps):
    """Keeps the map of one head alone."""

    def __init__(self, layer: int, head: int):
        self._of = layer, head

    def add(self, block: Block) -> None:
        layer, head = self._of
        if block.layer == layer:
            self.keep(block, block.attention[0, head : head + 1])


@checked
def attention_map(
    model: Model,
    tokenizer: Tokenizer,
    text: str,
    second: str | None = None,
    *,
    layer: NonNegativeInt,
    head: NonNegativeInt,
) -> HeadMap:
    """Read the attention of one head of a loaded model on a text, or on two that are read together.

    model: in evaluation mode, on any device and with any attention implementation; afterwards it is as before.
    layer, head: from 0, as `partition.heads_of` lists them.
    Raises `InputError` where there is no such head or no text, or the model's heads cannot be read.
    """
    check_readable(model, tokenizer)
    layers, heads = layers_and_heads(model)
    if layer >= layers or head >= heads:
        raise InputError(f"There is no head {head} in layer {layer}: count {layers} layers of {heads} heads from 0.")
    samples = samples_of([text if second is None else (text, second)])
    encoded = encode_samples(samples, tokenizer, SentencePair.name, tokens_of_longest(model, tokenizer, None))
    if not all(encoded.lengths):
        raise InputError("The text is empty; write one.")
    with alone(model):
        ((maps,),) = read_attention(
            body_of(model), encoded, [_OneHead(layer, head)], batch_tokens=1, what=type(model).__name__
        )
    tokens = [readable(tokenizer, token) for token in encoded.input_ids[0]]
    return HeadMap(maps[0, 0], tokens, layer, head)
