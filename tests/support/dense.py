"""Ablated models and norms, computed densely in float64 from their definitions."""

from functools import cache
from itertools import count

import numpy as np
import torch
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import eager_mask

from headtypes.attention.ablate import Ablation
from headtypes.attention.hook import model_inputs, run
from headtypes.attention.operations import OPERATIONS, Reading, operation_of
from headtypes.core.files import derive_seed
from headtypes.models.architectures import through_interface
from headtypes.models.model_config import headed_layers
from tests.support.models import ENCODERS, in_float64, opened
from tests.support.records import types_in

PAPER = Reading()
# Tokens of a window that is padded in full; as many as those of `records.windows_of` have at most.
WINDOW = 64
# Every operation as it may be written.
WRITTEN = ["temperature 0.3" if name == "temperature" else name for name in OPERATIONS]
CHANGES = [operation for operation in WRITTEN if operation_of(operation).change]


def result(output) -> torch.Tensor:
    """What a model computes of its inputs: [sample, token, channel]; start and end are two channels."""
    if "start_logits" in output:
        return torch.stack([output.start_logits, output.end_logits], dim=-1)
    return output.last_hidden_state


def ablated(model, windows, operations, reading=PAPER) -> list[torch.Tensor]:
    """The result of each window, [token, channel], all run as one padded batch."""
    rows = [windows.tokens(window) for window in range(len(windows))]
    types = None if windows.token_type_ids is None else [windows.token_type_ids[each] for each in rows]
    pad, length = model.config.pad_token_id or 0, WINDOW if reading.uniform_over_padding else None
    inputs = model_inputs([windows.input_ids[each] for each in rows], types, pad, torch.device("cpu"), length)
    ablation = Ablation(operations, [windows.sentence[each] for each in rows], reading, head_outputs_for(model))
    with torch.inference_mode():
        found = result(run(opened(model), inputs, ablation))
    return [one[: each.stop - each.start] for one, each in zip(found, rows, strict=True)]


def defined(model, windows, window: int, operations, reading=PAPER, **more) -> torch.Tensor:
    """The same of one window by `dense_output`, in float64; more: of its arguments."""
    tokens, types = windows.tokens(window), types_in(windows, window)
    given = windows.input_ids[tokens], types, operations, windows.sentence[tokens].tolist(), reading
    more = {"head_outputs": head_outputs_for(model), "max_seq_length": WINDOW, **more}
    return result(dense_output(model, *given, **more))[0, : tokens.stop - tokens.start]


def head_outputs_for(model):
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


def scores_of(query, key, mask=None, scaling=None, softcap=None, position_bias=None, s_aux=None, **_):
    """Scores [sample, head, query, key + 1], minus infinity where none is allowed; the last key is no token."""
    key = key.repeat_interleave(query.shape[1] // key.shape[1], 1)
    scores = query @ key.transpose(-1, -2) * (scaling or query.shape[-1] ** -0.5)
    if softcap is not None:
        scores = torch.tanh(scores / softcap) * softcap
    if position_bias is not None:
        scores = scores + position_bias
    if mask is not None:
        scores = scores.masked_fill(mask < 0, -torch.inf)
    sink = torch.full_like(scores[0, :, 0, 0], -torch.inf) if s_aux is None else s_aux
    return torch.cat([scores, sink.view(1, -1, 1, 1).expand(*scores.shape[:3], 1)], -1)


def defined_attention(scores, operation: str, sentence: tuple[int, ...], reading: Reading, *, masked: bool):
    """One head's attention [query, key], from scores as of `scores_of`; masked: what is dropped leaves the softmax."""
    dropped, scores = dropped_pairs(operation, sentence, reading), scores.clone()
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

    def attend(module, query, key, value, attention_mask=None, **how):
        layer, outputs = next(layers), torch.empty_like(query)
        scores = scores_of(query, key, attention_mask, **how)[0]
        scores[..., real:-1] = -torch.inf
        for head, operation in enumerate(operations[layer]):
            if operation == "mean":
                outputs[0, head] = torch.from_numpy(head_outputs[layer, head]).double()
            else:
                attention = defined_attention(scores[head], operation, sentence, reading, masked=masked)
                # Heads in a row share the values of one head where there are fewer of values.
                outputs[0, head] = attention @ value[0, head * value.shape[1] // query.shape[1]]
            if operation.startswith("resample"):
                named = outputs[0, head], scores[head], operation, sentence[:real], layer, head, query.shape[1]
                outputs[0, head] = resampled(*named)
        return outputs.transpose(1, 2), None

    AttentionInterface.register("dense_reference", attend)
    AttentionMaskInterface.register("dense_reference", eager_mask)
    model = model if model.dtype == torch.float64 else in_float64(model)
    with torch.inference_mode(), through_interface(model, "dense_reference"):
        return model(**inputs)


# What each family calls the output projection of an attention layer; `o_proj` where nothing is said.
PROJECTIONS = {
    **dict.fromkeys(["bert", "electra", "ernie", "mobilebert"], "attention.output.dense"),
    **dict.fromkeys(["roberta", "xlm-roberta", "camembert", "data2vec-text"], "attention.output.dense"),
    "albert": "attention.dense",
    "distilbert": "attention.out_lin",
    "modernbert": "attn.Wo",
    "mpnet": "attn.o",
    **dict.fromkeys(["bloom", "falcon"], "self_attention.dense"),
    "gptj": "attn.out_proj",
    "gpt2": "attn.c_proj",
    "opt": "self_attn.out_proj",
    "gpt_neox": "attention.dense",
    **dict.fromkeys(["nomic_bert", "olmo_hybrid"], "self_attn.o_proj"),
    **dict.fromkeys([*ENCODERS.keys() - {"t5", "mt5", "umt5"}, "lfm2"], "self_attn.out_proj"),
    **dict.fromkeys(["t5", "mt5", "umt5"], "SelfAttention.o"),
}
# These scale what a head hands over by a gate before the output projection, so that their heads have no norms.
GATED = ("qwen3_next", "qwen3_5_text")


def defined_writes(model, family, ids, types):
    """By layer attention [head, query, key], values [head, key, channel] and projection [head, channel, width]."""
    found = []

    def attend(module, query, key, value, attention_mask=None, **how):
        value = value.repeat_interleave(query.shape[1] // value.shape[1], 1)
        found.append((scores_of(query, key, attention_mask, **how)[0].softmax(-1)[..., :-1], value[0]))
        return (found[-1][0] @ value).transpose(1, 2).contiguous(), None

    AttentionInterface.register("norms_reference", attend)
    AttentionMaskInterface.register("norms_reference", eager_mask)
    model = in_float64(model).requires_grad_(False)
    through_interface(model, "norms_reference")
    inputs = {"input_ids": torch.tensor([ids])} | ({} if types is None else {"token_type_ids": torch.tensor([types])})
    with torch.inference_mode():
        model(**inputs)
    name = PROJECTIONS.get(family, "o_proj")
    weights = [module.weight for path, module in model.named_modules() if path.endswith(name)]
    weights = weights if len(weights) == len(found) else weights * len(found)
    into = [weight if family == "gpt2" else weight.T for weight in weights]
    return [(*of, weight.reshape(len(of[1]), of[1].shape[-1], -1)) for of, weight in zip(found, into, strict=True)]


def defined_norms(model, family, ids, types):
    """The shares of norms of one sample by their definition: [layer, head, query, key] float64."""
    layers = defined_writes(model, family, ids, types)
    norms = np.zeros((len(layers), *layers[0][0].shape))
    for layer, (attention, value, weight) in enumerate(layers):
        # What each token hands over to each: [head, query, key, width].
        norms[layer] = (attention[..., None] * (value @ weight)[:, None]).norm(dim=-1)
    return norms / norms.sum(-1, keepdims=True)


SPECIAL = {"<s>": "[CLS]", "</s>": "[SEP]"}


def named(tokenizer, ids: list[int]) -> list[str]:
    tokens = [token.removeprefix("##").removeprefix("Ġ") for token in tokenizer.convert_ids_to_tokens(ids)]
    return [SPECIAL.get(token, token) for token in tokens]


def with_no_token(rows) -> np.ndarray:
    """Rows of attention with what they lack to one, which goes to no token, as one more key: [row, key + 1]."""
    lacking = 1 - np.sum(rows, axis=1, keepdims=True)
    return np.concatenate([rows, np.where(lacking > 1e-6, lacking, 0)], axis=1)
