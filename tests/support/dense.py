"""Ablated models computed densely, sample by sample, in float64, from the definition of each operation."""

from functools import cache
from itertools import count

import numpy as np
import torch
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import eager_mask

from headtypes.attention.operations import OPERATIONS, Reading, operation_of
from headtypes.core.files import derive_seed
from headtypes.models.architectures import through_interface
from headtypes.models.model_config import headed_layers
from tests.support.models import in_float64

# Every operation as it may be written.
WRITTEN = ["temperature 0.3" if name == "temperature" else name for name in OPERATIONS]
CHANGES = [operation for operation in WRITTEN if operation_of(operation).change]


def head_outputs_for(model):
    """Any head outputs: [layer, head, channel]."""
    config = model.config
    heads = config.num_attention_heads
    shape = len(headed_layers(config)), heads, config.hidden_size // heads
    return np.random.default_rng(9).normal(size=shape).astype(np.float32)


def mixed(model, names: list[str], seed: int = 0) -> np.ndarray:
    """An operation for each head, [layer, head], in random order: as many of each as of others, or one more."""
    shape, rng = (len(headed_layers(model.config)), model.config.num_attention_heads), np.random.default_rng(seed)
    operations = np.resize(rng.permutation(np.array(names, dtype=object)), shape)
    return rng.permutation(operations.ravel()).reshape(shape)


@cache
def dropped_pairs(operation: str, sentence: tuple[int, ...], reading: Reading):
    """The pairs whose attention an operation takes away, one by one: [query, key] bool."""
    length = len(sentence)
    sentence = [min(number, 1) if reading.sentences == "segments" else number for number in sentence]
    found = torch.zeros(length, length, dtype=torch.bool)
    for s in range(length):
        for t in range(length):
            intra = sentence[s] == sentence[t]
            if sentence[s] < 0 or sentence[t] < 0:
                intra = None if reading.special_tokens == "neither" else s == t
            cut = intra is False and reading.special_tokens == "cut" and min(sentence[s], sentence[t]) < 0
            dropped = {"zero": True, "drop_intra": intra is True or cut, "drop_inter": intra is False}
            found[s, t] = dropped.get(operation, False)
    return found


def defined_attention(
    scores, operation: str, sentence: tuple[int, ...], reading: Reading, real: int, *, masked: bool, sink=-torch.inf
):
    """One head's attention [query, key] after an operation, from its scores, minus infinity where none is allowed.

    real:   how many tokens are no padding, which comes after them.
    masked: dropped pairs have a score of minus infinity before the softmax, instead of no attention after it.
    sink:   the score of no token.
    """
    dropped = dropped_pairs(operation, sentence, reading)
    # No token is one more key, at the end.
    scores = torch.cat([scores, torch.full_like(scores[:, :1], sink)], 1)
    if masked and operation.startswith("drop"):
        scores[:, :-1][dropped] = -torch.inf
        return scores.softmax(-1)[:, :-1]
    name, _, number = operation.partition(" ")
    attention = (scores / float(number) if name == "temperature" else scores).softmax(-1)
    to_none, attention, scores = attention[:, -1], attention[:, :-1], scores[:, :-1]
    if operation == "uniform":
        allowed = torch.ones_like(scores) if reading.uniform_over_padding else (scores > -torch.inf).to(scores)
        return allowed / allowed.sum(-1, keepdim=True)
    attention[dropped] = 0
    if reading.renormalise:
        for row, kept in zip(attention, to_none, strict=True):
            if row.sum() > 0:
                row /= row.sum() + kept
    return attention


def resampled(outputs, scores, operation: str, sentence: tuple[int, ...], layer: int, head: int, heads: int):
    """One head's outputs [query, channel], that of each token replaced by that of another one, chosen one by one.

    scores: minus infinity where none is allowed; sentence: of the tokens that are no padding, which comes after them.
    """
    seed = int(operation.removeprefix("resample") or 0)
    numbers = np.random.default_rng(derive_seed(seed, layer, *sentence)).integers(2**62, size=(len(sentence), heads))
    found = outputs.clone()
    for s, kind in enumerate(sentence):
        others = [
            t for t in range(len(sentence)) if t != s and (sentence[t] < 0) == (kind < 0) and scores[s, t] > -torch.inf
        ]
        if others:
            found[s] = outputs[others[int(numbers[s, head]) % len(others)]]
    return found


def dense_output(
    model, ids, types, operations, sentence, reading, *, head_outputs=None, max_seq_length=None, masked=False
):
    """What a model computes of one sample, its heads under operations [layer, head], with every attention in full.

    ids, types, sentence: [token], types None for a model without; reading: where padding counts, the sample is padded
    to `window` tokens, and so are start and end logits; masked: as in `defined_attention`.
    """
    real = len(ids)
    padding = max_seq_length - real if reading.uniform_over_padding else 0
    inputs = {"input_ids": torch.tensor([[*map(int, ids), *[model.config.pad_token_id] * padding]])}
    if types is not None:
        inputs["token_type_ids"] = torch.tensor([[*map(int, types), *[0] * padding]])
    sentence = (*map(int, sentence), *[-1] * padding)

    layers = count()

    def attend(module, query, key, value, attention_mask=None, scaling=None, dropout=0.0, softcap=None, **kwargs):
        layer, bias, sinks = next(layers), kwargs.get("position_bias"), kwargs.get("s_aux")
        outputs = torch.empty_like(query)
        for head, operation in enumerate(operations[layer]):
            # Heads in a row share the keys of one head where there are fewer of keys.
            shared = head * key.shape[1] // query.shape[1]
            scores = query[0, head] @ key[0, shared].T * (scaling or query.shape[-1] ** -0.5)
            if softcap is not None:
                scores = torch.tanh(scores / softcap) * softcap
            if bias is not None:
                scores = scores + bias[0, head]
            if attention_mask is not None:
                scores[attention_mask[0, 0] < 0] = -torch.inf
            scores[:, real:] = -torch.inf
            if operation == "mean":
                outputs[0, head] = torch.from_numpy(head_outputs[layer, head]).double()
            else:
                sink = -torch.inf if sinks is None else float(sinks[head])
                attention = defined_attention(scores, operation, sentence, reading, real, masked=masked, sink=sink)
                outputs[0, head] = attention @ value[0, shared]
            if operation.startswith("resample"):
                named = outputs[0, head], scores, operation, sentence[:real], layer, head, query.shape[1]
                outputs[0, head] = resampled(*named)
        return outputs.transpose(1, 2), None

    AttentionInterface.register("dense_reference", attend)
    AttentionMaskInterface.register("dense_reference", eager_mask)
    model = model if model.dtype == torch.float64 else in_float64(model)
    with torch.inference_mode(), through_interface(model, "dense_reference"):
        return model(**inputs)
