"""Divergences between heads, as an analysis: its results, and what of them is shown where."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from headtypes.analyses.declaration import Analysis, Measure, ratio
from headtypes.core.files import StrPath
from headtypes.core.stage import Plan, Result, stage


def per_pair(path: StrPath) -> Any:
    from headtypes.analyses.divergence.results import Divergence
    from headtypes.core.hdf5_files import read_arrays

    return read_arrays(path, Divergence).of_a_row


def per_set(task: str, path: StrPath, types: Mapping[str, Any], seed: int) -> Iterator:
    import numpy as np

    from headtypes.analyses.divergence.results import Divergence
    from headtypes.core.hdf5_files import read_arrays

    # Means over all pairs of heads of a set, and over pairs of a head of a set and another head of a type.
    def inside(of_row: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        return lambda sets: ratio((sets @ of_row * sets).sum(1), sets.sum(1) * (sets.sum(1) - 1))

    def to(other: np.ndarray, of_row: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        # A head's divergence from itself is 0, and no pair.
        return lambda sets: ratio(sets @ (of_row @ other), sets.sum(1) * other.sum() - (sets & other).sum(1))

    divergence = read_arrays(path, Divergence)
    for quantity, total in (("divergence", divergence.total), ("divergence_by_norms", divergence.norms)):
        if total is not None:
            of_row = total / divergence.rows
            yield Measure("divergence", task, quantity, "inside", inside(of_row))
            for name, heads in types.items():
                yield Measure("divergence", task, quantity, f"to {name}", to(heads, of_row), about=name)


PAIRS = Result(
    "results/divergence/{model}/{task}.h5",
    "extract_text_features",
    "how differently heads attend",
    of=lambda plan: plan.texts,
    name="divergence",
    content="for tasks of text: `divergence` float64 [head, head], the Jensen-Shannon divergence of all pairs "
    "of heads, layer by layer, summed over the rows of all segments, in nats; `norms`, where "
    "norms are read: the same of [norms](../understand/method.md#norms); `rows`, `layers`, and `sample_id` of "
    "each segment",
)
_projected = partial(
    Result,
    rule="project_heads",
    about="heads in two dimensions, by how differently they attend",
    of=lambda plan: plan.texts,
)
PROJECTION = _projected(
    "results/divergence/{model}/{task}.projection.csv",
    name="projection",
    content="for each head: `layer`, `head`, and its `x` and `y` in two dimensions, by metric scaling of "
    "the divergences",
)
PROJECTION_FIT = _projected(
    "results/divergence/{model}/{task}.projection.json",
    name="projection_fit",
    content="how well the projection fits (`stress`, `correlation`), and whether heads of one layer are more alike: "
    "the mean divergence of a row `within` layers and `between` them, and `low`, `high` and `p` by "
    "permutation",
)


@stage(calls="analyses.divergence.projection:run", inputs=(PAIRS,))
def project_heads(plan: Plan, model: str, task: str) -> dict:
    return {"seed": plan.seed("project_heads", model, task)}


DIVERGENCE = Analysis(
    "divergence",
    "divergence from other heads (nats)",
    section="Heads and types",
    files=(PAIRS,),
    results=(PAIRS, PROJECTION, PROJECTION_FIT),
    stages=(project_heads,),
    per_pair=per_pair,
    per_set=per_set,
    line=lambda quantity, statistic: statistic + ", by norms" * quantity.endswith("norms"),
)
