"""The quantities that this paper's claims about texts are judged on, from our results and from its own numbers.

Quantities that the claims ask for have the names that `statistics.Heads` gives. The others are

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

from collections.abc import Iterator, Mapping
from contextlib import suppress

import numpy as np

from headtypes.analyses.divergence.results import read_projection_fit
from headtypes.analyses.gradients.results import Gradients, read_gradients
from headtypes.analyses.surface.results import Surface
from headtypes.core.files import StrPath
from headtypes.core.hdf5_files import read_arrays
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
) -> dict[Key, Heads]:
    """Return the quantities of every model on every task of text, in the order of the surface patterns.

    surfaces, gradients, fits: files by model and task; there may be fewer of gradients.
    """
    return {
        key: collect_quantities(
            read_arrays(path, Surface),
            read_gradients(gradients[key]) if key in gradients else None,
            read_projection_fit(fits[key])["layers"],
            published,
        )
        for key, path in surfaces.items()
    }


def collect_quantities(
    surface: Surface, gradients: Gradients | None, layers: LayerTest | None, published: Clark2019
) -> Heads:
    """Return the quantities of a model on a task.

    surface: on at least one segment; gradients: where they were measured; layers: `projection.layer_test`, likewise.
    Gradients have no intervals, since those of single segments are not stored.
    """
    whole = whole_statistics(surface, gradients, published)
    segments, measured, missing = len(surface.length), {}, {}
    if layers is not None and layers["difference"] is not None:
        measured["divergence.within_less_between"] = _permuted(layers)
        measured |= {f"divergence.{name}": Measured(layers[name]) for name in ("within", "between")}
    else:
        missing["divergence.within_less_between"] = "divergences were not measured"
    measured["n_segments"] = Measured(segments)
    without = _without_each(surface, whole, published) if segments > 1 else None
    heads = Heads(measured, missing=missing, published=published, whole=whole, without=without)
    return _with_values(heads)


def published_quantities(published: Clark2019) -> Heads:
    """Return the paper's own numbers, as far as they are printed or could be read off the figures that were
    released.
    """
    return _with_values(Heads({}, published=published, whole=published_statistics(published)))


def _with_values(heads: Heads) -> Heads:
    for name, measure in _measures(heads.published, heads.whole):
        with suppress(NoVerdictError):
            heads.quantity(name, name, measure)
    return heads


def _measures(published: Clark2019, whole: Statistics) -> Iterator[tuple[str, Measure]]:
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
    both_sides = min(1.0, 2 * min(layers["p"], 1 - layers["p"] + 1 / (1 + layers["permutations"])))
    ends = layers["low"], layers["high"]
    return Measured(layers["difference"], *ends, lambda limit: both_sides, "permutations")


def _without_each(surface: Surface, whole: Statistics, published: Clark2019) -> Statistics:
    """Return the statistics on all segments but one, for each of them: [segment, ...]."""

    def others(values: np.ndarray) -> np.ndarray:
        known = ~np.isnan(values)
        values = np.nan_to_num(values.astype(float))
        # Where no other segment has the pattern, nothing can be said without this one.
        return (values.sum(axis=0) - values) / np.maximum(known.sum(axis=0) - known, 1)

    heads = {name: others(surface.column(*COLUMN_OF[name])) for name in whole.heads}
    return Statistics(heads, by_layer(heads, published), others(surface.uniform), on_all=whole)
