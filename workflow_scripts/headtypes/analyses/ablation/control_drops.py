"""What a condition costs, compared with the same operations on random heads, on the same questions.

Draws are made one after another, until the permutation test is decided (Besag and Clifford 1991). Where a value is
exchangeable with those drawn beside it, each rank among the first draws is equally likely, so that `enough` of t draws
reach the value before any other number of draws does with probability `enough` / t. No test that holds at any stop can
be below p in fewer than 1 / p - 1 draws.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Bool

from headtypes.analyses.ablation.results import metrics_in, sizes_in
from headtypes.core.crossed import crossed_intervals
from headtypes.core.files import StrPath
from headtypes.core.statistics import ALPHA, EQUAL, mean_intervals, mean_over
from headtypes.core.table_files import read_parquet
from headtypes.data.kinds.metrics import Metric


def enough(draws: int) -> int:
    """So many draws that reach the value end the test: of all `draws`, one more would leave a p above 5 %.

    Fewer than 19 draws cannot give a p of 5 %; all of them are made, as a description.
    """
    # Rounded, since 0.05 is no binary fraction.
    return int(round(ALPHA * (draws + 1), 9)) or draws + 1


def further_draws(reached: Bool[np.ndarray, " draw"], draws: int) -> int:
    """The least number of draws that can decide the test; 0 where it is decided.

    reached: of the draws made, in their order, which reach the value; draws: the largest number.
    """
    return max(0, min(enough(draws) - int(reached.sum()), draws - len(reached)))


def sequential_p(reached: Bool[np.ndarray, " draw"], draws: int) -> float:
    """The one-sided p of the draws made, which is valid whenever one stops; all as in `further_draws`.

    While undecided, it is what would be left if every further draw reached the value; later draws do not count.
    """
    made, end = len(reached), enough(draws)
    times = 1 + np.flatnonzero(reached)
    if len(times) >= end:
        return end / int(times[end - 1])
    last = made + end - len(times)
    return end / last if last <= draws else (1 + len(times) + draws - made) / (1 + draws)


# What is drawn: as many heads of each layer, or of the heads of the model that look alike by near, special and far
# (`partitions.profile_groups`), or as much attention of the same heads; by the number that is a part of the seed.
LAYER, PROFILE, MASS = "layer", "profile", "mass"
FAMILIES = {LAYER: 0, PROFILE: 2, MASS: 3}
# What stands before the names of columns about models that differ in a seed alone, together, as of a family.
SEEDS = "seeds"


def prefix(family: str) -> str:
    """What stands before the names of a family's columns where a row is about all of them."""
    return "" if family == LAYER else f"{family}_"


class DropsOfDraws(NamedTuple):
    """Drops of one score, named as in `METRICS`, of a condition and of its random heads (draws: [draw]).

    own, low, high: the condition's drop, with its 95 % interval over questions.
    """

    metric: str
    own: float
    low: float
    high: float
    draws: np.ndarray

    @property
    def rank(self) -> int:
        """As `own_rank_{metric}` of `control_drops`."""
        return _rank(self.own, self.draws)


def control_drops(
    controls: pd.DataFrame, scores: pd.DataFrame, baseline: pd.DataFrame, *, seed: int
) -> dict[str, float | int]:
    """Drops from the baseline (`metrics.Metric`) of a condition and of its controls, all on the controls' questions.

    controls: scores of each draw and question, as `controls.evaluate_controls` returns them.
    scores, baseline: scores of each question under the condition and the baseline, of at least the controls' questions.
    seed: of the bootstrap; equal seeds draw the same places among the questions of every condition.

    returns of every family, with `prefix` before the names, control_draws, control_draws_planned (the largest number),
      control_questions, control_overlap (mean share of the drawn heads that are the condition's own); for each metric
      control_drop_{metric}: the mean over the draws, with the lowest and the highest as _low and _high;
      own_drop_{metric}: the condition's own drop;
      own_excess_{metric}: the own drop less the mean over the draws, with the 95 % intervals over questions and draws
        (_low, _high) and over articles and draws (_low_by_article, _high_by_article; NaN without articles), as
        `statistics.crossed_intervals` makes them;
      own_rank_{metric}: the place of the own drop among the draws, from the costliest; equal draws go before it;
      own_rank_p_{metric}: how often heads drawn at random cost at least as much, one-sided (`sequential_p`);
      detectable_drop_{metric}: what an own drop would have to exceed for a p of at most 5 %; NaN below 19 draws.
    """
    columns = {}
    for family in FAMILIES:
        drawn = of_family(controls, family)
        if len(drawn):
            drops = _drops_of_family(drawn, *_lost(drawn, scores, baseline), seed)
            columns |= {f"{prefix(family)}{name}": value for name, value in drops.items()}
    return columns


def drops_over_seeds(several: Sequence[tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]], *, seed: int) -> dict:
    """As `control_drops`, of what is lost on average over models that differ in a seed alone; empty for one model.

    several: controls, scores and baseline of each model. They have all draws, made with one seed, so that the heads of
        a layer are permuted in the same way in all: where a head does not cost more for being of the type, the own mean
        drop is exchangeable with those of the draws, however alike the models and their types are.
    returns the columns with `seeds_` before their names, of heads of the same layers, and seeds_models, how many.
    """
    if len(several) < 2:
        return {}
    each = [_lost(of_family(controls), *own) for controls, *own in several]
    metrics, _, _, articles, sizes = each[0]
    lost, own_lost = (np.mean(values, axis=0) for values in list(zip(*each, strict=True))[1:3])
    controls = pd.concat([of_family(controls) for controls, *_ in several])
    drops = _drops_of_family(controls, metrics, lost, own_lost, articles, sizes, seed)
    return {f"{prefix(SEEDS)}{name}": value for name, value in (drops | {"models": len(several)}).items()}


def of_family(controls: pd.DataFrame, family: str = LAYER) -> pd.DataFrame:
    """The rows of the draws of one family."""
    return controls[controls["family"] == family]


def read_scored(controls: StrPath, scores: StrPath, baseline: StrPath) -> tuple[pd.DataFrame, ...]:
    """What `control_drops` takes, read from files."""
    return tuple(read_parquet(path, "holds no scores", ["id"]) for path in (controls, scores, baseline))


def read_drops_of_draws(controls: StrPath, scores: StrPath, baseline: StrPath, *, seed: int) -> DropsOfDraws:
    """The drops of a task's first score beside heads of the same layers, from the files of `control_drops`."""
    controls, *own = read_scored(controls, scores, baseline)
    metrics, lost, own_lost, _, sizes = _lost(of_family(controls), *own)
    low, high = mean_intervals(own_lost[0], sizes=sizes)
    own = float(mean_over(own_lost[0], sizes))
    return DropsOfDraws(metrics[0].name, own, float(low), float(high), mean_over(lost[0], sizes))


def _drops_of_family(
    controls: pd.DataFrame,
    metrics: list[Metric],
    lost: np.ndarray,
    own_lost: np.ndarray,
    articles: np.ndarray | None,
    sizes: np.ndarray | None,
    seed: int,
) -> dict[str, float | int]:
    """The columns of a family, from its rows and from what `_lost` makes of them."""
    planned, excess = int(controls["planned"].iloc[0]), own_lost[:, None] - lost
    low, high = crossed_intervals(excess, sizes=sizes, seed=seed)
    by_article = np.full((2, len(excess)), np.nan)
    if articles is not None:
        by_article = crossed_intervals(excess, articles, sizes=sizes, seed=seed)
    ends = {"low": low, "high": high, "low_by_article": by_article[0], "high_by_article": by_article[1]}
    # An own drop that so many draws reach has a p above 5 %; of fewer than 19 draws, any drop has.
    reaching = int(round(ALPHA * (lost.shape[1] + 1), 9))
    drops_of = {
        "control_draws": lost.shape[1],
        "control_draws_planned": planned,
        "control_questions": lost.shape[2],
        "control_overlap": float(controls.groupby("draw")["overlap"].first().mean()),
    }
    for index, metric in enumerate(scored.name for scored in metrics):
        drops, own_drop = mean_over(lost[index], sizes), mean_over(own_lost[index], sizes)
        reached = drops >= own_drop - EQUAL
        drops_of |= {
            f"control_drop_{metric}": float(drops.mean()),
            f"control_drop_{metric}_low": float(drops.min()),
            f"control_drop_{metric}_high": float(drops.max()),
            f"own_drop_{metric}": float(own_drop),
            f"own_excess_{metric}": float(own_drop - drops.mean()),
            **{f"own_excess_{metric}_{end}": float(values[index]) for end, values in ends.items()},
            f"own_rank_{metric}": _rank(own_drop, drops),
            f"own_rank_p_{metric}": sequential_p(reached, planned),
            f"detectable_drop_{metric}": float(np.sort(drops)[-reaching]) if reaching else np.nan,
        }
    return drops_of


def _rank(own_drop: float, drops: np.ndarray) -> int:
    return 1 + int((drops >= own_drop - EQUAL).sum())


def _lost(
    controls: pd.DataFrame, scores: pd.DataFrame, baseline: pd.DataFrame
) -> tuple[list[Metric], np.ndarray, np.ndarray, np.ndarray | None, np.ndarray | None]:
    """What is lost on the controls' questions: the metrics; [metric, draw, question] what random heads cost; [metric,
    question] what the condition costs; the questions' articles and their sizes (`sizes_in`), where they have any.
    """
    controls = controls.sort_values(["draw", "id"])
    draws, asked = controls["draw"].nunique(), controls["id"].unique()
    own, undisturbed = (table.set_index("id").loc[asked] for table in (scores, baseline))
    metrics = metrics_in(controls)
    columns = [metric.column for metric in metrics]
    before, after = (table[columns].to_numpy().T for table in (undisturbed, own))
    lost = before[:, None] - controls[columns].to_numpy().T.reshape(len(columns), draws, len(asked))
    # For the worse is positive.
    signs = np.array([metric.drop(1, 0) for metric in metrics])
    articles = own["article"].to_numpy() if "article" in own else None
    return metrics, signs[:, None, None] * lost, signs[:, None] * (before - after), articles, sizes_in(own)
