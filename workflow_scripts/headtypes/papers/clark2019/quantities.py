"""The quantities that this paper's claims are judged on, collected from our results and from its own numbers.

What the paper's rules measure has the names that `rules` gives. The others are

| name | what |
| --- | --- |
| `layer.{statistic}.{layer}` | mean over the heads of a layer, from 1 (`statistics.WORDS` lists the statistics) |
| `third.{statistic}.{third}` | mean over the layers of the first, middle or last third |
| `surface.{id}` | mean over the layers that the paper's text says something of, of a model with as many layers |
| `uniform` | mean entropy of uniform attention |
| `sink.{layer}.{kind}` | attention to that special token, or the first token: the kind with most of it in the layer |
| `divergence.within`, `.between` | mean divergence of pairs of heads of one layer, and of two layers, in nats a row |
| `divergence.within_less_between` | the difference, with an interval by permutations of the layers |
| `n_segments` | segments that the values are means over |
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np
from threadpoolctl import threadpool_limits

from headtypes.analyses.gradients.results import ATTENDED, Gradients
from headtypes.analyses.surface.results import COLUMNS, Surface
from headtypes.core.bootstrap import RESAMPLES, bounds, draw_units, p_of_side
from headtypes.papers.claims import NoVerdictError
from headtypes.papers.clark2019.published import Clark2019
from headtypes.papers.clark2019.rules import StatisticRule
from headtypes.papers.clark2019.statistics import Statistics, shows
from headtypes.papers.quantities import Measured, Quantities
from headtypes.papers.thirds import THIRDS, Third

Key = tuple[str, str]
LayerTest = Mapping[str, float | int | None]
# Kinds of token that can be a sink of attention, and their statistics; a model's first token may be one of the others.
SINKS = ("cls", "sep", "punctuation", "first")
_NEIGHBOURS = ("previous", "next")
# Resamples that are held at once.
_BLOCK = 250
_Measure = Callable[[Statistics], np.ndarray]


def collect_quantities(
    surface: Surface, gradients: Gradients | None, layers: LayerTest | None, published: Clark2019, *, seed: int
) -> Quantities:
    """What is known of a model on a task.

    surface: on at least one segment; gradients: of the same model, where they were measured.
    layers: how alike heads of one layer are, as `projection.layer_test` returns it, where it was measured.
    seed: of the segments that are drawn for the intervals. Gradients have none, since single segments are not stored.
    """
    whole = whole_statistics(surface, gradients, published)
    measures = _measures(published, whole)
    measured = dict(_intervals(measures, whole, _resampled(surface, whole, published, seed)))
    measured["n_segments"] = Measured(len(surface.length))
    missing = _reasons(published, whole)
    if layers is not None and layers["difference"] is not None:
        measured["divergence.within_less_between"] = _permuted(layers)
        measured |= {f"divergence.{name}": Measured(layers[name]) for name in ("within", "between")}
    else:
        missing["divergence.within_less_between"] = "divergences were not measured"
    return Quantities(measured, missing=missing)


def published_quantities(published: Clark2019) -> Quantities:
    """The paper's own numbers, as far as they are printed or could be read off the figures that were released."""
    statistics = published_statistics(published)
    measures = _measures(published, statistics)
    return Quantities(dict(_intervals(measures, statistics, iter(()))))


def whole_statistics(surface: Surface, gradients: Gradients | None, published: Clark2019) -> Statistics:
    """The statistics of a model on all segments; what cannot be asked of it is missing, with the reason."""
    heads = {name: surface.mean(name) for name in COLUMNS}
    missing = _missing(heads)
    heads = {name: values for name, values in heads.items() if name not in missing}
    layers = _by_layer(heads, published)
    for place, kind in enumerate(ATTENDED):
        name = f"gradient.{kind}"
        if gradients is None or np.isnan(gradients.values[..., place]).any():
            missing[name] = _why_no_gradients(gradients, kind)
        else:
            layers[name] = gradients.values[..., place].mean(axis=-1)
    if "gradient.all" in layers:
        kinds = [kind for kind in ATTENDED if kind != "all" and f"gradient.{kind}" in layers]
        layers |= {f"gradient_ratio.{kind}": layers[f"gradient.{kind}"] / layers["gradient.all"] for kind in kinds}
    return Statistics(heads, layers, surface.uniform.mean(axis=0, dtype=float), missing)


def published_statistics(published: Clark2019) -> Statistics:
    """The layers' means as far as they could be read off, and the heads that the text counts in each layer."""
    layers = {name: np.array(values) for name, values in published.digitised.by_layer().items()}
    listed = [layer for value in published.surface if value.heads is not None for layer in value.layers]
    layers["offset_heads"] = np.bincount(listed, minlength=published.layers + 1)[1:]
    return Statistics({}, layers)


def sink_of(whole: Statistics, layer: int) -> str:
    """The kind of token that gets the most attention in a layer, from 0: one of `SINKS`.

    A first token that is [CLS] counts as that.
    """
    # Equal but for floating-point errors where the first token is [CLS]; of equal ones, the earlier counts.
    return max((name for name in SINKS if name in whole.layers), key=lambda name: round(whole.layers[name][layer], 6))


def _measures(published: Clark2019, whole: Statistics) -> dict[str, _Measure]:
    """Functions of statistics, by the name of what they measure; a name that ends in .* is measured in each layer."""
    measures: dict[str, _Measure] = {f"layer.{name}.*": _of_layers(name) for name in whole.layers}
    measures |= {f"third.{name}.{third}": _of_third(name, third) for name in whole.layers for third in THIRDS}
    for rule in _rules(published):
        measures[rule.name] = _of_rule(rule, whole, published)
    depth = len(next(iter(whole.layers.values())))
    for value in published.surface:
        if value.layers and value.heads is None and value.statistic in whole.layers and depth == published.layers:
            measures[f"surface.{value.id}"] = _of_some_layers(value.statistic, [layer - 1 for layer in value.layers])
    if whole.uniform is not None:
        measures["uniform"] = lambda statistics: statistics.uniform.mean(axis=-1)
        for layer in range(len(whole.uniform)):
            kind = sink_of(whole, layer)
            measures[f"sink.{layer + 1}.{kind}"] = _of_some_layers(kind, [layer])
    return measures


def _rules(published: Clark2019) -> Iterator[StatisticRule]:
    yield from (rule for claim in published.claims for rule in claim.rules if isinstance(rule, StatisticRule))


def _of_layers(name: str) -> _Measure:
    return lambda statistics: statistics.of_layers(name)


def _of_some_layers(name: str, layers: list[int]) -> _Measure:
    return lambda statistics: statistics.of_layers(name)[..., layers].mean(axis=-1)


def _of_third(name: str, third: Third) -> _Measure:
    return lambda statistics: statistics.of_third(name, third)


def _of_rule(rule: StatisticRule, whole: Statistics, published: Clark2019) -> _Measure:
    return lambda statistics: rule.measure(statistics, whole, published)


def _reasons(published: Clark2019, whole: Statistics) -> dict[str, str]:
    """Why rules cannot be measured, by the names of their numbers."""
    reasons = {}
    for rule in _rules(published):
        try:
            rule.measure(whole, whole, published)
        except NoVerdictError as error:
            reasons[rule.name] = str(error)
    return reasons


def _intervals(
    measures: Mapping[str, _Measure], whole: Statistics, resampled: Iterable[Statistics]
) -> Iterator[tuple[str, Measured]]:
    """Each number with its interval over segments, where it is one of what was drawn again."""
    values, known = {}, {}
    for name, measure in measures.items():
        try:
            values[name], known[name] = measure(whole), measure
        except NoVerdictError:
            continue
    drawn: dict[str, list[np.ndarray]] = {name: [] for name in known}
    segments = 0
    for statistics in resampled:
        segments = statistics.segments
        for name, measure in known.items():
            try:
                drawn[name].append(measure(statistics))
            except NoVerdictError:
                continue  # Gradients are not drawn again.
    for name, value in values.items():
        low = high = np.full(np.shape(value), np.nan)
        means, sizes = np.concatenate(drawn[name]) if drawn[name] else None, np.ones(segments)
        if means is not None:
            low, high = bounds(means, sizes)
        if not name.endswith(".*"):
            p_value = None if means is None else _p_value(means, sizes)
            yield name, Measured(float(value), float(low), float(high), p_value)
            continue
        for layer, ends in enumerate(zip(value, low, high, strict=True), start=1):
            yield f"{name[:-1]}{layer}", Measured(*map(float, ends))


def _p_value(means: np.ndarray, sizes: np.ndarray) -> Callable[[float, str], float]:
    return lambda limit, side: float(p_of_side(means, sizes, limit, side))


def _permuted(layers: LayerTest) -> Measured:
    """The difference between divergences within and between layers, with what permutations of the layers say of it.

    The p-value is of both sides, and of the limit 0, which alone is ever asked for.
    """
    both_sides = min(1.0, 2 * min(layers["p"], 1 - layers["p"] + 1 / (1 + layers["permutations"])))
    return Measured(layers["difference"], layers["low"], layers["high"], lambda limit, side: both_sides)


def _resampled(surface: Surface, whole: Statistics, published: Clark2019, seed: int) -> Iterator[Statistics]:
    """Statistics of segments drawn with replacement, in blocks; none of a single segment."""
    segments = len(surface.length)
    if segments < 2:
        return
    names = list(whole.heads)
    values = surface.patterns[..., [COLUMNS.index(name) for name in names]].astype(float)
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
            of_heads = {name: by_head[..., place] for place, name in enumerate(names)}
            yield Statistics(of_heads, _by_layer(of_heads, published), drawn @ uniform / segments, segments=segments)


def _in_blocks(counts: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
    """The same resamples, a few hundred at a time, since each has statistics of every head."""
    for some in counts:
        yield from np.split(some, range(_BLOCK, len(some), _BLOCK))


def _by_layer(heads: Mapping[str, np.ndarray], published: Clark2019) -> dict[str, np.ndarray]:
    """Means over heads, [..., layer], and how many heads look at a neighbouring token."""
    layers = {name: values.mean(axis=-1) for name, values in heads.items()}
    if all(name in heads for name in _NEIGHBOURS):
        rules = [rule for rule in published.behaviours.rules if rule.statistic in _NEIGHBOURS]
        statistics = Statistics(heads, {})
        layers["offset_heads"] = np.any([shows(rule, statistics) for rule in rules], axis=0).sum(axis=-1)
    return layers


def _why_no_gradients(gradients: Gradients | None, kind: str) -> str:
    if gradients is None:
        return "gradients were not measured"
    return f"no segment has a token of the kind {kind}" if gradients.reason is None else f"the model {gradients.reason}"


def _missing(heads: Mapping[str, np.ndarray]) -> dict[str, str]:
    """Why columns are empty in some head of the model."""
    empty = {name for name, values in heads.items() if np.isnan(values).any()}
    no_cls, no_sep = "its inputs have no [CLS]", "its inputs have no [SEP]"
    reasons = {
        "next": "the model lets no token look at the next one",
        "cls": no_cls,
        **dict.fromkeys(("sep", "sep_to_sep", "other_to_sep"), no_sep),
        "special": no_cls if "cls" in empty else no_sep,
        "entropy_cls": no_cls if "cls" in empty else "the model lets [CLS] look at itself alone",
    }
    missing = {name: reasons.get(name, "no segment has it") for name in empty}
    return missing | ({"offset_heads": missing["next"]} if "next" in missing else {})
