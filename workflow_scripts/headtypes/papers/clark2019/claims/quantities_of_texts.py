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

from collections import UserDict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

from headtypes.analyses.divergence.results import read_projection_fit
from headtypes.analyses.gradients.results import Gradients, read_gradients
from headtypes.analyses.surface.results import Surface
from headtypes.core.files import StrPath
from headtypes.core.hdf5_files import read_arrays
from headtypes.core.statistics import RESAMPLES, draw_units
from headtypes.papers.clark2019.claims.statistics import (
    COLUMN_OF,
    Heads,
    Statistics,
    by_layer,
    published_statistics,
    sink_of,
    whole_statistics,
)
from headtypes.papers.clark2019.published import Clark2019
from headtypes.papers.paper import Key
from headtypes.papers.quantities import THIRDS, Measure, Measured, NoVerdictError

LayerTest = Mapping[str, float | int | None]


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
    segments, measured, missing = len(surface.length), {}, {}
    if layers is not None and layers["difference"] is not None:
        measured["divergence.within_less_between"] = _permuted(layers)
        measured |= {f"divergence.{name}": Measured(layers[name]) for name in ("within", "between")}
    else:
        missing["divergence.within_less_between"] = "divergences were not measured"
    measured["n_segments"] = Measured(segments)
    drawn = _drawn_again(surface, whole, published, seed) if segments > 1 else None
    heads = Heads(measured, missing=missing, published=published, whole=whole, drawn=drawn, segments=segments)
    return _with_values(heads)


def published_quantities(published: Clark2019) -> Heads:
    """The paper's own numbers, as far as they are printed or could be read off the figures that were released."""
    return _with_values(Heads({}, published=published, whole=published_statistics(published)))


def _with_values(heads: Heads) -> Heads:
    """The same, with all values that are known whatever is claimed."""
    for name, measure in _measures(heads.published, heads.whole):
        with suppress(NoVerdictError):
            heads.quantity(name, name, measure)
    return heads


def _measures(published: Clark2019, whole: Statistics) -> Iterator[tuple[str, Measure]]:
    """Functions of statistics, with the name of what they measure."""
    depth = len(next(iter(whole.layers.values())))
    for name in whole.layers:
        yield from ((f"layer.{name}.{layer + 1}", _of_layers(name, [layer])) for layer in range(depth))
        yield from ((f"third.{name}.{third}", lambda heads, of=(name, third): heads.mean(*of)) for third in THIRDS)
    for value in published.surface:
        if value.heads is not None and value.statistic in whole.heads:
            yield f"heads.{value.statistic}.above_{value.above:g}", _count_of(value.statistic, value.above)
        if value.layers and value.heads is None and value.statistic in whole.layers and depth == published.layers:
            yield f"surface.{value.id}", _of_layers(value.statistic, [layer - 1 for layer in value.layers])
    if whole.uniform is not None:
        yield "uniform", lambda statistics: statistics.uniform.mean(axis=-1)
        for layer in range(depth):
            kind = sink_of(whole, layer)
            yield f"sink.{layer + 1}.{kind}", _of_layers(kind, [layer])


def _of_layers(name: str, some: list[int]) -> Measure:
    return lambda heads: heads.of_layers(name)[..., some].mean(axis=-1)


def _count_of(name: str, above: float) -> Measure:
    return lambda statistics: (statistics.of_heads(name) > above).sum(axis=(-2, -1))


def _permuted(layers: LayerTest) -> Measured:
    """Divergences within layers less those between; the p-value is of both sides, and of the limit 0."""
    both_sides = min(1.0, 2 * min(layers["p"], 1 - layers["p"] + 1 / (1 + layers["permutations"])))
    ends = layers["low"], layers["high"]
    return Measured(layers["difference"], *ends, lambda limit, side: both_sides, "permutations")


class _DrawnHeads(UserDict):
    """Statistics of heads, [resample, layer, head], computed when they are asked for: all together are large."""

    def __getitem__(self, name: str) -> np.ndarray:
        return self.data[name]()


def _drawn_again(surface: Surface, whole: Statistics, published: Clark2019, seed: int) -> Statistics:
    """Statistics of segments drawn with replacement."""
    segments = len(surface.length)
    # How often each segment is drawn; as floating-point numbers they would need four times as much memory.
    drawn = [counts.astype(np.uint16) for counts in draw_units(segments, RESAMPLES, seed)]

    def sums(values: np.ndarray) -> np.ndarray:
        flat = values.astype(float).reshape(segments, -1)
        with threadpool_limits(1):
            of_draws = np.concatenate([counts.astype(float) @ flat for counts in drawn])
        return of_draws.reshape(-1, *values.shape[1:])

    def draw(name: str) -> np.ndarray:
        values = surface.column(*COLUMN_OF[name])
        possible = ~np.isnan(values)
        # Where no drawn segment has the pattern, what it has on all segments stands in.
        return sums(np.nan_to_num(values)) / (segments if possible.all() else np.maximum(sums(possible), 1))

    heads = _DrawnHeads({name: partial(draw, name) for name in whole.heads})
    return Statistics(heads, by_layer(heads, published), sums(surface.uniform) / segments, on_all=whole)
