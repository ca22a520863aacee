"""Norms and what heads write by their definition, computed densely with each family's output projection."""

import numpy as np
import torch
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import eager_mask

from headtypes.models.architectures import through_interface
from tests.support.models import ENCODERS, in_float64

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
    """Attention, values and slices of the output projection of one sample in float64, layer by layer.

    returns for each layer [head, query, key], [head, key, channel] and [head, channel, width].
    """
    found = []

    def attend(module, query, key, value, attention_mask=None, scaling=None, dropout=0.0, **kwargs):
        sharing = query.shape[1] // key.shape[1]
        key, value = key.repeat_interleave(sharing, 1), value.repeat_interleave(sharing, 1)
        scores = query @ key.transpose(-1, -2) * (scaling or query.shape[-1] ** -0.5)
        if kwargs.get("softcap"):
            scores = torch.tanh(scores / kwargs["softcap"]) * kwargs["softcap"]
        if kwargs.get("position_bias") is not None:
            scores = scores + kwargs["position_bias"]
        if attention_mask is not None:
            scores = scores + attention_mask
        # No token is one more key, of which nothing is handed over.
        sink = kwargs["s_aux"] if kwargs.get("s_aux") is not None else torch.tensor([-torch.inf])
        scores = torch.cat([scores, sink.view(1, -1, 1, 1).expand(*scores.shape[:2], scores.shape[2], 1)], -1)
        found.append((scores.softmax(-1)[0, ..., :-1], value[0]))
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
