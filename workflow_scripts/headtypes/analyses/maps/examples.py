"""Maps of the heads that show a pattern best, for Clark's Figure 1 alone; nothing is measured on them."""

import numpy as np

from headtypes.analyses.maps.measure import Maps, readable
from headtypes.analyses.maps.results import PATTERNS, Examples
from headtypes.analyses.surface.results import Surface
from headtypes.attention.one_pass import ModelOnTask
from headtypes.attention.reducers import Block
from headtypes.data.encoding import SPECIAL_KINDS, Encoded
from headtypes.data.tasks import Sample

# As many tokens as the paper shows.
TOKENS = 15
_SEP = 1 + SPECIAL_KINDS.index("sep")


class LastTokens(Maps):
    """A reducer that keeps the attention among the last tokens of one sample: [layer, head, query, key] float32."""

    def __init__(self, tokens: int):
        self._tokens = tokens

    def add(self, block: Block) -> None:
        first = max(0, block.group.length - self._tokens)
        self.keep(block, block.attention[0, :, max(0, first - block.rows.start) :, first:])


def map_examples(
    run: ModelOnTask, samples: list[Sample], surface: Surface, *, kind: str, tokens: int = TOKENS
) -> Examples:
    """Run a model over one segment, and keep for each pattern the attention of the head that shows it best.

    surface: the model's surface patterns on these samples; kind: as in `encoding.encode_samples`; tokens: how many of
        the segment's last ones are kept.
    """
    chosen = choose_segment(run.encode(samples, kind), tokens)
    encoded = run.encode([samples[chosen]], kind)
    ((attention,),) = run.read(encoded, LastTokens(tokens), batch_tokens=1)
    (ids,) = encoded.input_ids
    labels = [readable(run.tokenizer, token) for token in ids[-tokens:]]
    values = {pattern: surface.mean(column) for pattern, column in PATTERNS.items()}
    values = {pattern: of_heads for pattern, of_heads in values.items() if not np.isnan(of_heads).any()}
    heads = np.array([np.unravel_index(of_heads.argmax(), of_heads.shape) for of_heads in values.values()])
    shown = attention[tuple(heads.T)]
    sums = shown.sum(axis=-1, keepdims=True)
    shown = np.divide(shown, sums, out=np.zeros_like(shown), where=sums > 0)
    largest = np.array([of_heads.max() for of_heads in values.values()])
    return Examples(list(values), heads, largest, shown, labels, len(ids) <= tokens, samples[chosen].id)


def choose_segment(encoded: Encoded, tokens: int) -> int:
    """Return the index of the first segment that has a [SEP] among its last tokens but one; else 0."""
    has_one = (index for index, kinds in enumerate(encoded.kinds) if (kinds[-tokens:-1] == _SEP).any())
    return next(has_one, 0)
