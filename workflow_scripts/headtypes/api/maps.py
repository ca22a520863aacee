"""Attention maps of a loaded model, and the heads of maps that another program has read; none of these is imported.

Transformers (`output.attentions`), bertviz and nnsight have a tensor [text, head, query, key] for each layer,
TransformerLens a cache by the names of its hooks. Layers and heads are counted from 0 in all of them.
"""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from headtypes.analyses.distances.measure import TOLERANCE, reducers_of, shares_of
from headtypes.analyses.distances.results import Features
from headtypes.analyses.maps.measure import KeyLengthsRead, Maps, readable
from headtypes.api.arguments import Positive, ReadModel, Tokenizer, checked, longest_of
from headtypes.api.reading import samples_of
from headtypes.attention.batches import Batch
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


@checked
def read_maps(
    model: ReadModel,
    tokenizer: Tokenizer,
    text: str,
    second: str | None = None,
    *,
    max_length: Positive | None = None,
    norms: bool = False,
) -> tuple[tuple[Tensor, ...], list[str]]:
    """Read the attention of every head of a loaded model on a text, or on two that are read together.

    model:  in evaluation mode, on any device, with any attention implementation; afterwards it is as before.
    max_length: most tokens; by default what model and tokenizer take.
    norms:  whether rows are shares of the norms of what tokens hand over (Kobayashi et al. 2020).
    returns for each layer a tensor [1, head, query, key] float32 on the CPU, and the tokens, as for bertviz's
        `head_view`.
    Raises `InputError` where there is no text, or the model's heads cannot be read.
    """
    samples = samples_of([text if second is None else (text, second)])
    longest = longest_of(model, tokenizer, max_length)
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


@checked
def heads_of_maps(maps: Any, input_ids: Any, tokenizer: Tokenizer, attention_mask: Any = None) -> Features:
    """The distance features of heads whose attention another program has read (Guan et al. 2020, section 3).

    maps:  of each text, for each layer a tensor or array [1, head, query, key], or [head, query, key]; or
        TransformerLens's cache, or any mapping with the names of its hooks. Rows sum to one, within the maps' own
        precision.
    input_ids, attention_mask: the tokens of each text as they were read, and which are no padding (1), where there is
        some.
    tokenizer: of the model, which says which of them are special.
    returns what `reading.read_heads` does, for `reading.head_types`; a text's id is its number, from 0.
    Raises `InputError` where maps and tokens do not fit together, are padded without a mask, or maps are no attention.
    """
    _check_form(maps, input_ids)
    if len(maps) != len(input_ids) or not len(input_ids):
        raise InputError(f"There are maps of {len(maps)} texts and tokens of {len(input_ids)}; give both of each text.")
    if attention_mask is not None and len(attention_mask) != len(input_ids):
        raise InputError(f"The attention mask is of {len(attention_mask)} texts, and there are {len(input_ids)}.")
    ids, read = [], []
    for number, of_text in enumerate(maps):
        tokens = np.asarray(input_ids[number], np.int64)
        mask = None if attention_mask is None else np.asarray(attention_mask[number])
        real = _real_tokens(tokens, mask, tokenizer, number)
        attention = _stacked(of_text, len(tokens), number)[:, :, real][..., real]
        _check_rows(attention, number)
        ids.append(tokens[real].tolist())
        read.append(attention)
    kind_of = token_kinds(tokenizer)
    encoded = Encoded(ids, None, [kind_of[text] for text in ids], np.zeros(len(ids), bool))
    layers, heads = read[0].shape[:2]
    if any(attention.shape[:2] != (layers, heads) for attention in read):
        raise InputError("The texts have maps of different numbers of layers or heads; give those of one model.")
    reducers = reducers_of(encoded, norms=False)
    for reducer in reducers:
        reducer.begin(Pass(len(ids), layers, heads, read[0].dtype))
        for number, attention in enumerate(read):
            length = attention.shape[-1]
            group, rows = Group(slice(0, 1), length), slice(0, length)
            reducer.start(Batch(np.array([number]), [length], {"input_ids": torch.tensor([ids[number]])}))
            for layer, of_layer in enumerate(attention.float()):
                reducer.add(Block(layer, group, slice(0, heads), rows, of_layer[None], of_layer[None], None))
            reducer.finish()
    return Features(
        length=np.array(encoded.lengths, np.int32),
        truncated=encoded.truncated,
        sample_ids=[str(number) for number in range(len(ids))],
        **shares_of([reducer.result() for reducer in reducers]),
    )


def _check_form(maps: Any, input_ids: Any) -> None:
    """Raise `InputError` where maps and tokens are not those of each text, but what a model gives and takes."""
    if maps is None or (isinstance(maps, list | tuple) and any(of_text is None for of_text in maps)):
        raise InputError(
            "The model gave no attention, as with its fast implementations; load it with attn_implementation='eager' "
            "and call it with output_attentions=True."
        )
    if isinstance(maps, tuple) and all(getattr(layer, "ndim", 0) == 4 for layer in maps):
        raise InputError(
            "The maps are those of layers, as a model gives them; give those of each text, "
            "[[layer[[text]] for layer in attentions] for text in range(len(input_ids))]."
        )
    if len(input_ids) and np.ndim(input_ids[0]) == 0:
        raise InputError("The tokens are those of one text; give a list of texts, [input_ids], and [maps] of them.")


def _real_tokens(tokens: np.ndarray, mask: np.ndarray | None, tokenizer: Tokenizer, number: int) -> np.ndarray:
    """The positions of the tokens that are no padding. Raises `InputError` where that cannot be told."""
    if mask is not None:
        if mask.shape != tokens.shape or not mask.any():
            raise InputError(f"The attention mask of text {number} (from 0) is not one of its {len(tokens)} tokens.")
        return np.flatnonzero(mask)
    pad = tokenizer.pad_token_id
    # Some models pad with a token that begins or ends a text; one of it is no padding.
    ends = {tokenizer.cls_token_id, tokenizer.bos_token_id, tokenizer.sep_token_id, tokenizer.eos_token_id}
    most = 1 if pad in ends else 0
    if pad is not None and any((end[: most + 1] == pad).all() for end in (tokens, tokens[::-1]) if len(tokens) > most):
        raise InputError(f"Text {number} (from 0) begins or ends with padding; give the texts' attention_mask, too.")
    return np.arange(len(tokens))


def _check_rows(attention: Tensor, number: int) -> None:
    """Raise `InputError` that names the first head with a row that is no attention."""
    tolerance = TOLERANCE[attention.dtype]
    rows = attention.float()
    right = ((rows.sum(-1) - 1).abs() <= tolerance).all(-1) & (rows >= -tolerance).flatten(2).all(-1)
    if not right.all():
        layer, head = (~right).nonzero()[0].tolist()
        raise InputError(
            f"The map of head {layer + 1}-{head + 1} on text {number} (from 0) is no attention: each row, of what one "
            "token looks at, sums to one, and no weight is negative. Are its rows and columns the other way round?"
        )


def _stacked(maps: Any, length: int, number: int) -> Tensor:
    """The maps of a text as [layer, head, query, key], in their own precision."""
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
    if layers and isinstance(layers[0], list | tuple):
        raise InputError(
            "The maps are nested as `attentions` of `generate` are, with one part for each new token; call the model "
            "once on the whole text, with output_attentions=True."
        )
    # What is on a GPU, or requires gradients, is read as well.
    tensors = [torch.as_tensor(layer).detach().cpu() for layer in layers]
    tensors = [layer[0] if layer.ndim == 4 and len(layer) == 1 else layer for layer in tensors]
    shapes = {tuple(layer.shape) for layer in tensors}
    if len(shapes) != 1 or (shape := next(iter(shapes)))[1:] != (length, length) or len(shape) != 3:
        found = ", ".join(map(str, sorted(shapes))) or "none"
        raise InputError(
            f"Text {number} (from 0) has {length} tokens, and needs maps [head, {length}, {length}] of each layer; "
            f"found {found}. Steps of `generate` have rows of new tokens alone; call the model on the whole text."
        )
    stacked = torch.stack(tensors)
    return stacked if stacked.dtype in TOLERANCE else stacked.float()
