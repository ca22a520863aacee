"""The quantities that this paper's claims about texts are judged on, from our results and from its own numbers.

What the claims ask for has the names that `statistics.Heads` gives. The others are

| name | what |
| --- | --- |
| `layer.{statistic}.{layer}` | mean over the heads of a layer, from 1 (`statistics.LABELS` lists the statistics) |
| `third.{statistic}.{third}` | mean over the layers of the first, middle or last third |
| `heads.{statistic}.above_{limit}` | number of heads that the paper's text counts |
| `surface.{id}` | mean over the layers that the paper's text says something of, of a model with as many layers |
| `uniform` | mean entropy of uniform attention |
| `sink.{layer}.{kind}` | attention to that special token, or the first token: the kind with most of it in the layer |
| `divergence.within`, `.between` | mean divergence of pairs of heads of one layer, and of two layers, in nats a row |
| `divergence.within_less_between` | the difference, with an interval by permutations of the layers |
| `n_segments` | segments that the values are means over |
"""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from threadpoolctl import threadpool_limits

from headtypes.analyses.divergence.results import read_projection_fit
from headtypes.analyses.gradients.results import Gradients, read_gradients
from headtypes.analyses.surface.results import Surface
from headtypes.core.files import StrPath
from headtypes.core.hdf5_files import read_arrays
from headtypes.core.statistics import RESAMPLES, draw_units
from headtypes.papers.claims import wanted_by
from headtypes.papers.clark2019.claims.statistics import (
    COLUMN_OF,
    Heads,
    Statistics,
    by_layer,
    published_statistics,
    sink_of,
    whole_statistics,
)
from headtypes.papers.clark2019.claims.texts import TEXT_CLAIMS
from headtypes.papers.clark2019.published import Clark2019
from headtypes.papers.keys import Key
from headtypes.papers.quantities import THIRDS, Measure, Measured, measure_known, resampled

LayerTest = Mapping[str, float | int | None]
# Resamples that are held at once.
_BLOCK = 250


def collect_all(
    surfaces: Mapping[Key, StrPath],
    gradients: Mapping[Key, StrPath],
    fits: Mapping[Key, StrPath],
    published: Clark2019,
    *,
    seed: int,
) -> dict[Key, Heads]:
    """What is known of every model on every task of text, in the order of the surface patterns.

    surfaces, gradients, fits: files by model and task; of gradients there may be fewer.
    seed: of the segments that are drawn for intervals; subjects with equally many segments draw the same ones.
    """
    return {
        key: collect_quantities(
            read_arrays(path, Surface),
            read_gradients(gradients[key]) if key in gradients else None,
            read_projection_fit(fits[key])["layers"],
            published,
            seed=seed,
        )
        for key, path in surfaces.items()
    }


def collect_quantities(
    surface: Surface, gradients: Gradients | None, layers: LayerTest | None, published: Clark2019, *, seed: int
) -> Heads:
    """What is known of a model on a task.

    surface: on at least one segment; gradients: where they were measured; layers: `projection.layer_test`, likewise.
    seed: of the segments that are drawn for the intervals. Gradients have none, since single segments are not stored.
    """
    whole = whole_statistics(surface, gradients, published)
    measures = _measures(published, whole)
    measured = dict(_intervals(measures, whole, _resampled(surface, whole, published, seed)))
    measured["n_segments"] = Measured(len(surface.length))
    _, missing = measure_known(measures, whole)
    if layers is not None and layers["difference"] is not None:
        measured["divergence.within_less_between"] = _permuted(layers)
        measured |= {f"divergence.{name}": Measured(layers[name]) for name in ("within", "between")}
    else:
        missing["divergence.within_less_between"] = "divergences were not measured"
    return Heads(measured, missing=missing, published=published)


def published_quantities(published: Clark2019) -> Heads:
    """The paper's own numbers, as far as they are printed or could be read off the figures that were released."""
    statistics = published_statistics(published)
    return Heads(dict(_intervals(_measures(published, statistics), statistics, ())), published=published)


def _measures(published: Clark2019, whole: Statistics) -> dict[str, Measure]:
    """Functions of statistics, by the name of what they measure; a name that ends in .* is measured in each layer."""
    measures: dict[str, Measure] = {f"layer.{name}.*": _of_layers(name) for name in whole.layers}
    measures |= {
        f"third.{name}.{third}": lambda it, name=name, third=third: it.of_third(name, third)
        for name in whole.layers
        for third in THIRDS
    }
    measures |= wanted_by(TEXT_CLAIMS, Heads, published=published)
    depth = len(next(iter(whole.layers.values())))
    for value in published.surface:
        if value.heads is not None and value.statistic in whole.heads:
            measures[f"heads.{value.statistic}.above_{value.above:g}"] = _count_of(value.statistic, value.above)
        if value.layers and value.heads is None and value.statistic in whole.layers and depth == published.layers:
            measures[f"surface.{value.id}"] = _of_layers(value.statistic, [layer - 1 for layer in value.layers])
    if whole.uniform is not None:
        measures["uniform"] = lambda statistics: statistics.uniform.mean(axis=-1)
        for layer in range(len(whole.uniform)):
            kind = sink_of(whole, layer)
            measures[f"sink.{layer + 1}.{kind}"] = _of_layers(kind, [layer])
    return measures


def _of_layers(name: str, some: list[int] | None = None) -> Measure:
    return lambda it: it.of_layers(name) if some is None else it.of_layers(name)[..., some].mean(axis=-1)


def _count_of(name: str, above: float) -> Measure:
    return lambda statistics: (statistics.of_heads(name) > above).sum(axis=(-2, -1))


def _intervals(
    measures: Mapping[str, Measure], whole: Statistics, draws: Iterable[Statistics]
) -> Iterator[tuple[str, Measured]]:
    """Each number with its interval over segments, where it is one of what was drawn again."""
    values, _ = measure_known(measures, whole)
    drawn: dict[str, list[np.ndarray]] = {name: [] for name in values}
    segments = 0
    each = {name: resampled(measures[name]) for name in values}
    for statistics in draws:
        segments = statistics.segments
        # Gradients are not drawn again.
        for name, means in measure_known(each, statistics)[0].items():
            drawn[name].append(means)
    for name, value in values.items():
        means = np.concatenate(drawn[name]) if drawn[name] else None
        layers = [(name, ...)]
        if name.endswith(".*"):
            layers = [(f"{name[:-1]}{layer + 1}", (..., layer)) for layer in range(len(value))]
        for full, index in layers:
            number = float(value[index])
            if means is None:
                yield full, Measured(number)
            else:
                yield full, Measured.drawn_for(measures[name], number, means[index], np.ones(segments), "segments")


def _permuted(layers: LayerTest) -> Measured:
    """Divergences within layers less those between; the p-value is of both sides, and of the limit 0."""
    both_sides = min(1.0, 2 * min(layers["p"], 1 - layers["p"] + 1 / (1 + layers["permutations"])))
    ends = layers["low"], layers["high"]
    return Measured(layers["difference"], *ends, lambda limit, side: both_sides, "permutations")


def _resampled(surface: Surface, whole: Statistics, published: Clark2019, seed: int) -> Iterator[Statistics]:
    """Statistics of segments drawn with replacement, in blocks; none of a single segment."""
    segments = len(surface.length)
    if segments < 2:
        return
    names = list(whole.heads)
    values = np.stack([surface.column(*COLUMN_OF[name]) for name in names], -1).astype(float)
    _, layers, heads, _ = values.shape
    possible = ~np.isnan(values)
    flat = np.nan_to_num(values, nan=0.0).reshape(segments, -1)
    counted = None if possible.all() else possible.reshape(segments, -1).astype(float)
    uniform = surface.uniform.astype(float)
    with threadpool_limits(1):
        for drawn in _in_blocks(draw_units(segments, RESAMPLES, seed)):
            sums = drawn @ flat
            # Where no drawn segment has the pattern, what it has on all segments stands in.
            means = sums / segments if counted is None else sums / np.maximum(drawn @ counted, 1)
            by_head = means.reshape(-1, layers, heads, len(names))
            of_heads = {name: by_head[..., index] for index, name in enumerate(names)}
            yield Statistics(of_heads, by_layer(of_heads, published), drawn @ uniform / segments, {}, segments, whole)


def _in_blocks(counts: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
    """The same resamples, a few hundred at a time, since each has statistics of every head."""
    for some in counts:
        yield from np.split(some, range(_BLOCK, len(some), _BLOCK))
