"""Weights and norms side by side, as an analysis: its results, and what of them is shown where.

What heads look at, and how they are divided, by either.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from headtypes.analyses.declaration import Analysis, Column, by_head, summaries
from headtypes.core.files import StrPath
from headtypes.core.stage import Plan, Result, stage


@stage(calls="analyses.norms.compare:run")
def compare_norms(plan: Plan, model: str, task: str) -> dict:
    """Spec: how features are read, and the partitions by weights and norms that were made in one way."""
    ways: dict[str, dict[str, str]] = defaultdict(dict)
    for partition in plan.clustered_on(model, task):
        ways[f"{partition.method}-k{partition.k}"][partition.of] = partition.name
    return {
        "features": {of: plan.config.clustering.features(of) for of in ("weights", "norms")},
        "divisions": {name: of for name, of in ways.items() if len(of) == 2},
    }


def per_head(task: str, path: StrPath) -> list:
    """Return the atlas's columns: near, special and far of each head, by weights and by norms."""
    from headtypes.analyses.norms.compare import BY_NORMS, read_shares

    table, group = by_head(read_shares(path)), f"Weights and norms on {task}"
    note = "Share of attention, by {} (near: the token itself and the nearest bin of distances)."
    return [
        Column(f"norms.{task}.{column}", f"{name}, by {of}", group, 100 * table[column], "%", note=note.format(of))
        for name, by_norms in BY_NORMS.items()
        for of, column in (("weights", name), ("norms", by_norms))
    ]


def per_set(task: str, path: StrPath, types: Any, seed: int) -> Iterator:
    """Yield mean, smallest and largest share by norms of a set's heads; types are made of those by weights."""
    from headtypes.analyses.norms.compare import BY_NORMS, read_shares

    table = by_head(read_shares(path))
    for column in BY_NORMS.values():
        yield from summaries("norms", task, column, table[column].to_numpy())


def _result(name: str, ending: str, about: str, content: str) -> Result:
    path = f"results/norms/{{model}}/{{task}}{ending}"
    shown = {"name": name, "content": content}
    return Result(path, "compare_norms", about, of=lambda plan: plan.with_norms, **shown)


HEADS = _result(
    *("norms", ".csv", "what heads look at by weights and by norms"),
    content="where norms are read, for each head: `near`, `special`, `far` by weights and, as `near_by_norms` and so "
    "on, by [norms](../understand/method.md#norms)",
)
DIVISIONS = _result(
    *("norms_types", ".types.csv", "types of heads by weights beside those by norms"),
    content="where heads are divided by both, for each method and number of types: how far both divisions agree "
    "(`adjusted_rand`, at most 1; `same_type` and `same_cluster`, in percent), and the heads `changed`",
)
NORMS = Analysis(
    "norms",
    "share of norms (mean of the heads)",
    section="Heads and types",
    files=(HEADS,),
    results=(HEADS, DIVISIONS),
    stages=(compare_norms,),
    per_head=per_head,
    per_set=per_set,
    repeats=("near", "special", "far"),
)
