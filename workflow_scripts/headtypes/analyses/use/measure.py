"""The loss on words by which a head finds a relation, without the attention by which it finds it."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd

from headtypes.analyses.relations.guesses import DIRECTIONS, ArcGuesses
from headtypes.analyses.relations.offsets import FILE, TEST
from headtypes.analyses.use.found import Found, find_heads
from headtypes.analyses.use.losses import Inputs, causal_inputs, masked_inputs, measure_losses
from headtypes.analyses.use.results import LOSSES, OF, READINGS, is_found
from headtypes.analyses.words.encoding import encode_sentences
from headtypes.attention.run import ModelOnTask
from headtypes.core.errors import InputError
from headtypes.core.progress import progress
from headtypes.core.seeds import derive_seed
from headtypes.data.kinds.treebank import Sentence
from headtypes.models.model_config import language_head
from headtypes.models.records import ModelRecord


def measure_use(
    parts: Mapping[str, Sequence[Sentence]],
    arcs: Mapping[str, ArcGuesses],
    record: ModelRecord,
    *,
    least: int,
    offsets: int,
    words: int,
    seed: int,
    **settings,
) -> pd.DataFrame:
    """Measure a language model's loss on words that look at others, with and without this attention in one head.

    parts, arcs, least, offsets: as in `found.find_heads`; heads that do not find their relation are left out.
    words:    how many pairs of each relation at most, drawn at random; seed: of this and of what stands beside them.
    settings: of `ModelOnTask`.

    A causal model reads the sentences as they are, and is to predict what follows each token of a word that looks; a
    model for masked words is to predict this word, which alone is masked.

    returns one row for each relation, direction, reading, `of` and input (a sentence, or one with a word masked):
    relation, direction, layer, head (from 0): as in `found.Found`;
    of: `relation`, its arcs; `other_arcs`, as many others in the same head from one word to another at the same
        distances, in the same sentences; `other_heads`, the arcs of the relation in the others of `found.Found`;
    reading: `zero`, A[s, t] = 0, or `renormalised`, as if the arcs were masked before the softmax;
    sentence: from 0, among those read; tokens: how many are predicted; loss and without: the sums of their cross
        entropies in nats in the plain model, and without the arcs; of other heads, the mean over these.
    Raises `InputError` where the model is no language model.
    """
    head = language_head(record)
    run = ModelOnTask(record, head=head, **settings)
    part = TEST if TEST in parts else FILE
    encoded = encode_sentences([each.words for each in parts[part]], run.tokenizer, run.longest, run.what)
    if encoded.kept.tolist() != arcs[part].sentence.tolist():
        raise InputError("The guesses at syntactic heads are not of these sentences; delete them and run again.")
    inputs_of = causal_inputs if head == "causal_lm" else partial(masked_inputs, mask_token=run.tokenizer.mask_token_id)
    asked: list[tuple[Found, str, Inputs, list[int]]] = []
    found = list(find_heads(parts, arcs, least=least, offsets=offsets))
    for each in np.array(found, dtype=object)[is_found(found, seed)] if found else ():
        rng = np.random.default_rng(derive_seed(seed, each.relation, each.direction))
        drawn = np.sort(rng.permutation(len(each.right))[:words])
        pairs = pd.DataFrame({"sentence": each.sentence, "query": each.query, "key": each.key}).iloc[drawn]
        inputs = inputs_of(pairs, encoded)
        asked.append((each, OF[0], inputs, [each.head, *each.others]))
        asked.append((each, OF[1], inputs_of(other_arcs(each, pairs, arcs[part], rng), encoded), [each.head]))
    passes = sum((1 + len(READINGS) * len(of_heads)) * len(inputs.windows) for *_, inputs, of_heads in asked)
    tables = []
    with progress(passes, run.what, "inputs") as bar:
        for each, of, inputs, of_heads in asked:
            if len(inputs.windows):
                how = {"batch_tokens": run.batch_tokens, "what": run.what, "bar": bar}
                losses = measure_losses(run.model, inputs, each.layer, of_heads, **how)
                tables += _rows(each, of, inputs, losses)
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=list(LOSSES))


def other_arcs(found: Found, pairs: pd.DataFrame, arcs: ArcGuesses, rng: np.random.Generator) -> pd.DataFrame:
    """Draw as many arcs of the same distances that are not of the relation, in the sentences of some of its pairs.

    pairs: sentence, query, key, as are the arcs returned; arcs: of their sentences. Where a distance has fewer, all.
    """
    taken = set(zip(found.sentence, found.query, found.key, strict=True))
    starts = np.cumsum(arcs.length) - arcs.length
    seen = arcs.visible[:, found.layer, DIRECTIONS.index("dependent_to_head")]
    drawn = []
    for distance, of_distance in pairs.groupby(pairs["key"] - pairs["query"]):
        free = [
            (sentence, query, query + distance)
            for sentence in np.unique(pairs["sentence"])
            for query, (first, last) in enumerate(seen[starts[sentence] :][: arcs.length[sentence]])
            if 0 < first <= query + distance + 1 <= last and (sentence, query, query + distance) not in taken
        ]
        drawn += [free[index] for index in rng.permutation(len(free))[: len(of_distance)]]
    return pd.DataFrame(drawn, columns=["sentence", "query", "key"])


def _rows(found: Found, of: str, inputs: Inputs, losses: np.ndarray) -> Iterator[pd.DataFrame]:
    plain, without = losses[0], losses[1:].reshape(-1, len(READINGS), losses.shape[1])
    groups = {of: without[0]}
    if len(without) > 1:
        groups[OF[2]] = without[1:].mean(0)
    names = {"relation": found.relation, "direction": found.direction, "layer": found.layer, "head": found.head}
    windows = inputs.windows
    counted = {"sentence": windows.question, "tokens": windows.predicted_tokens, "loss": plain}
    for group, of_group in groups.items():
        for reading, values in zip(READINGS, of_group, strict=True):
            yield pd.DataFrame({**names, "of": group, "reading": reading, **counted, "without": values})
