"""What leaving out each head costs, as an analysis: its results, and what of them is shown where.

Of any set of heads as well, by a regression over sets drawn at random.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from headtypes.analyses.declaration import Analysis
from headtypes.core.files import StrPath
from headtypes.core.results import ARTICLES, Result

NOTE = (
    "Mean drop (of a loss, rise) when the head is left out, while others are left out at random (Shah et al. 2024), "
    "with its interval over draws and questions."
)


def per_head(task: str, path: StrPath, *_: StrPath) -> list:
    """What leaving out each head costs, by each metric."""
    from headtypes.analyses.effects.results import read_effects
    from headtypes.analyses.per_head import Column
    from headtypes.core.statistics import ALPHA
    from headtypes.data.kinds.registry import METRICS

    return [
        Column(
            *(f"effect.{task}.{metric}", f"{METRICS[metric].change} of {METRICS[metric].title} on {task}", "Effects"),
            *(rows["effect"], METRICS[metric].steps, rows["low"], rows["high"]),
            note=f"{NOTE} Told from zero: {(rows['corrected_p'] <= ALPHA).sum()} of {len(rows)} heads.",
        )
        for metric, rows in read_effects(path, "heads").groupby("metric", sort=False)
    ]


def aligned(task: str, path: StrPath, *_: StrPath) -> list:
    """What leaving out each head costs at least, by each metric: 0 where the interval does not exclude it.

    The percent of questions that are lost; of a loss in nats, that by which the probability of a token falls.
    """
    import numpy as np

    columns = []
    for column in per_head(task, path):
        least = np.nan_to_num(np.maximum(column.low, 0))
        label = f"certain {column.label}"
        if column.unit != "points":
            least, label = 100 * -np.expm1(-least), f"certain fall of a token's probability on {task}"
        columns.append(replace(column, label=label, values=least, unit="%"))
    return columns


def tested(task: str, path: StrPath, *_: StrPath) -> Any:
    """Whether leaving out each head costs anything."""
    from headtypes.analyses.effects.results import read_effects

    table = read_effects(path, "heads")
    half = table["p"] / 2
    p = half.where(table["effect"] > 0, 1 - half)
    return table.assign(quantity=f"effect.{task}." + table["metric"], p=p, p_not=1 - p)


def of_sets(task: str, heads: StrPath, draws: StrPath, fit: StrPath) -> Iterator[dict]:
    """The regression of each metric, and the sets it was tried on: how many heads, their cost and the predicted one."""
    from headtypes.analyses.effects.results import read_effects
    from headtypes.analyses.per_head import rounded
    from headtypes.data.kinds.registry import METRICS

    weights, tried = read_effects(heads, "heads"), read_effects(draws, "draws")
    for found in read_effects(fit, "fit").to_dict("records"):
        metric = METRICS[found["metric"]]
        of_heads, of_draws = (table[table["metric"] == metric.name] for table in (weights, tried))
        yield {
            "task": task,
            "metric": metric.title,
            "change": metric.change,
            "steps": metric.steps,
            "questions": int(found["questions"]),
            "intercept": rounded(found["intercept"]),
            "weights": rounded(of_heads.sort_values(["layer", "head"])["weight"]),
            "r2": [rounded(found[f"r2{end}"]) for end in ("", "_low", "_high")],
            "draws": rounded(of_draws[["heads", "cost", "predicted"]].to_numpy()),
        }


def per_set(task: str, path: StrPath, types: Any, seed: int) -> Iterator:
    """Mean, smallest and largest effect of a set's heads, by each metric."""
    from headtypes.analyses.effects.results import read_effects
    from headtypes.analyses.per_set import summaries

    for metric, rows in read_effects(path, "heads").groupby("metric", sort=False):
        yield from summaries("effects", task, metric, rows["effect"].to_numpy())


def _result(name: str, ending: str, rule: str, about: str, content: str = "", **more: Any) -> Result:
    path, section = f"results/effects/{{model}}/{{task}}{ending}", "What the model can do without"
    return Result(path, rule, about, of=lambda plan: plan.effects, name=name, section=section, content=content, **more)


SUBSETS = _result(
    *("subsets", ".parquet", "evaluate_subsets", "scores of each question without random sets of heads"),
    "scores of each question without random sets of heads: `draw` (0 leaves out none) and the heads `removed`, "
    "`layer-head` from 1",
    withheld=ARTICLES,
)
HEADS = _result(
    *("effects", ".csv", "measure_effects", "what leaving out each head costs"),
    "for each head and metric, how many `draws` leave it out; `effect`, the mean drop (of a loss, rise) when it is "
    "left out while others are at random, with its interval (`low`, `high`) over draws and questions, `p` and "
    "`corrected_p`; `weight`, which sets are predicted by "
    "([method](../understand/method.md#effects-of-heads-not-in-the-paper))",
)
PAIRS = _result(
    *("effects_pairs", ".pairs.csv", "measure_effects", "what leaving out pairs of heads costs beyond either alone"),
    "the same for each pair of heads that enough draws leave out, of what both cost beyond the sum of either alone; "
    "without rows where the draws carry no pair",
)
DRAWS = _result(
    *("effects_draws", ".draws.csv", "measure_effects", "what random sets of heads cost, beside predictions"),
    "for each draw and metric, how many `heads` it leaves out, their `cost` and the `predicted` one, by a regression "
    "that has not seen the draw",
)
FIT = _result(
    *("effects_fit", ".fit.csv", "measure_effects", "how well the costs of sets of heads are predicted"),
    "for each metric, `r2` of these predictions and what `pairs` add to it (`pairs_r2`), with intervals; `intercept` "
    "and `penalty` of the regression",
)
TRAITS = _result(
    *("effects_traits", ".traits.csv", "measure_effects", "what the effects of heads go with"),
    "for each metric, and `of` weights or norms, a linear regression of the effects on `near`, `special` (both against "
    "far) and `depth`: `coefficient` with its interval over heads, `p`, and `r2` of heads held out",
)
CHEAPEST = _result(
    *(
        "cheapest",
        ".cheapest.csv",
        "evaluate_cheapest",
        "the heads that cost least, chosen on one half of the questions",
    ),
    "for each metric, the `cost` without the 5, 10 and 20 % of heads that cost least by the other half of the "
    "questions, and what was `predicted`; costs of as many `random` heads; what is `saved`; and the heads chosen on "
    "the `first` and on the `second` half",
)
FIGURE = _result(
    *("", ".{pdf,png}", "plot_effects", "what leaving out each head costs, and how well sets are predicted"),
    "effects of all heads, and measured against predicted costs of sets, as a figure",
)
EFFECTS = Analysis(
    "effects",
    "effect of leaving out a head",
    files=(HEADS, DRAWS, FIT),
    results=(SUBSETS, HEADS, PAIRS, DRAWS, FIT, TRAITS, CHEAPEST, FIGURE),
    per_head=per_head,
    aligned=aligned,
    tested=tested,
    of_sets=of_sets,
    per_set=per_set,
    leads=True,
)
