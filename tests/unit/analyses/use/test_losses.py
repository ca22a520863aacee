"""The loss without arcs: that of a plain forward pass in which every attention is computed in full, in float64."""

from itertools import count

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import eager_mask

from headtypes.analyses.use.losses import causal_inputs, masked_inputs, measure_losses
from headtypes.analyses.words.encoding import encode_sentences
from headtypes.core.progress import progress
from tests.support.models import FAMILIES, in_float64, tiny_language_model

# Of several tokens: horse and hill.
SENTENCES = [
    ["the", "old", "horse", "saw", "a", "cat", "by", "it"],
    ["it", "ran"],
    ["a", "dog", "sat", "under", "hill"],
]
PAIRS = pd.DataFrame(
    [(0, 2, 0), (0, 2, 1), (0, 5, 2), (0, 3, 2), (1, 1, 0), (2, 4, 2), (2, 2, 1)], columns=["text", "query", "key"]
)
LAYER, HEADS = 1, [2, 0]


def dense_logits(model, ids: list[int], arcs: set[tuple[int, int]], head: int, renormalise: bool) -> np.ndarray:
    """The logits [token, vocabulary] of one input, every head computed by the definition, one of them without arcs."""
    layers = count()

    def attend(module, query, key, value, attention_mask=None, scaling=None, **kwargs):
        layer, outputs = next(layers), torch.empty_like(query)
        for number in range(query.shape[1]):
            shared = number * key.shape[1] // query.shape[1]
            scores = query[0, number] @ key[0, shared].T * (scaling or query.shape[-1] ** -0.5)
            scores = scores if attention_mask is None else scores + attention_mask[0, 0]
            sink = torch.tensor(-torch.inf) if kwargs.get("s_aux") is None else kwargs["s_aux"][number]
            weights = torch.cat([scores, sink.to(scores).expand(len(scores), 1)], -1).softmax(-1)
            attention, to_none = weights[:, :-1], weights[:, -1:]
            for s, t in arcs if (layer, number) == (LAYER, head) else ():
                attention[s, t] = 0
            if renormalise:
                attention = attention / (attention.sum(-1, keepdim=True) + to_none)
            outputs[0, number] = attention @ value[0, shared]
        return outputs.transpose(1, 2), None

    AttentionInterface.register("dense_arcs", attend)
    AttentionMaskInterface.register("dense_arcs", eager_mask)
    model = in_float64(model)
    model.set_attn_implementation("dense_arcs")
    with torch.inference_mode():
        return model(input_ids=torch.tensor([ids])).logits[0].numpy()


def tokens_of(tokenizer, words: list[str]) -> tuple[list[int], list[list[int]]]:
    """The tokens of a sentence, and which of them each word has; one by one."""
    mark = (
        " "
        if tokenizer("a b", add_special_tokens=False)["input_ids"]
        != [token for word in ("a", "b") for token in tokenizer(word, add_special_tokens=False)["input_ids"]]
        else ""
    )
    ends = tokenizer("", padding=False)["input_ids"]
    before = ends[: len(ends) // 2 + len(ends) % 2]
    ids, tokens = list(before), []
    for word in words:
        of_word = tokenizer(mark + word, add_special_tokens=False)["input_ids"]
        tokens.append(list(range(len(ids), len(ids) + len(of_word))))
        ids += of_word
    return ids + ends[len(before) :], tokens


def loss(logits: np.ndarray, token: int) -> float:
    return float(np.log(np.exp(logits - logits.max()).sum()) + logits.max() - logits[token])


@pytest.mark.parametrize("name", ["bert", "modernbert", "gpt2", "llama", "mistral", "qwen3", "gpt_oss"])
def test_the_loss_without_arcs_is_that_of_a_dense_model(name):
    model, tokenizer = tiny_language_model(name)
    causal = FAMILIES[name].make_tokenizer([]).mask_token_id is None
    encoded = encode_sentences(SENTENCES, tokenizer, 60, "test")
    inputs = causal_inputs(PAIRS, encoded) if causal else masked_inputs(PAIRS, encoded, tokenizer.mask_token_id)
    with progress(0, "test", "inputs") as bar:
        found = measure_losses(model, inputs, LAYER, HEADS, batch_tokens=30, what="test", bar=bar)

    units = [[text] if causal else [text, query] for text, query in PAIRS[["text", "query"]].to_numpy()]
    units = sorted(map(list, {tuple(unit) for unit in units}))
    expected = []
    for unit in units:
        ids, tokens = tokens_of(tokenizer, SENTENCES[unit[0]])
        pairs = PAIRS[(PAIRS["text"] == unit[0]) & (causal | (PAIRS["query"] == unit[-1]))]
        arcs, wanted = set(), {}
        for query, key in zip(pairs["query"], pairs["key"], strict=True):
            for s in tokens[query]:
                if causal and s + 1 < len(ids):
                    wanted[s] = ids[s + 1]
                elif not causal:
                    wanted[s] = ids[s]
                arcs |= {(s, t) for t in tokens[key] if not causal or t <= s}
        if not causal:
            ids = [tokenizer.mask_token_id if s in wanted else token for s, token in enumerate(ids)]
        if wanted:
            cuts = [(set(), 0, False), *((arcs, head, renormalise) for head in HEADS for renormalise in (False, True))]
            logits = [dense_logits(model, ids, *cut) for cut in cuts]
            expected.append([sum(loss(each[s], token) for s, token in wanted.items()) for each in logits])
    np.testing.assert_allclose(found, np.transpose(expected), rtol=2e-5)
    assert (np.abs(found[1:] - found[0]).max(1) > 1e-4).all()
