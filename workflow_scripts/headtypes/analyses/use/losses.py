"""A language model's loss on words that look at others, with and without this attention in one head."""

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
from headtypes.attention.batches import Batch, rows_of, run_batches
from headtypes.attention.shared_layers import shared_layers
from headtypes.core.errors import InputError
from headtypes.data.answering import PredictedTokens
from headtypes.data.windows import Windows, windows_without_context
from headtypes.models.model_config import layers_and_heads, queries_per_head


@dataclass(frozen=True)
class Inputs:
    """What a model reads and is to predict where some words look at others.

    windows:  the inputs, with the tokens to predict; `question` is the sentence of each, from 0.
    arcs:     between tokens; `sample` is the input.
    """

    windows: Windows
    arcs: Arcs


def causal_inputs(pairs: pd.DataFrame, encoded: EncodedWords) -> Inputs:
    """Each sentence up to its last word that looks; what follows each token of such a word is to be predicted.

    pairs: sentence, query, key: words of sentences that look, and what they look at. A word that nothing follows is
        left out with its arcs.
    """
    ids, targets, arcs, sentences = [], [], [], []
    for sentence, of_sentence in pairs.groupby("sentence"):
        tokens = np.array(encoded.encoded.input_ids[sentence])
        following = np.append(tokens[1:], -1)
        wanted, looks = np.full(len(tokens), -1), []
        for query, key in zip(of_sentence["query"], of_sentence["key"], strict=True):
            queries, keys = _tokens(encoded, sentence, query), _tokens(encoded, sentence, key)
            if following[queries[0]] >= 0:
                wanted[queries] = following[queries]
                looks += [(s, t) for s in queries for t in keys if t <= s]
        if (wanted >= 0).any():
            # No token depends on those behind it.
            stop = np.flatnonzero(wanted >= 0)[-1] + 1
            arcs += [(len(ids), s, t) for s, t in looks if s < stop]
            ids.append(tokens[:stop])
            targets.append(wanted[:stop])
            sentences.append(sentence)
    return _inputs(ids, targets, arcs, sentences)


def masked_inputs(pairs: pd.DataFrame, encoded: EncodedWords, mask_token: int) -> Inputs:
    """Each word that looks in an input of its own, where it alone is masked and is to be predicted."""
    ids, targets, arcs, sentences = [], [], [], []
    for (sentence, query), of_word in pairs.groupby(["sentence", "query"]):
        tokens, queries = np.array(encoded.encoded.input_ids[sentence]), _tokens(encoded, sentence, query)
        wanted = np.full(len(tokens), -1)
        wanted[queries] = tokens[queries]
        tokens[queries] = mask_token
        arcs += [(len(ids), s, t) for key in of_word["key"] for s in queries for t in _tokens(encoded, sentence, key)]
        ids.append(tokens)
        targets.append(wanted)
        sentences.append(sentence)
    return _inputs(ids, targets, arcs, sentences)


def measure_losses(
    model: PreTrainedModel,
    inputs: Inputs,
    layer: int,
    heads: Sequence[int],
    *,
    batch_tokens: int,
    what: str,
    bar: tqdm,
) -> Float[np.ndarray, "sum sentence"]:
    """The sum of the losses of each input in the plain model, and without the arcs in each head by each of `READINGS`.

    inputs: as `causal_inputs` or `masked_inputs` makes them; layer, heads: from 0.
    batch_tokens: padded tokens of a batch; bar: the progress in passes over inputs.
    returns nats: [1 + head x reading, input], the plain model first.
    Raises `InputError` where a loss is not finite.
    """
    windows, predicted = inputs.windows, PredictedTokens(inputs.windows)
    cuts = [(head, reading == "renormalised") for head in heads for reading in READINGS]
    sets = np.zeros((1 + len(cuts), layers_and_heads(model)[0], 1), int)
    sets[1:, layer, 0] = np.arange(1, len(cuts) + 1)
    found = np.full((len(sets), len(windows)), np.nan)

    def run_batch(batch: Batch, shown: tqdm) -> None:
        predicted.start(batch.samples)
        index = np.full(len(windows), -1)
        index[batch.samples] = np.arange(len(batch.samples))
        chosen = index[inputs.arcs.sample] >= 0
        arcs = Arcs(index[inputs.arcs.sample][chosen], inputs.arcs.query[chosen], inputs.arcs.key[chosen])
        none = Arcs(*(np.zeros(0, int) for _ in arcs))
        hooks = [WithoutArcs(layer, 0, none, renormalise=False)]
        queries = queries_per_head(model)
        hooks += [WithoutArcs(layer, head, arcs, renormalise=how, queries=queries) for head, how in cuts]
        for number, output in enumerate(run_passes(batch.inputs, hooks)):
            found[number, batch.samples] = predicted.loss_sums(output).cpu().numpy()
            shown.update(len(batch.samples))

    with shared_layers(model, sets) as run_passes, predicted.attached(model):
        tokens = predicted.batch_tokens(batch_tokens, model.config.vocab_size)
        run_batches(
            *(model, rows_of(windows.input_ids, windows.offsets), None, run_batch),
            batch_tokens=tokens,
            what=what,
            bar=bar,
        )
    if not np.isfinite(found).all():
        raise InputError(
            f"{what}: the model's loss is not finite; run it in float32 or bfloat16, or check its weights."
        )
    return found


def _tokens(encoded: EncodedWords, sentence: int, word: int) -> np.ndarray:
    return np.flatnonzero(np.array(encoded.word_of_token[sentence]) == word)


def _inputs(ids: list, targets: list, arcs: list, sentences: list) -> Inputs:
    # What is asked needs no sentences.
    none = [np.full(len(each), -1) for each in ids]
    windows = windows_without_context(ids, None, none, targets, sentences, [])
    return Inputs(windows, Arcs(*np.array(arcs, np.int64).reshape(-1, 3).T))
