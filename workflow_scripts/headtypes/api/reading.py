"""Heads of a loaded model read on texts: features, types, detectors, maps of attention, and a page that shows them."""

import re
import sys
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from html import escape
from io import BytesIO
from typing import Annotated, Literal

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from pydantic import Field, InstanceOf, NonNegativeInt, PositiveInt, SkipValidation
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from headtypes.analyses.detectors.analysis import LEAST, LENGTH, SEQUENCES
from headtypes.analyses.detectors.measure import detector_table, draw_sequences, read_detectors
from headtypes.analyses.distances.features import SHARES, Features, head_features
from headtypes.analyses.distances.measure import features_of, reducers_of
from headtypes.analyses.maps import Maps, readable
from headtypes.analyses.own.measure import HeadAnalysis, QueryMeans, value_table
from headtypes.analyses.types.clustering import cluster_halves, cluster_heads, partition_of
from headtypes.analyses.types.names import METHODS, MIXTURES
from headtypes.analyses.types.partitions import Partition
from headtypes.api.arguments import (
    Model,
    Seed,
    Tokenizer,
    alone,
    check_partition,
    check_readable,
    checked,
    tokens_of_longest,
)
from headtypes.attention.one_pass import read_attention
from headtypes.attention.reducers import Block, Of, Reducer
from headtypes.core.errors import InputError, shortened
from headtypes.core.files import StrPath, write_text
from headtypes.core.style import PAGE, style, styled
from headtypes.core.table_files import head_name
from headtypes.data.encoding import Encoded, encode_samples
from headtypes.data.kinds.sentence_pair import SentencePair
from headtypes.data.tasks import KINDS, Sample
from headtypes.models.model_config import body_of, layers_and_heads, longest_input
from headtypes.pages.atlas.live import LONGEST, seen
from headtypes.pages.atlas.page import page_of, share_columns, type_column
from headtypes.papers.guan2020.figures import draw_map

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
    """Return the distance features of every head of a loaded model on texts (Guan et al. 2020, section 3).

    model:      model in evaluation mode, on any device; afterwards it is as before.
    texts:      list of texts, or list of pairs of texts that are read together, such as a question and its context.
    kind:       kind of task: of a pair that is too long, `question_answering` cuts the end of the second text, each
        other kind that of the longer text. A single text loses its end (`question_answering` raises `InputError`).
    max_length: most tokens of a text, by default the most that model and tokenizer take.
    batch_tokens: most tokens of a batch.
    norms:      whether the features of norms are read as well (Kobayashi et al. 2020).
    analyses:   analyses of your own: subclasses of `HeadAnalysis` or instances of such classes.

    The features are [text, layer, head, column], as described in `Features`; the id of a text is its number, from 0.
    With analyses, returns a tuple: the features, then a table for each analysis, with a row for each head: layer, head
    (both from 0), value, low and high (the ends of its interval over texts), samples (number of texts), label and unit.
    Raises `InputError` if the texts are no such list, or the model's heads cannot be read.
    """
    made = [analysis() if isinstance(analysis, type) else analysis for analysis in analyses]
    if wrong := [analysis for analysis in made if not isinstance(analysis, HeadAnalysis)]:
        raise InputError(f"analyses should be subclasses of HeadAnalysis; found a {type(wrong[0]).__name__}.")
    check_readable(model, tokenizer)
    samples = _samples_of(texts)
    encoded = encode_samples(samples, tokenizer, kind, tokens_of_longest(model, tokenizer, max_length))
    if not all(encoded.lengths):
        raise InputError(f"Text {encoded.lengths.index(0)} (from 0) has no tokens; leave it out.")
    reducers = [*reducers_of(encoded, norms), *(QueryMeans(analysis, encoded) for analysis in made)]
    results = _read(model, encoded, reducers, batch_tokens)
    shares, values = results[: len(results) - len(made)], results[len(results) - len(made) :]
    features = features_of(samples, encoded, shares)
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
    """Divide a model's heads into types by their distance features; return the partition (Guan et al. 2020, section 4).

    features:    result of `read_heads` or `distances.features.read_features`.
    k:           number of types.
    method:      `kmeans` as in the paper, `agglomerative`, `spectral`, or a Gaussian mixture such as `gmm`.
    distance_bins: number of bins of the distance features; a divisor of 64.
    first_token: whether the first token counts as `[CLS]` where no text has a `[CLS]`, as with most decoders.
    scale:       whether each column of the features is brought to unit variance first.
    restarts:    initialisations, drawn by the seed, of which the best is kept.
    of:          whether heads are divided by weights or, if the features hold norms, by norms.

    `partition.type_of` is the type of each head, [layer, head]. `partition.heads_of("vertical")` lists (layer, head),
    from 0, of a type's heads, and `partition.doubtful` the types whose names are doubtful. Raises `InputError` if the
    heads cannot be divided in this way.
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
        clustering = clustering.named_again(cluster_halves(by_head, clustering.labels, **settings)[1])
    return partition_of(clustering, mean, (layers, heads))


def _encoded(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, text: str, second: str | None, most: int = sys.maxsize
) -> Encoded:
    samples = _samples_of([text if second is None else (text, second)])
    longest = min(most, longest_input(model.config, tokenizer))
    encoded = encode_samples(samples, tokenizer, SentencePair.name, longest)
    if not all(encoded.lengths):
        raise InputError("The text is empty; write one.")
    return encoded


def _read(model: PreTrainedModel, encoded: Encoded, reducers: Sequence[Reducer], batch_tokens: int) -> list:
    # The body alone: a language model's logits of every token would be computed for nothing.
    with alone(model):
        return read_attention(body_of(model), encoded, reducers, batch_tokens=batch_tokens, what=type(model).__name__)


def _samples_of(texts: Sequence[str] | Sequence[tuple[str, str]]) -> list[Sample]:
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


@checked
def detect_heads(
    model: Model,
    tokenizer: Tokenizer,
    *,
    sequences: PositiveInt = SEQUENCES,
    length: Annotated[int, Field(ge=4)] = LENGTH,
    least: Annotated[float, Field(ge=0, le=1)] = LEAST,
    seed: NonNegativeInt = 0,
    max_length: PositiveInt | None = None,
    batch_tokens: PositiveInt = 4096,
) -> pd.DataFrame:
    """Test every head of a loaded model by every detector on random tokens, and return a table (Olsson et al. 2022).

    model:      model in evaluation mode, on any device; afterwards it is as before.
    sequences:  number of random sequences; each is read once repeated and once, for the null, with shuffled tokens.
    length:     number of tokens of a random sequence before its repetition.
    least:      share of attention by which the score on a sequence must exceed the null to count in `above`.
    max_length: number of tokens of the longest input, by default the most that model and tokenizer take.
    batch_tokens: most tokens of a batch.

    A row is about a detector (induction, duplicate, first, previous or next), layer and head (from 0). Columns:
    - score, null, difference: shares of attention, means over the sequences. low, high: interval of the difference.
    - above, sequences: number of sequences on which the difference exceeds `least`, and of all sequences.
    - p: of the hypothesis that the difference exceeds `least` on at most half of all sequences (sign test).
    - corrected_p: p corrected over all rows (Holm 1979). detected: whether corrected_p < 0.05.
    Raises `InputError` if sequences of this length cannot be drawn, or the model's heads cannot be read.
    """
    check_readable(model, tokenizer)
    name, max_length = type(model).__name__, tokens_of_longest(model, tokenizer, max_length)
    drawn = draw_sequences(tokenizer, sequences=sequences, length=length, max_length=max_length, seed=seed, model=name)
    what = f"{name} on random tokens"
    with alone(model):
        scores = read_detectors(body_of(model), drawn, batch_tokens=batch_tokens, what=what)
    return detector_table(scores, least=least)


@dataclass(frozen=True)
class HeadMap:
    """The attention of one head (layer, head from 0) on a text's tokens, [query, key]; a notebook shows a picture."""

    attention: np.ndarray
    tokens: list[str]
    layer: int
    head: int

    @styled
    def figure(self) -> Figure:
        side = min(PAGE, 1.2 + 0.13 * len(self.tokens))
        figure = Figure(figsize=(side, side), layout="constrained")
        axes = figure.subplots()
        draw_map(axes, self.attention, self.tokens, side - 0.8)
        axes.set(title=f"head {head_name(self.layer, self.head)}")
        return figure

    def _repr_png_(self) -> bytes:
        png = BytesIO()
        with style():
            self.figure().savefig(png, dpi=150)
        return png.getvalue()


class _OneHead(Maps):
    def __init__(self, layer: int, head: int):
        self._of = layer, head

    def add(self, block: Block) -> None:
        layer, head = self._of
        if block.layer == layer:
            self.keep(block, block.attention[0, head : head + 1])


@checked
def attention_map(
    model: Model,
    tokenizer: Tokenizer,
    text: str,
    second: str | None = None,
    *,
    layer: NonNegativeInt,
    head: NonNegativeInt,
) -> HeadMap:
    """Return the attention of one head of a loaded model on a text or, with `second`, on two texts read together.

    model: model in evaluation mode, on any device; afterwards it is as before. layer, head: indices from 0.
    Raises `InputError` if there is no such head, the text is empty, or the model's heads cannot be read.
    """
    check_readable(model, tokenizer)
    layers, heads = layers_and_heads(model)
    if layer >= layers or head >= heads:
        raise InputError(f"There is no head {head} in layer {layer}: count {layers} layers of {heads} heads from 0.")
    encoded = _encoded(model, tokenizer, text, second)
    ((maps,),) = _read(model, encoded, [_OneHead(layer, head)], batch_tokens=1)
    tokens = [readable(tokenizer, token) for token in encoded.input_ids[0]]
    return HeadMap(maps[0, 0], tokens, layer, head)


@dataclass(frozen=True)
class Page:
    """A page in HTML that shows where every head looks; a notebook displays it."""

    html: str

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{escape(self.html)}" style="width: 100%; height: 48rem; border: 0"></iframe>'

    def save(self, path: StrPath) -> None:
        """Write the page as one HTML file, which needs no network and no other file."""
        write_text(path, self.html)


@checked
def show(
    model: Model,
    tokenizer: Tokenizer,
    text: str,
    second: str | None = None,
    *,
    partition: InstanceOf[Partition] | None = None,
) -> Page:
    """Return a page that shows where every head of a loaded model looks in a text, or in two texts read together.

    model:     model in evaluation mode, on any device; afterwards it is as before.
    text:      text, cut after the first 128 tokens.
    second:    text that is read together with `text`, if there is one; the limit counts the tokens of both.
    partition: types of the heads (`reading.head_types`), by which the page colours the heads.
    Raises `InputError` if the text is empty, or the model's heads cannot be read.
    """
    check_readable(model, tokenizer)
    check_partition(model, partition)
    encoded = _encoded(model, tokenizer, text, second, LONGEST)
    name, (layers, heads) = type(model).__name__, layers_and_heads(model)
    about = {"name": name, "layers": layers, "heads": heads, "kind": model.config.model_type, "from": ""}

    def read(*reducers: Reducer) -> list:
        return _read(model, encoded, reducers, batch_tokens=4096)

    data = seen(about, encoded, read, tokenizer, {}, distance_bins=16)
    if partition is not None:
        columns = [type_column("yours", partition), *share_columns(partition)]
        data |= {"main": "yours", "columns": [column.as_dict() for column in columns]}
    return Page(page_of(data, {"model": name, "text": [text, second]}))
