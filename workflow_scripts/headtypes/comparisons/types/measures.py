"""What is measured of a set of heads, by each analysis of a model.

A set of heads is a row of booleans over all heads, layer by layer; of a type, or drawn at random.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float

from headtypes.analyses.divergence.results import Divergence
from headtypes.analyses.gradients.results import ATTENDED, Gradients
from headtypes.analyses.relations.pairs import TOTALS
from headtypes.analyses.surface.results import COLUMNS, Surface
from headtypes.core.bootstrap import mean_intervals

Sets = Bool[np.ndarray, "set head"]
# Guesses of antecedents that stand for a head: those by which claims are decided.
_CANDIDATES = "words"


class Measure(NamedTuple):
    """One number about a set of heads.

    analysis, task, quantity, statistic: its names; `statistic` says how the heads' values become one.
    of: the number of each set, NaN where it is not defined.
    interval: low and high end of the number of one set; None where the analysis keeps nothing to draw again.
    """

    analysis: str
    task: str
    quantity: str
    statistic: str
    of: Callable[[Sets], Float[np.ndarray, " set"]]
    interval: Callable[[Bool[np.ndarray, " head"]], tuple[float, float]] | None = None


def of_surface(task: str, surface: Surface, seed: int) -> Iterator[Measure]:
    """Mean, smallest and largest of each surface pattern; the mean with its interval over samples."""
    for name in COLUMNS:
        by_sample = surface.column(name).reshape(len(surface.length), -1).astype(float)

        def interval(chosen: np.ndarray, by_sample: np.ndarray = by_sample) -> tuple[float, float]:
            possible = by_sample[:, chosen]
            possible = possible[:, ~np.isnan(possible).all(0)]
            if not possible.size or np.isnan(possible).any():
                return np.nan, np.nan
            low, high = mean_intervals(possible.mean(1), seed=seed)
            return float(low), float(high)

        yield from _summaries("surface", task, name, surface.mean(name), interval)


def of_gradients(task: str, gradients: Gradients) -> Iterator[Measure]:
    """Mean, smallest and largest gradient of each kind of token, divided by the mean over all tokens of the layer."""
    if gradients.loss is None:
        return
    by_kind = dict(zip(ATTENDED, np.moveaxis(gradients.values, -1, 0), strict=True))
    of_layer = by_kind["all"].mean(axis=1, keepdims=True)
    for kind, of_head in by_kind.items():
        ratio = np.divide(of_head, of_layer, out=np.full(of_head.shape, np.nan), where=of_layer > 0)
        yield from _summaries("gradients", task, kind, ratio)


def of_importance(task: str, importance: Float[np.ndarray, "layer head"]) -> Iterator[Measure]:
    """Mean, smallest and largest importance of a head, as normalised in its layer."""
    yield from _summaries("importance", task, "normalised", importance)


def of_detectors(task: str, table: pd.DataFrame) -> Iterator[Measure]:
    """Mean, smallest and largest score of each detector, and how many heads of the set it detects.

    table: as `detectors.results.detector_table` has it.
    """
    for detector, rows in table.groupby("detector", sort=False):
        ordered = rows.sort_values(["layer", "head"])
        yield from _summaries("detectors", task, detector, ordered["score"].to_numpy())
        detected = ordered["detected"].to_numpy(float)
        yield Measure(
            "detectors", task, detector, "detected here", lambda sets, detected=detected: sets.astype(float) @ detected
        )


def of_divergence(
    task: str, divergence: Divergence, types: dict[str, Bool[np.ndarray, " head"]]
) -> Iterator[tuple[str | None, Measure]]:
    """Mean divergence of two heads of the set, and of a head of the set and another one of a type.

    types: the heads of each type. Yields the type that a measure is about with each, None for the first.
    """
    of_row = divergence.of_a_row

    def inside(sets: np.ndarray) -> np.ndarray:
        counts = sets.sum(1)
        return _share((sets @ of_row * sets).sum(1), counts * (counts - 1))

    def to(other: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        # A head's divergence from itself is 0, and no pair.
        return lambda sets: _share(sets @ (of_row @ other), sets.sum(1) * other.sum() - (sets & other).sum(1))

    yield None, Measure("divergence", task, "divergence", "inside", inside)
    for name, heads in types.items():
        yield name, Measure("divergence", task, "divergence", f"to {name}", to(heads))


def of_relations(task: str, heads: pd.DataFrame) -> Iterator[Measure]:
    """Accuracy of the best head of the set at each relation, in either direction, and how many relations it finds best.

    heads: as `language.syntax.relations.measure_relations` has it. Chosen and scored on the part `file`, as the paper
        does; which set has the best head is counted over relations, not over totals, a relation and its subtypes
        together, or the same words twice (poss where there is poss*).
    """
    of_file = heads[heads["part"] == "file"]
    for annotation, rows in of_file.groupby("annotation", sort=False):
        best_of_all, names = [], set(rows["relation"])
        for relation, of_relation in rows.groupby("relation", sort=False):
            by_head = of_relation.groupby(["layer", "head"])["accuracy"].max().sort_index().to_numpy()
            yield _largest("relations", task, f"{relation} ({annotation})", by_head)
            counts = relation not in TOTALS and not relation.endswith(":*") and f"{relation}*" not in names
            if counts and not np.isnan(by_head).all():
                best_of_all.append(int(np.nanargmax(by_head)))
        if best_of_all:
            places = np.array(best_of_all)
            yield Measure(
                "relations",
                task,
                f"relations ({annotation})",
                "best head here",
                lambda sets, places=places: sets[:, places].sum(1).astype(float),
            )


def of_coreference(task: str, table: pd.DataFrame) -> Iterator[Measure]:
    """Accuracy of the best head of the set at finding an antecedent, by the type of mention.

    table: as `language.coreference.accuracy.measure_coreference` has it.
    """
    heads = table[(table["system"] == "head") & (table["candidates"] == _CANDIDATES)]
    for type_, rows in heads.groupby("type", sort=False):
        by_head = rows.sort_values(["layer", "head"])["accuracy"].to_numpy()
        yield _largest("coreference", task, f"antecedents ({type_})", by_head)


def _summaries(analysis: str, task: str, quantity: str, of_head: np.ndarray, interval=None) -> Iterator[Measure]:
    flat = of_head.ravel()
    known = ~np.isnan(flat)

    def mean(sets: np.ndarray) -> np.ndarray:
        return _share(sets @ np.where(known, flat, 0), sets @ known.astype(float))

    yield Measure(analysis, task, quantity, "mean", mean, interval)
    yield Measure(analysis, task, quantity, "smallest", lambda sets: -_extreme(sets, -flat))
    yield Measure(analysis, task, quantity, "largest", lambda sets: _extreme(sets, flat))


def _largest(analysis: str, task: str, quantity: str, of_head: np.ndarray) -> Measure:
    return Measure(analysis, task, quantity, "best head", lambda sets: _extreme(sets, of_head))


def _extreme(sets: np.ndarray, of_head: np.ndarray) -> np.ndarray:
    """The largest value of each set; NaN where it has none."""
    chosen = np.where(sets & ~np.isnan(of_head), of_head, -np.inf).max(1)
    return np.where(np.isfinite(chosen), chosen, np.nan)


def _share(total: np.ndarray, of: np.ndarray) -> np.ndarray:
    return np.divide(total, of, out=np.full(len(total), np.nan), where=of > 0)
