"""Since which checkpoint of a training there is what there is in heads and types, and how surely."""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int

from headtypes.analyses.declaration import Files
from headtypes.analyses.registry import ANALYSES
from headtypes.analyses.types.partitions import read_partition
from headtypes.analyses.types.stability import matched_clusters
from headtypes.comparisons.development.trace import FINAL, read_by_step
from headtypes.comparisons.models.descent import kept_of_types
from headtypes.core.seeds import derive_seed
from headtypes.core.statistics import ALPHA, holm

_TEST = ["quantity", "layer", "head"]
COLUMNS = ("analysis", "of", *_TEST, "onset", "low", "high", "said")
_PERMUTATIONS = 10_000


def read_onsets(steps: Mapping[str, int], measured: Mapping[str, Files], partitions: Files, seed: int) -> pd.DataFrame:
    """What `find_onsets` returns for each analysis and task that tests heads, and for each partition, from files.

    The arguments are those of `trace.trace`; seed: of the permutations. returns the columns `COLUMNS`: analysis; of,
    the task or partition, for which ends hold together; and those of `find_onsets`.
    Raises `InputError` that names a damaged file.
    """
    tested = [
        (analysis.name, task, tests)
        for analysis in ANALYSES
        for task, tests in read_by_step(analysis.tested, analysis, steps, measured)
    ]
    tested += [("types", name, tests) for name, tests in _of_types(steps, partitions, seed)]
    tables = [find_onsets(tests).assign(analysis=analysis, of=of) for analysis, of, tests in tested]
    return pd.concat(tables, ignore_index=True)[list(COLUMNS)] if tables else pd.DataFrame(columns=list(COLUMNS))


def find_onsets(tests: Mapping[int, pd.DataFrame]) -> pd.DataFrame:
    """The kept step from which on each thing that is tested is there.

    tests: by step, as an analysis' `tested` returns them: of each quantity, layer and head p-values by which it is
        claimed that it is beyond what chance gives (p), and that it is not (p_not); NaN where nothing can be said.

    returns one row for each quantity, layer and head (from 0) that is tested at every step, the columns
      onset: the first step from which on it is told from chance at every later one, corrected for the number of rows;
        none where it is not at the last.
      low, high: the first step from which on it is beyond chance at every later one is not before `low`, and not after
        `high`: of all rows together, with a probability of 95 % at least. A `low` that is the first step excludes
        nothing. There is no `high` where it may not be there at the last step, and no `low` where it is not.
      said: this in words.
    """
    steps = sorted(tests)
    both = [tests[step].set_index(_TEST)[["p", "p_not"]].fillna(1.0) for step in steps]
    table = pd.concat(both, axis=1, join="inner", keys=steps)
    p, p_not = (table.xs(name, axis=1, level=1).to_numpy() for name in ("p", "p_not"))
    onset = _from_then_on(np.stack([holm(of_step) < ALPHA for of_step in p.T], axis=1))
    low, high = interval_ends(p, p_not)
    known = pd.array([*steps, pd.NA], dtype="Int64")
    found = {"onset": known[onset], "low": known[low], "high": known[high]}
    said = [_said(steps, *ends) for ends in zip(low, high, strict=True)]
    found = table.index.to_frame(index=False).assign(**found, said=said)
    # By quantity, in the order in which each comes first.
    return found.sort_values("quantity", key=lambda it: pd.factorize(it)[0], kind="stable", ignore_index=True)


def interval_ends(
    p: Float[np.ndarray, "test step"], p_not: Float[np.ndarray, "test step"]
) -> tuple[Int[np.ndarray, " test"], Int[np.ndarray, " test"]]:
    """The ends `low` and `high` of `find_onsets`, as indices of steps; their number where there is none.

    p, p_not: as there; each end has half of the 5 %.

    `high` claims that something is there at all steps from there on. That is wrong only if the test errs at one certain
    step, the last at which it is not; so it is corrected for the number of tests, and need not be for that of steps.
    `low` claims that it is not there at some step before, and each of them may err: it is corrected for that number
    too.
    """
    tests, steps = p.shape
    return _from_then_on(p_not * tests * steps > ALPHA / 2), _from_then_on(p * tests <= ALPHA / 2)


def _of_types(steps: Mapping[str, int], partitions: Files, seed: int) -> Iterator[tuple[str, dict[int, pd.DataFrame]]]:
    """Of each partition, whether more heads are already in their last cluster than if they had any of their step's.

    At the last step all are, which says nothing: it is not among the steps.
    """
    *before, (last, _) = sorted(steps.items(), key=lambda it: it[1])
    for name in dict.fromkeys(name for _, name in partitions):
        final = read_partition(partitions[last, name])
        quantities = [FINAL, *(f"{FINAL}: {type_}" for type_ in final.types)]
        tests = {}
        for model, step in before:
            partition = read_partition(partitions[model, name])
            is_kept = matched_clusters(partition, final)
            kept = np.array([(is_kept & (final.type_of == type_)).sum() for type_ in final.types])
            chance = kept_of_types(
                partition, final, permutations=_PERMUTATIONS, seed=derive_seed(seed, "onsets", name, step)
            )
            kept, chance = (np.insert(each, 0, each.sum(-1), axis=-1) for each in (kept, chance))
            p, p_not = ((1 + at.sum(0)) / (1 + _PERMUTATIONS) for at in (chance >= kept, chance <= kept))
            columns = {"quantity": quantities, "layer": pd.NA, "head": pd.NA, "p": p, "p_not": p_not}
            tests[step] = pd.DataFrame(columns).astype({"layer": "Int64", "head": "Int64"})
        yield name, tests


def _from_then_on(holds: Bool[np.ndarray, "test step"]) -> Int[np.ndarray, " test"]:
    """The first step from which on something holds; the number of steps where it does not at the last."""
    later = np.logical_and.accumulate(holds[:, ::-1], axis=1)
    return holds.shape[1] - later.sum(axis=1)


def _said(steps: list[int], low: int, high: int) -> str:
    """The interval of an onset in words; low, high: indices of steps, their number where there is none."""
    if low == len(steps):
        return f"not at step {steps[-1]}"
    if high == len(steps):
        return f"unknown, but not before step {steps[low]}" if low else "unknown"
    if high == 0:
        return f"at step {steps[0]} already"
    if low:
        return f"after step {steps[low - 1]}, by step {steps[high]}"
    return f"by step {steps[high]}, and perhaps before step {steps[0]}"
