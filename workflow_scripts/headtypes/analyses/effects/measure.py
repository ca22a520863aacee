"""What each head costs, how well the costs of sets are predicted, and what costs go with."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from headtypes.analyses.distances.columns import Groups
from headtypes.analyses.effects.costs import costs_of
from headtypes.analyses.effects.regression import (
    explained,
    fit,
    head_effects,
    held_out,
    pair_effects,
    with_pairs,
)
from headtypes.core.statistics import RESAMPLES, bounds, draw_units, p_values


class Tables(NamedTuple):
    """The tables of `measure_effects`."""

    heads: pd.DataFrame
    pairs: pd.DataFrame
    draws: pd.DataFrame
    fit: pd.DataFrame
    traits: pd.DataFrame


def measure_effects(
    scores: pd.DataFrame, groups: Mapping[str, Groups], shape: tuple[int, int], *, share: float, seed: int
) -> Tables:
    """Regress what random sets of heads cost on which heads they have, for each metric.

    scores: as `draws.evaluate_subsets` returns them; share: with which probability it left out a head.
    groups: near, special and far of each head, by weights or norms. shape: layers, heads of a layer. seed: of the
        intervals.

    returns five tables, costs in the steps of the metric, intervals of 95 %, layers and heads from 0:
    heads: metric, layer, head, the fields of `regression.Effects`, and weight, that of the regression: a set is
        predicted to cost the `intercept` and the weights of its heads.
    pairs: metric, layer, head, other_layer, other_head, and the same fields, the effect being that of both beyond the
        sum of either alone; only pairs that enough draws leave out, so that there may be none.
    draws: metric, draw, heads (how many it leaves out), cost, and predicted, by the regression of other draws.
    fit: metric, draws, questions, penalty and intercept of the regression; r2 of the predictions of draws held out,
        pairs (how many are tested) and pairs_r2, what they add to it as further columns, both with intervals.
    traits: the columns of `trait_effects`, after metric and of (weights or norms).
    """
    layers, heads = shape
    draws = costs_of(scores, layers, heads)
    layer, head = np.indices(shape).reshape(2, -1)
    found: dict[str, list] = {name: [] for name in Tables._fields}
    for metric, costs in draws.costs.items():
        whole, alone = fit(draws.removed, costs), held_out(draws.removed, costs)
        effects = head_effects(draws.removed, costs, alone, share)
        pairs, of_pairs = pair_effects(draws.removed, costs, alone, share)
        further = [held_out(with_pairs(draws.removed, pairs), costs)] if len(pairs) else []
        (r2, *added) = explained(costs, *(each.predicted for each in (alone, *further)), seed=seed)
        one, other = pairs.T
        tables = {
            "heads": {"layer": layer, "head": head, **effects._asdict(), "weight": whole.coef_.mean(0)},
            "pairs": {"layer": layer[one], "head": head[one], "other_layer": layer[other], "other_head": head[other]}
            | of_pairs._asdict(),
            "draws": {"draw": np.arange(1, len(costs) + 1), "heads": draws.removed.sum(1), "cost": costs.mean(1)}
            | {"predicted": alone.predicted.mean(1)},
            "fit": {"draws": [len(costs)], "questions": costs.shape[1], "penalty": whole.alpha}
            | {"intercept": whole.intercept_.mean(), **_ends("r2", r2), "pairs": len(pairs)}
            | _ends("pairs_r2", *(added or [(np.nan,) * 3])),
        }
        for name, columns in tables.items():
            found[name].append(pd.DataFrame({"metric": metric, **columns}))
        for of, shares in groups.items():
            found["traits"].append(trait_effects(effects.effect, shares, layer, seed=seed).assign(metric=metric, of=of))
    tables = {name: pd.concat(parts, ignore_index=True) for name, parts in found.items()}
    traits = tables["traits"]
    return Tables(**tables | {"traits": traits[["metric", "of", *traits.columns.drop(["metric", "of"])]]})


def trait_effects(effect: np.ndarray, groups: Groups, layer: np.ndarray, *, seed: int) -> pd.DataFrame:
    """Linear regression of the heads' effects on where they look and how deep they are.

    effect, layer: [head]; heads without an effect are left out.

    near, special and far sum to one (what goes to no token counts as far here), so that far is left out: the
    coefficient of near (or special) is by how much the effect is higher where all attention is near (or special) and
    not far. That of depth is the difference between the last layer and the first.

    returns one row each for near, special and depth: trait, coefficient, its interval over heads (low, high), p; and
        r2, the same in each row: how much of the effect of a head the regression of the others explains.
    """
    traits = {"near": groups.near, "special": groups.special, "depth": layer / max(layer.max(), 1)}
    known = ~np.isnan(effect)
    columns = np.column_stack([np.ones(len(effect)), *traits.values()])[known]
    effect = effect[known]
    hat = columns @ np.linalg.pinv(columns)
    with np.errstate(divide="ignore", invalid="ignore"):
        left_out = (effect - hat @ effect) / (1 - np.diag(hat))
        r2 = 1 - (left_out**2).sum() / ((effect - effect.mean()) ** 2).sum()
    products = np.einsum("ij,ik->ijk", columns, np.column_stack([columns, effect])).reshape(len(effect), -1)
    drawn = np.concatenate([counts @ products for counts in draw_units(len(effect), RESAMPLES, seed)])
    drawn = drawn.reshape(len(drawn), columns.shape[1], -1)
    coefficients = np.einsum("rij,rj->ri", np.linalg.pinv(drawn[..., :-1], hermitian=True), drawn[..., -1])[:, 1:]
    units = np.ones(len(effect))
    low, high = bounds(coefficients, units)
    whole = np.linalg.pinv(columns) @ effect
    found = {"coefficient": whole[1:], "low": low, "high": high, "p": p_values(coefficients, units), "r2": r2}
    return pd.DataFrame({"trait": list(traits), **found})


def _ends(name: str, of: tuple[float, float, float]) -> dict[str, float]:
    return dict(zip((name, f"{name}_low", f"{name}_high"), of, strict=True))
