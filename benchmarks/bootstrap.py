"""What do intervals cost at SQuAD dev's size, and do 95 % of them hold the truth?

    python benchmarks/bootstrap.py [cost] [coverage]

Runs on one core, from anywhere, without data: some minutes for both parts. Prints Markdown tables.
"""

import multiprocessing
import os
import resource
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

# Before the linear algebra is loaded.
os.environ["OMP_NUM_THREADS"] = "1"
sys.path.insert(0, str(Path(__file__).parents[1] / "workflow_scripts"))

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import ndtr, ndtri

from headtypes.core.markdown import markdown_table
from headtypes.core.statistics import mean_intervals, resampled_means, score_intervals

# Questions of each of the 48 articles of SQuAD v1.1 dev.
SIZES = (
    "810 247 112 511 197 268 479 180 108 124 217 215 247 106 242 243 183 182 136 106 108 116 264 295 "
    "407 245 129 238 197 98 113 112 96 297 319 176 228 231 104 295 153 291 189 200 187 191 172 206"
)
ARTICLES = np.array([int(size) for size in SIZES.split()])
QUESTIONS = int(ARTICLES.sum())
DATA_SETS, AT_ONCE, RESAMPLES = 2000, 250, 1000

# From a generator and a number of data sets to scores [data set, question].
Draw = Callable[[np.random.Generator, int], np.ndarray]


def squad_scores() -> dict[str, np.ndarray]:
    """Exact match and F1, [condition, question], of 20 conditions from harmless to ruinous."""
    rng = np.random.default_rng(0)
    hard = rng.random(QUESTIONS)
    exact = hard + 0.1 * rng.normal(size=(20, QUESTIONS)) < np.linspace(0.83, 0.01, 20)[:, None]
    return {"exact_match": 100.0 * exact, "f1": np.maximum(100.0 * exact, 70 * rng.random(exact.shape))}


def ours(by_article: bool) -> float:
    """Seconds for all intervals of 20 conditions."""
    scores, articles = squad_scores(), np.repeat(np.arange(len(ARTICLES)), ARTICLES)
    began = time.perf_counter()
    score_intervals(scores, baseline=0, articles=articles if by_article else None, seed=0)
    return time.perf_counter() - began


def scipys() -> float:
    """Seconds for one of the 80 intervals over questions with `scipy.stats.bootstrap`, in batches of like memory."""
    values = squad_scores()["f1"][3]
    began = time.perf_counter()
    stats.bootstrap((values,), np.mean, n_resamples=10_000, batch=100, method="percentile", rng=0)
    return time.perf_counter() - began


def peak_memory() -> float:
    """The largest memory that this process has held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def print_cost() -> None:
    """Seconds and memory of each, in a process of its own."""
    jobs = [
        ("10,000 resamples of 10,570 questions x 20 conditions x 2 metrics and their drops", ours, False),
        ("the same, and over 48 articles", ours, True),
        ("one of its 80 figures with scipy.stats.bootstrap", scipys),
    ]
    rows = []
    for what, function, *arguments in jobs:
        # A process that starts afresh shares no memory with this one.
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
            at_start = process.submit(peak_memory).result()
            seconds = process.submit(function, *arguments).result()
            memory = process.submit(peak_memory).result() - at_start
        rows.append({"what": what, "seconds": seconds, "MB above start": memory})
    print(markdown_table(pd.DataFrame(rows)))


def other_intervals(sums: np.ndarray, sizes: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Intervals that `mean_intervals` might have given: plain percentile, basic, and BCa (Efron 1987).

    sums: [unit, data set]; sizes: [unit].
    """
    means = np.sort(resampled_means(sums, sizes, seed=1, resamples=RESAMPLES), axis=0)
    low, high = np.quantile(means, [0.025, 0.975], axis=0)
    estimate = sums.sum(axis=0) / sizes.sum()
    below = (means < estimate).mean(axis=0) + (means == estimate).mean(axis=0) / 2
    bias = ndtri(below.clip(1 / RESAMPLES, 1 - 1 / RESAMPLES))
    left_out = (sums.sum(axis=0) - sums) / (sizes.sum() - sizes)[:, None]
    deviations = left_out.mean(axis=0) - left_out
    # Without any variation there is no skewness.
    acceleration = (deviations**3).sum(axis=0) / (6 * (deviations**2).sum(axis=0) ** 1.5 + 1e-300)
    corrected = []
    for place in ndtri([0.025, 0.975]):
        level = ndtr(bias + (bias + place) / (1 - acceleration * (bias + place)))
        rank = np.round(level * (RESAMPLES - 1)).astype(int)
        corrected.append(np.take_along_axis(means, rank[None], axis=0)[0])
    return {
        "percentile": (low, high),
        "basic": (2 * estimate - high, 2 * estimate - low),
        "BCa": (corrected[0], corrected[1]),
    }


def coverage(draw: Draw, truth: float, articles: np.ndarray | None) -> dict[str, float]:
    """Percent of simulated data sets whose interval holds the truth, by kind of interval."""
    held = {}
    for number in range(DATA_SETS // AT_ONCE):
        values = draw(np.random.default_rng([7, number]), AT_ONCE)
        if articles is None:
            sums, sizes = values.T, np.ones(values.shape[1])
        else:
            starts = np.flatnonzero(np.diff(articles, prepend=-1))
            sums, sizes = np.add.reduceat(values, starts, axis=1).T, np.bincount(articles).astype(float)
        found = {"ours": mean_intervals(values, articles, seed=1, resamples=RESAMPLES), **other_intervals(sums, sizes)}
        for name, (low, high) in found.items():
            held.setdefault(name, []).append((low <= truth + 1e-9) & (truth - 1e-9 <= high))
    return {name: 100 * np.mean(each) for name, each in held.items()}


def rate(questions: int, share: float) -> Draw:
    """Exact match of independent questions."""
    return lambda rng, sets: 100.0 * (rng.random((sets, questions)) < share)


def drop(questions: int, lost: float, gained: float) -> Draw:
    """Drop of exact match where some answers become wrong and fewer become right."""

    def draw(rng, sets):
        luck = rng.random((sets, questions))
        return 100.0 * (luck < lost) - 100.0 * (luck > 1 - gained)

    return draw


def rate_by_article(articles: np.ndarray, share: float, between: float) -> Draw:
    """Exact match of questions whose articles differ: `between` is their share of the variance."""

    def draw(rng, sets):
        shape = 1 / between - 1
        levels = rng.beta(shape * share, shape * (1 - share), size=(sets, articles.max() + 1))
        return 100.0 * (rng.random((sets, len(articles))) < levels[:, articles])

    return draw


def drop_by_article(articles: np.ndarray, share: float, loss: float, between: float) -> Draw:
    """Drop of exact match where articles differ both in how hard they are and in how much they lose."""
    kept, lost = rate_by_article(articles, share, between), rate_by_article(articles, loss, between)
    return lambda rng, sets: kept(rng, sets) * lost(rng, sets) / 100


def print_coverage() -> None:
    """How often intervals of nominal 95 % hold the truth."""
    cases: list[tuple[str, int, Draw, float, np.ndarray | None]] = []
    for questions in (QUESTIONS, 1000, 300):
        cases += [
            (f"EM {100 * share:.4g} %", questions, rate(questions, share), 100 * share, None)
            for share in (0.8, 0.05, 0.0127)
        ]
        cases += [
            (
                f"drop, {100 * lost:.4g} % of answers lost and half as many gained",
                questions,
                drop(questions, lost, lost / 2),
                50 * lost,
                None,
            )
            for lost in (0.1, 0.01, 0.003)
        ]
    for number in (48, 20, 8):
        articles = np.repeat(np.arange(number), ARTICLES[:number])
        for between in (0.02, 0.05, 0.2):
            differ = f"{100 * between:.0f} % of variance between articles"
            cases += [
                (f"EM 80 %, {differ}", number, rate_by_article(articles, 0.8, between), 80, articles),
                (f"drop 8 points, {differ}", number, drop_by_article(articles, 0.8, 0.1, between), 8, articles),
            ]
    articles = np.repeat(np.arange(len(ARTICLES)), ARTICLES)
    what = "EM 80 %, 2 % of variance between articles"
    cases.append((what, QUESTIONS, rate_by_article(articles, 0.8, 0.02), 80, None))
    rows = [
        {"units": f"{units:,} {'questions' if by is None else 'articles'}", "what": what, **coverage(draw, truth, by)}
        for what, units, draw, truth, by in cases
    ]
    error = 100 * np.sqrt(0.95 * 0.05 / DATA_SETS)
    print(
        f"Percent of {DATA_SETS:,} data sets whose interval holds the truth (nominal 95, standard error {error:.1f}):\n"
    )
    print(markdown_table(pd.DataFrame(rows)))


PARTS = {"cost": print_cost, "coverage": print_coverage}


def main(*parts: str) -> None:
    """Print the parts asked for, or all."""
    for part in parts or PARTS:
        PARTS[part]()


if __name__ == "__main__":
    main(*sys.argv[1:])
