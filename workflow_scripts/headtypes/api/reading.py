"""Heads of a loaded model read on texts, and their types."""

import re
from collections.abc import Mapping, Sequence, Set
from typing import Literal

import numpy as np
import pandas as pd
from pydantic import InstanceOf, PositiveInt, SkipValidation

from headtypes.analyses.distances.columns import head_features
from headtypes.analyses.distances.measure import reducers_of, shares_of
from headtypes.analyses.distances.results import SHARES, Features
from headtypes.analyses.own.measure import HeadAnalysis, QueryMeans, value_table
from headtypes.analyses.types.clustering import cluster_heads, partition_of
from headtypes.analyses.types.names import METHODS, MIXTURES
from headtypes.analyses.types.partitions import Partition
from headtypes.analyses.types.stability import cluster_halves
from headtypes.api.arguments import Model, Seed, Tokenizer, alone, check_readable, checked, tokens_of_longest
from headtypes.attention.one_pass import read_attention
from headtypes.attention.reducers import Of
from headtypes.core.errors import InputError, shortened
from headtypes.data.encoding import encode_samples
from headtypes.data.tasks import KINDS, Sample
from headtypes.models.model_config import body_of

_HALF = re.compile("[\ud800-\udfff]")


@checked
def read_heads(
    model: Model,
    tokenizer: Tokenizer,
    texts: SkipValidation[Sequence[str] | Sequence[tuple[str, str]]],
    *,
    kind: Literal[*KINDS] = "text",
    max_length: PositiveInt | None = None,
    batch_tokens: PositiveInt = 4096,
    norms: bool = False,
    analyses: SkipValidation[Sequence[type[HeadAnalysis] | HeadAnalysis]] = (),
) -> Features | tuple[Features | pd.DataFrame, ...]:
    """Read the distance features of every head of a loaded model on texts (Guan et al. 2020, section 3).

    model:  in evaluation mode, on any device; afterwards it is as before.
    texts:  each a text, or each two that are read together, such as a question and its context.
    kind:   of task, which says how long texts are cut (`encoding.encode_samples`).
    max_length, batch_tokens: most tokens of a text, by default what model and tokenizer take, and of a batch.
    norms:  whether the features of norms are read as well (Kobayashi et al. 2020).
    analyses: of your own, each a subclass of `HeadAnalysis` or, with parameters, an instance of one.
    returns the features, as the workflow stores them in `results/features/`; a text's id is its number, from 0. With
        analyses, these and the table of each: layer, head, value, low, high, as in `results/{analysis}/`.
    Raises `InputError` where the texts are no such list, there is no such kind, or the model's heads cannot be read.
    """
    made = [analysis() if isinstance(analysis, type) else analysis for analysis in analyses]
    if wrong := [analysis for analysis in made if not isinstance(analysis, HeadAnalysis)]:
        raise InputError(f"analyses should be subclasses of HeadAnalysis; found a {type(wrong[0]).__name__}.")
    check_readable(model, tokenizer)
    samples = samples_of(texts)
    encoded = encode_samples(samples, tokenizer, kind, tokens_of_longest(model, tokenizer, max_length))
    if not all(encoded.lengths):
        raise InputError(f"Text {encoded.lengths.index(0)} (from 0) has no tokens; leave it out.")
    # The body alone: a language model's logits of every token would be computed for nothing.
    body, what = body_of(model), type(model).__name__
    reducers = [*reducers_of(encoded, norms), *(QueryMeans(analysis, encoded) for analysis in made)]
    with alone(model):
        results = read_attention(body, encoded, reducers, batch_tokens=batch_tokens, what=what)
    shares, values = results[: len(results) - len(made)], results[len(results) - len(made) :]
    lengths = np.array(encoded.lengths, dtype=np.int32)
    ids = [sample.id for sample in samples]
    features = Features(length=lengths, truncated=encoded.truncated, sample_ids=ids, **shares_of(shares))
    return (features, *map(value_table, made, values)) if made else features


@checked
def head_types(
    features: InstanceOf[Features],
    *,
    k: PositiveInt = 4,
    method: Literal[*METHODS, *MIXTURES] = "kmeans",
    distance_bins: Literal[1, 2, 4, 8, 16, 32, 64] = 16,
    first_token: bool = True,
    scale: bool = False,
    restarts: PositiveInt = 50,
    seed: Seed = 0,
    of: Of = "weights",
) -> Partition:
    """Divide the heads into types by what they look at (Guan et al. 2020, section 4).

    features: as `read_heads` returns them, or `distances.results.read_features`.
    distance_bins: a divisor of 64; the rest as in `clustering.cluster_heads`.
    first_token: whether the first token counts as `[CLS]` where no text has one, as with most decoders.
    of:       whether they are divided by weights or, if these were read, by norms.
    returns   the type of each head: `partition.type_of` [layer, head], `partition.heads_of("vertical")` indices from 0,
        and `partition.doubtful` types whose names are doubtful.
    Raises `InputError` where the heads cannot be divided in this way.
    """
    samples, layers, heads, _ = features.distance.shape
    shares, first = (getattr(features, name) for name in SHARES[of])
    if shares is None:
        raise InputError("The features hold no norms; read them with norms=True.")
    first = first if first_token else None
    by_head = head_features(shares, distance_bins, first).reshape(samples, layers * heads, -1)
    mean = by_head.mean(0, dtype=np.float64)
    if not np.isfinite(mean).all():
        raise InputError("The features are not finite numbers, of at least one text; read them again.")
    settings = {"method": method, "k": k, "scale": scale, "restarts": restarts, "seed": seed}
    clustering = cluster_heads(mean, **settings)
    if samples > 1:
        clustering = clustering.beside(cluster_halves(by_head, clustering.labels, **settings)[1])
    return partition_of(clustering, mean, (layers, heads))


def samples_of(texts: Sequence[str] | Sequence[tuple[str, str]]) -> list[Sample]:
    """Turn texts, or pairs of them, into samples. Raises `InputError` where they are no such list."""
    # Of a text, characters would be read; of a table, the names of columns; of a set, what comes first in this process.
    unordered = isinstance(texts, str | Mapping | Set) or getattr(texts, "ndim", 1) != 1
    if unordered or not hasattr(texts, "__len__") or not len(texts):
        raise InputError(f"texts should be a list of at least one, such as a column; found a {type(texts).__name__}.")
    for number, text in enumerate(texts):
        parts = text if isinstance(text, list | tuple) else [text, ""]
        if len(parts) != 2 or not all(isinstance(part, str) for part in parts):
            raise InputError(f"Text {number} (from 0) is neither a text nor two of them, but {shortened(repr(text))}.")
        if any(map(_HALF.search, parts)):
            raise InputError(f"Text {number} (from 0) has half a character, as where an emoji was cut; leave that out.")
    if len({isinstance(text, str) for text in texts}) > 1:
        raise InputError("Some texts are single and some are pairs; read the two sorts in two calls.")
    pairs = [(text, None) if isinstance(text, str) else text for text in texts]
    return [Sample(str(number), *pair) for number, pair in enumerate(pairs)]
