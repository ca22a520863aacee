"""Sets of heads that are left out, drawn at random or chosen, and what the model scores without them."""

import numpy as np
import pandas as pd
from jaxtyping import Bool

from headtypes.analyses.ablation.evaluation import Settings, evaluate_all
from headtypes.analyses.effects.costs import costs_of, drops_of
from headtypes.analyses.effects.regression import Removed, fit
from headtypes.analyses.effects.sets import RANDOM, SIZES
from headtypes.core.errors import InputError
from headtypes.core.statistics import mean_intervals
from headtypes.core.style import head_name
from headtypes.data.windows import Windows, draw_part
from headtypes.models.records import ModelRecord

# Two halves with more than one question each.
FEWEST = 4


def draw_sets(sets: int, heads: int, share: float, seed: int) -> Removed:
    """Sets that leave out each head with probability `share`; more sets do not change the first ones."""
    return np.stack([np.random.default_rng([seed, number]).random(heads) < share for number in range(sets)])


def evaluate_subsets(
    rows: list,
    windows: Windows,
    record: ModelRecord,
    *,
    subsets: int,
    share: float,
    questions: int | str,
    seed: int,
    **settings,
) -> pd.DataFrame:
    """Score a model without any of the heads of sets that are drawn at random.

    rows, windows, record: as in `evaluation.evaluate_condition`.
    subsets, share: number of sets; probability that a set has a head.
    questions: of the rows, drawn at random, or "all".
    settings: fields of `evaluation.Settings`.
    returns  draw (from 0, which leaves out no head), removed (the heads, `layer-head` from 1, with spaces between), and
        the columns of a condition's scores, one row per draw and question, pair or document.
    """
    rows, windows = draw_part(rows, windows, questions, seed)
    if len(rows) < FEWEST:
        raise InputError(
            f"{record.name}: effects of heads need at least {FEWEST} questions, pairs or documents, not {len(rows)}."
        )
    heads = record.layers * record.heads
    removed = np.vstack([np.zeros(heads, bool), draw_sets(subsets, heads, share, seed)])
    scored = _evaluated(rows, windows, record, removed, Settings(**settings))
    named = [_named(of_draw, record.heads) for of_draw in removed]
    tables = [scores.assign(draw=draw, removed=named[draw]) for draw, scores in enumerate(scored)]
    table = pd.concat(tables, ignore_index=True)
    return table[["draw", "removed", *table.columns.drop(["draw", "removed"])]]


def evaluate_cheapest(
    rows: list, windows: Windows, record: ModelRecord, scores: pd.DataFrame, *, seed: int, **settings
) -> pd.DataFrame:
    """Choose heads that cost least on one half of the questions, and measure on the other what they cost.

    rows, windows, record, settings: as in `evaluate_subsets`; scores: what it returned, for some of the rows.
    seed: of the halves, of random sets, and of the intervals.

    Each half of the questions chooses the heads with the smallest weights in the regression of its costs.
    returns one row per metric and size: metric, heads (how many are left out), cost (mean over all questions, each
        without the heads that the other half has chosen) and predicted (by the half that chose); random, random_low,
        random_high: mean, lowest and highest cost of `sets.RANDOM` random sets of as many heads; saved: random less
        cost. Costs are drops; cost and saved have their 95 % intervals over questions (_low, _high), with the sets as
        they are. first, second: the heads that the halves chose, named as in `evaluate_subsets`.
    """
    baseline = scores[scores["draw"] == 0].reset_index(drop=True)
    chosen = np.flatnonzero(np.isin([row.id for row in rows], baseline["id"]))
    rows, windows = [rows[index] for index in chosen], windows.of_questions(chosen)
    draws, heads = costs_of(scores, record.layers, record.heads), record.layers * record.heads
    rng = np.random.default_rng(seed)
    half = rng.permutation(len(rows)) % 2
    wanted, of_row = [], []
    for size in dict.fromkeys(max(1, round(share * heads)) for share in SIZES):
        random = len(wanted) + np.arange(RANDOM)
        wanted += [_first(rng.permutation(heads), size) for _ in random]
        for metric, costs in draws.costs.items():
            regressions = [fit(draws.removed, costs[:, half == number]) for number in (0, 1)]
            own = [_first(np.argsort(each.coef_.mean(0), kind="stable"), size) for each in regressions]
            predicted = [each.predict(one[None]).mean() for each, one in zip(regressions, own, strict=True)]
            of_row.append((metric, size, random, len(wanted) + 1 - half, np.mean(predicted), own))
            wanted += own
    found = drops_of(_evaluated(rows, windows, record, np.array(wanted), Settings(**settings)), baseline)
    table = []
    for metric, size, random, checked, predicted, own in of_row:
        costs = np.stack(found[metric])
        cost, at_random = costs[checked, np.arange(len(rows))], costs[random]
        both = np.stack([cost, at_random.mean(0) - cost])
        (low, saved_low), (high, saved_high) = mean_intervals(both, seed=seed)
        table.append(
            {"metric": metric, "heads": size, "cost": cost.mean(), "cost_low": low, "cost_high": high}
            | {"predicted": predicted, "random": at_random.mean()}
            | {"random_low": at_random.mean(1).min(), "random_high": at_random.mean(1).max()}
            | {"saved": both[1].mean(), "saved_low": saved_low, "saved_high": saved_high}
            | dict(zip(("first", "second"), (_named(each, record.heads) for each in own), strict=True))
        )
    return pd.DataFrame(table)


def _evaluated(
    rows: list, windows: Windows, record: ModelRecord, removed: Removed, settings: Settings
) -> list[pd.DataFrame]:
    """The scores without the heads of each set."""
    operations = np.where(removed.reshape(-1, record.layers, record.heads), "zero", "keep").astype(object)
    what = f"{record.name}, sets of heads left out"
    return [scores for _, scores in evaluate_all(rows, windows, record, operations, None, settings, what)]


def _first(order: np.ndarray, size: int) -> Bool[np.ndarray, " head"]:
    return np.isin(np.arange(len(order)), order[:size])


def _named(removed: np.ndarray, heads: int) -> str:
    return " ".join(head_name(*divmod(head, heads)) for head in np.flatnonzero(removed))
