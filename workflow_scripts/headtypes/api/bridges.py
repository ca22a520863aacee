"""Attention maps to and from other programs, in the shapes that these use; none of them is imported.

Transformers (`output.attentions`), bertviz (`head_view`, `model_view`) and what nnsight saves of a model's attention
have a tensor [text, head, query, key] for each layer. TransformerLens keeps the same in a cache, by the names of its
hooks (`blocks.0.attn.hook_pattern`). Layers and heads are counted from 0 in all of them, as in `Partition.heads_of`.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from headtypes.analyses.distances.measure import reducers_of, shares_of
from headtypes.analyses.distances.results import Features
from headtypes.analyses.maps.measure import KeyLengthsRead, Maps, readable
from headtypes.api.reading import check_evaluating, longest_of, samples_of
from headtypes.attention.batches import Batch, check_heads
from headtypes.attention.blocks import Group
from headtypes.attention.norms import scale_rows
from headtypes.attention.one_pass import read_attention
from headtypes.attention.reducers import Block, Pass
from headtypes.core.errors import InputError
from headtypes.data.encoding import Encoded, encode_samples
from headtypes.data.kinds.sentence_pair import SentencePair
from headtypes.data.tokens import token_kinds
from headtypes.models.model_config import body_of

_PATTERN = re.compile(r"(?:.*\.)?(\d+)\.attn\.hook_pattern")
_WHAT = "The attention that was given"


def read_maps(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerFast,
    text: str,
    second: str | None = None,
    *,
    max_length: int | None = None,
    norms: bool = False,
) -> tuple[tuple[Tensor, ...], list[str]]:
    """Read the attention of every head of a loaded model on a text, or on two that are read together.

    model:  in evaluation mode, on any device, with any attention implementation; afterwards it is as before.
    max_length: most tokens; by default what model and tokenizer take.
    norms:  whether rows are shares of the norms of what tokens hand over (Kobayashi et al. 2020), not of attention.
    returns for each layer a tensor [1, head, query, key] float32 on the CPU, and the tokens as a person reads them:
        what bertviz's `head_view` takes.
    Raises `InputError` where there is no text, or the model's heads cannot be read.
    """
    check_evaluating(model)
    samples, longest = (
        samples_of([text if second is None else (text, second)]),
        longest_of(model, tokenizer, max_length),
    )
    encoded = encode_samples(samples, tokenizer, SentencePair.name, longest)
    what = type(model).__name__
    reducers = [Maps(), KeyLengthsRead()] if norms else [Maps()]
    # Called text by text, where a line of progress each would bury what the caller prints.
    silent = tqdm(disable=True)
    (maps,), *lengths = read_attention(body_of(model), encoded, reducers, batch_tokens=1, what=what, bar=silent)
    for (of_keys,) in lengths:
        maps = (scale_rows(torch.from_numpy(maps), torch.from_numpy(of_keys)) * of_keys[:, :, None]).numpy()
    layers = tuple(torch.from_numpy(layer)[None] for layer in maps)
    return layers, [readable(tokenizer, token) for token in encoded.input_ids[0]]


def heads_of_maps(
    maps: Sequence[Any], input_ids: Sequence[Sequence[int]], tokenizer: PreTrainedTokenizerFast
) -> Features:
    """The distance features of heads whose attention another program has read (Guan et al. 2020, section 3).

    maps:  of each text, its attention: a tensor or array [1, head, query, key], or [head, query, key], for each layer;
        or TransformerLens's cache of a run on it, or any mapping with the names of its hooks. Rows sum to one.
    input_ids: the tokens of each text as they were read, special ones included, without padding.
    tokenizer: of the model, which says which of them are special.
    returns what `reading.read_heads` does, for `reading.head_types`; a text's id is its number, from 0.
    Raises `InputError` where maps and tokens do not fit together, or rows do not sum to one.
    """
    if len(maps) != len(input_ids) or not len(input_ids):
        raise InputError(f"There are maps of {len(maps)} texts and tokens of {len(input_ids)}; give both of each text.")
    kind_of = token_kinds(tokenizer)
    ids = [[int(token) for token in text] for text in input_ids]
    encoded = Encoded(ids, None, [kind_of[text] for text in ids], np.zeros(len(ids), bool))
    read = [_stacked(of_text, len(text), number) for number, (of_text, text) in enumerate(zip(maps, ids, strict=True))]
    layers, heads = read[0].shape[:2]
    if any(attention.shape[:2] != (layers, heads) for attention in read):
        raise InputError("The texts have maps of different numbers of layers or heads; give those of one model.")
    reducers = reducers_of(encoded, norms=False)
    for reducer in reducers:
        reducer.begin(Pass(_WHAT, np.arange(len(ids)), layers, heads, heads, torch.float32))
        for number, attention in enumerate(read):
            length = attention.shape[-1]
            group, rows = Group(slice(0, 1), length), slice(0, length)
            reducer.start(Batch(np.array([number]), [length], {"input_ids": torch.tensor([ids[number]])}))
            for layer, of_layer in enumerate(attention):
                reducer.add(Block(layer, group, slice(0, heads), rows, of_layer[None], of_layer[None], None))
            what = f"{_WHAT} of text {number} (from 0)"
            check_heads(reducer.right(), what, reducer.fault, "rows of each map have to sum to one")
            reducer.finish()
    return Features(
        length=np.array(encoded.lengths, np.int32),
        truncated=encoded.truncated,
        sample_ids=[str(number) for number in range(len(ids))],
        **shares_of([reducer.result() for reducer in reducers]),
    )


def _stacked(maps: Any, length: int, number: int) -> Tensor:
    """The maps of a text as [layer, head, query, key] float32."""
    if isinstance(maps, Mapping) or hasattr(maps, "keys"):
        named = {int(found[1]): maps[name] for name in list(maps.keys()) if (found := _PATTERN.fullmatch(str(name)))}
        layers = [named[layer] for layer in sorted(named)]
        if not named or sorted(named) != list(range(len(named))):
            raise InputError(
                f"Text {number} (from 0) lacks the pattern of some layer; its maps have to be named "
                "blocks.0.attn.hook_pattern and so on, for all layers, as TransformerLens's cache names them."
            )
    else:
        layers = list(maps)
    # What is on a GPU, or requires gradients, is read as well.
    tensors = [torch.as_tensor(layer).detach().float().cpu() for layer in layers]
    tensors = [layer[0] if layer.ndim == 4 and len(layer) == 1 else layer for layer in tensors]
    shapes = {tuple(layer.shape) for layer in tensors}
    if len(shapes) != 1 or (shape := next(iter(shapes)))[1:] != (length, length) or len(shape) != 3:
        found = ", ".join(map(str, sorted(shapes))) or "none"
        raise InputError(
            f"Text {number} (from 0) has {length} tokens, and needs maps [head, {length}, {length}] of each layer; "
            f"found {found}."
        )
    return torch.stack(tensors)
