"""The loss where words look at others as a head finds them to, without the attention by which it finds them."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
import pandas as pd

from headtypes.analyses.use.found import Found, Texts, all_visible, surface_pairs
from headtypes.analyses.use.losses import Inputs, causal_inputs, masked_inputs, measure_losses
from headtypes.analyses.use.results import LOSSES, OF, READINGS, is_found
from headtypes.analyses.words.encoding import encode_sentences
from headtypes.attention.arcs import Arcs
from headtypes.attention.run import ModelOnTask
from headtypes.core.errors import InputError
from headtypes.core.progress import progress
from headtypes.core.seeds import derive_seed
from headtypes.data.kinds.registry import KINDS
from headtypes.data.windows import Windows, draw_part
from headtypes.models.model_config import language_head
from headtypes.models.records import ModelRecord


def measure_use(
    found: Sequence[Found], texts: Texts, record: ModelRecord, *, words: int, seed: int, **settings
) -> pd.DataFrame:
    """Measure a language model's loss on words that look at others, with and without this attention in one head.

    found, texts: of `found.find_heads` or `antecedents.find_antecedents`; heads that do not find their relation are
        left out.
    words:    how many words of each relation at most, drawn at random; seed: of this and of what stands beside them.
    settings: of `ModelOnTask`.

    A causal model reads the texts as they are, and is to predict what follows each token of a word that looks; a
    model for masked words is to predict this word, which alone is masked.

    returns one row for each relation, direction, reading, `of` and input (a text, or one with a word masked):
    relation, direction, layer, head (from 0): as in `found.Found`;
    of: `relation`, its arcs; `other_arcs`, as many others in the same head from one word to another at the same
        distances, in the same texts; `other_heads`, the arcs of the relation in the others of `found.Found`;
    reading: `zero`, A[s, t] = 0, or `renormalised`, as if the arcs were masked before the softmax;
    unit: as in `found.Found`; tokens: how many are predicted; loss and without: the sums of their cross entropies in
        nats in the plain model, and without the arcs; of other heads, the mean over these.
    Raises `InputError` where the model is no language model.
    """
    head = language_head(record)
    run = ModelOnTask(record, head=head, **settings)
    encoded = encode_sentences(texts.words, run.tokenizer, run.longest, run.what, whole=False)
    if len(encoded.kept) < len(texts.words):
        raise InputError(f"{run.what}: what heads find is of longer texts; delete it and run again.")
    of_pairs = causal_inputs if head == "causal_lm" else partial(masked_inputs, mask_token=run.tokenizer.mask_token_id)

    def asked(each: Found, rng: np.random.Generator) -> Iterator[Inputs]:
        pairs, drawn = each.pairs, rng.permutation(len(each.right))[:words]
        drawn = pairs[pairs.index.isin(drawn)]
        yield of_pairs(drawn, encoded)
        yield of_pairs(other_arcs(drawn, pairs, texts, each.layer, rng), encoded)

    units = {text: unit for each in found for text, unit in zip(each.text, each.unit, strict=True)}
    return _measured(found, run, asked, lambda windows: [units[text] for text in windows.question], seed)


def measure_task_use(
    found: Sequence[Found],
    rows: list,
    windows: Windows,
    record: ModelRecord,
    *,
    kind: str,
    words: int,
    seed: int,
    **settings,
) -> pd.DataFrame:
    """Measure the loss of a fine-tuned model's answers, with and without attention to tokens alike in one head.

    found: of `found.find_heads`, of `found.SURFACE` alone; in the task, which is not parsed, tokens stand for words.
    rows, windows: questions or pairs of a task of this kind, of which at most `words` are drawn, and their windows. All
        arcs of a relation are taken away at once.

    returns what `measure_use` does. A unit is a question or pair, and its loss that of a whole answer
        (`answering.AnswerLoss`), which counts as one token.
    """
    run = ModelOnTask(record, head=KINDS[kind].head, **settings)
    rows, windows = draw_part(rows, windows, words, seed)
    targets = KINDS[kind].answer_targets(rows, windows, record)
    ids = np.where(windows.sentence >= 0, windows.input_ids, -1)
    tokens = [
        [None if id_ < 0 else id_ for id_ in of_window.tolist()] for of_window in np.split(ids, windows.offsets[1:-1])
    ]
    texts, looks = all_visible(tokens), list(map(surface_pairs, tokens))

    def asked(each: Found, rng: np.random.Generator) -> Iterator[Inputs]:
        pairs = [(text, *pair) for text, of_text in enumerate(looks) for pair in of_text[each.relation]]
        pairs = pd.DataFrame(pairs, columns=["text", "query", "key"])
        for arcs in (pairs, other_arcs(pairs, pairs, texts, each.layer, rng)):
            yield Inputs(windows, Arcs(*arcs.to_numpy(int).T), kind, targets)

    return _measured(found, run, asked, lambda windows: windows.question, seed)


def _measured(
    found: Sequence[Found],
    run: ModelOnTask,
    asked: Callable[[Found, np.random.Generator], Iterator[Inputs]],
    units: Callable[[Windows], Sequence[int]],
    seed: int,
) -> pd.DataFrame:
    """The rows of `measure_use`; asked: of each head the inputs without its arcs, and those without other arcs."""
    planned = []
    for each in np.array(found, dtype=object)[is_found(found, seed)] if found else ():
        rng = np.random.default_rng(derive_seed(seed, each.relation, each.direction))
        of_heads = [each.head, *each.others], [each.head]
        planned += [(each, *it) for it in zip(OF, asked(each, rng), of_heads, strict=False)]
    planned = [it for it in planned if len(it[2].arcs.sample)]
    passes = sum((1 + len(READINGS) * len(heads)) * len(inputs.windows) for *_, inputs, heads in planned)
    tables = []
    with progress(passes, run.what, "inputs") as bar:
        for each, of, inputs, heads in planned:
            how = {"batch_tokens": run.batch_tokens, "what": run.what, "bar": bar}
            losses = measure_losses(run.model, inputs, each.layer, heads, **how)
            tables += _rows(each, of, units(inputs.windows), inputs.tokens, losses)
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=list(LOSSES))


def other_arcs(
    pairs: pd.DataFrame, taken: pd.DataFrame, texts: Texts, layer: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Draw as many arcs of the same distances that are not of the relation, in the texts of some of its pairs.

    pairs: text, query, key, as are the arcs returned; taken: all of the relation. Where a distance has fewer, all.
    """
    length = np.array(list(map(len, texts.words)))
    text, start = np.repeat(np.arange(len(length)), length), np.cumsum(length) - length
    first, last = texts.visible[:, layer % texts.visible.shape[1]].T
    is_word = np.array([word is not None for of_text in texts.words for word in of_text])
    asked = is_word & np.isin(text, pairs["text"]) & (first > 0)
    place = np.arange(len(text)) - start[text]
    drawn = [np.empty((0, 3), int)]
    for distance, of_distance in pairs.groupby(pairs["key"] - pairs["query"]):
        free = np.flatnonzero(asked & (first <= place + distance + 1) & (place + distance + 1 <= last))
        known = taken[taken["key"] - taken["query"] == distance]
        free = free[is_word[free + distance] & ~np.isin(free, start[known["text"]] + known["query"])]
        free = free[rng.permutation(len(free))[: len(of_distance)]]
        drawn.append(np.stack([text[free], place[free], place[free] + distance], 1))
    return pd.DataFrame(np.concatenate(drawn), columns=["text", "query", "key"])


def _rows(
    found: Found, of: str, units: Sequence[int], tokens: np.ndarray, losses: np.ndarray
) -> Iterator[pd.DataFrame]:
    plain, without = losses[0], losses[1:].reshape(-1, len(READINGS), losses.shape[1])
    groups = {of: without[0]}
    if len(without) > 1:
        groups[OF[2]] = without[1:].mean(0)
    names = {"relation": found.relation, "direction": found.direction, "layer": found.layer, "head": found.head}
    counted = {"unit": units, "tokens": tokens, "loss": plain}
    for group, of_group in groups.items():
        for reading, values in zip(READINGS, of_group, strict=True):
            table = pd.DataFrame({**names, "of": group, "reading": reading, **counted, "without": values})
            yield table.dropna(subset="loss")
