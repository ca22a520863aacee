"""A model's loss where words look at others, with and without this attention in one head."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Float
from tqdm import tqdm
from transformers import PreTrainedModel

from headtypes.analyses.use.results import READINGS
from headtypes.analyses.words.encoding import EncodedWords
from headtypes.attention.arcs import Arcs, WithoutArcs
from headtypes.attention.batches import Batch, run_batches
from headtypes.attention.shared_layers import shared_layers
from headtypes.core.errors import InputError
from headtypes.data.answering import AnswerLoss
from headtypes.data.kinds.text.kind import Text
from headtypes.data.windows import Windows, rows_of, windows_without_context
from headtypes.models.model_config import layers_and_heads, queries_per_head


@dataclass(frozen=True)
class Inputs:
    """What a model reads and is to predict, or to answer, where some words look at others.

    windows:  the inputs, with the tokens to predict if it is a language model; `question` is the text of each, from 0.
    arcs:     between tokens; `sample` is the input.
    kind, targets: of the task, and what is to be answered, as in `answering.AnswerLoss`.
    """

    windows: Windows
    arcs: Arcs
    kind: str
    targets: np.ndarray

    @property
    def tokens(self) -> np.ndarray:
        """How many tokens of each input are to be predicted; 1 for an answer: [input]."""
        is_text = self.windows.targets is not None
        return self.windows.predicted_tokens if is_text else np.ones(len(self.windows), np.int64)


def causal_inputs(pairs: pd.DataFrame, encoded: EncodedWords) -> Inputs:
    """Each text up to its last word that looks; what follows each token of such a word is to be predicted.

    pairs: text, query, key: words of texts that look, and what they look at. A word that nothing follows is left out
        with its arcs.
    """
    ids, targets, arcs, texts = [], [], [], []
    for text, of_text in pairs.groupby("text"):
        tokens = np.array(encoded.encoded.input_ids[text])
        following = np.append(tokens[1:], -1)
        wanted, looks = np.full(len(tokens), -1), []
        for query, key in zip(of_text["query"], of_text["key"], strict=True):
            queries, keys = _tokens(encoded, text, query), _tokens(encoded, text, key)
            if following[queries[0]] >= 0:
                wanted[queries] = following[queries]
                looks += [(s, t) for s in queries for t in keys if t <= s]
        if (wanted >= 0).any():
            # No token depends on those behind it.
            stop = np.flatnonzero(wanted >= 0)[-1] + 1
            arcs += [(len(ids), s, t) for s, t in looks if s < stop]
            ids.append(tokens[:stop])
            targets.append(wanted[:stop])
            texts.append(text)
    return _inputs(ids, targets, arcs, texts)


def masked_inputs(pairs: pd.DataFrame, encoded: EncodedWords, mask_token: int) -> Inputs:
    """Each word that looks in an input of its own, where it alone is masked and is to be predicted."""
    ids, targets, arcs, texts = [], [], [], []
    for (text, query), of_word in pairs.groupby(["text", "query"]):
        tokens, queries = np.array(encoded.encoded.input_ids[text]), _tokens(encoded, text, query)
        wanted = np.full(len(tokens), -1)
        wanted[queries] = tokens[queries]
        tokens[queries] = mask_token
        arcs += [(len(ids), s, t) for key in of_word["key"] for s in queries for t in _tokens(encoded, text, key)]
        ids.append(tokens)
        targets.append(wanted)
        texts.append(text)
    return _inputs(ids, targets, arcs, texts)


def measure_losses(
    model: PreTrainedModel,
    inputs: Inputs,
    layer: int,
    heads: Sequence[int],
    *,
    batch_tokens: int,
    what: str,
    bar: tqdm,
) -> Float[np.ndarray, "sum input"]:
    """The sum of the losses of each input in the plain model, and without the arcs in each head by each of `READINGS`.

    layer, heads: from 0.
    batch_tokens: padded tokens of a batch; bar: the progress in passes over inputs.
    returns nats: [1 + head x reading, input], the plain model first; NaN for an input that holds no whole answer.
    Raises `InputError` where a loss is not finite, or no input holds an answer.
    """
    windows, tokens = inputs.windows, inputs.tokens
    loss = AnswerLoss(inputs.kind, windows, inputs.targets, what)
    chosen = loss.windows
    ids, types = (rows_of(each, windows.offsets) for each in (windows.input_ids, windows.token_type_ids))
    cuts = [(head, reading == "renormalised") for head in heads for reading in READINGS]
    sets = np.zeros((1 + len(cuts), layers_and_heads(model)[0], 1), int)
    sets[1:, layer, 0] = np.arange(1, len(cuts) + 1)
    found = np.full((len(sets), len(windows)), np.nan)

    def run_batch(batch: Batch, shown: tqdm) -> None:
        loss.start(batch.samples)
        read, index = chosen[batch.samples], np.full(len(windows), -1)
        index[read] = np.arange(len(read))
        among = index[inputs.arcs.sample] >= 0
        arcs = Arcs(index[inputs.arcs.sample][among], inputs.arcs.query[among], inputs.arcs.key[among])
        none = Arcs(*(np.zeros(0, int) for _ in arcs))
        hooks = [WithoutArcs(layer, 0, none, renormalise=False)]
        queries = queries_per_head(model)
        hooks += [WithoutArcs(layer, head, arcs, renormalise=how, queries=queries) for head, how in cuts]
        for number, output in enumerate(run_passes(batch.inputs, hooks)):
            losses = loss.losses(output, batch.inputs)
            found[number, read] = losses.double().cpu().numpy() * tokens[read]
            shown.update(len(read))

    with shared_layers(model, sets) as run_passes, loss.attached(model):
        run_batches(
            *(model, [ids[window] for window in chosen], types and [types[window] for window in chosen], run_batch),
            batch_tokens=loss.batch_tokens(batch_tokens, model.config.vocab_size),
            what=what,
            bar=bar,
        )
    if not np.isfinite(found[:, chosen]).all():
        raise InputError(
            f"{what}: the model's loss is not finite; run it in float32 or bfloat16, or check its weights."
        )
    return found


def _tokens(encoded: EncodedWords, text: int, word: int) -> np.ndarray:
    return np.flatnonzero(np.array(encoded.word_of_token[text]) == word)


def _inputs(ids: list, targets: list, arcs: list, texts: list) -> Inputs:
    # What is asked needs no sentences.
    none = [np.full(len(each), -1) for each in ids]
    windows = windows_without_context(ids, None, none, targets, texts, [])
    return Inputs(
        windows, Arcs(*np.array(arcs, np.int64).reshape(-1, 3).T), Text.name, windows.predicted_tokens[:, None]
    )
