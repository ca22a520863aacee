"""Surface patterns, as an analysis: its result, and what of it is shown where."""

from collections.abc import Iterator
from itertools import product
from typing import Any

from headtypes.analyses.declaration import Analysis, Column, summaries
from headtypes.core.files import StrPath
from headtypes.core.stage import Result

# What each column is called in the atlas, and its unit.
LABELS = {
    "self": ("to the token itself", "%"),
    "previous": ("to the previous token", "%"),
    "next": ("to the next token", "%"),
    "cls": ("to [CLS]", "%"),
    "sep": ("to [SEP]", "%"),
    "punctuation": ("to comma and period", "%"),
    "special": ("to [CLS], [SEP], comma and period", "%"),
    "sep_to_sep": ("from [SEP] to [SEP]", "%"),
    "other_to_sep": ("from other tokens to [SEP]", "%"),
    "entropy": ("entropy", "nats"),
    "entropy_cls": ("entropy of [CLS]", "nats"),
    "peak": ("largest weight of a row", "%"),
    "first": ("to the first token", "%"),
}
# Positions at which the best head is named.
_POSITIONS = ("previous", "next", "self")
BY_NORMS = " Of each row's norms, what tokens hand over (Kobayashi et al. 2020)."


def _read(path: StrPath) -> Any:
    from headtypes.analyses.surface.measure import Surface
    from headtypes.core.hdf5_files import read_arrays

    return read_arrays(path, Surface)


def per_head(task: str, path: StrPath) -> list:
    import numpy as np

    surface, columns = _read(path), []
    note = "Mean over segments (Clark et al. 2019, section 3)."
    for of, (name, (label, unit)) in product(surface.read, LABELS.items()):
        values = surface.mean(name, of).ravel()
        if np.isnan(values).all():
            continue
        share, by_norms = unit == "%", of == "norms"
        columns.append(
            Column(
                f"surface.{task}.{name}" + "_by_norms" * by_norms,
                f"{label}, by norms" if by_norms else label,
                f"Surface patterns on {task}",
                values * (100 if share else 1),
                unit,
                note=(note if share else f"{note} 0: a single token.") + (BY_NORMS if by_norms else ""),
            )
        )
    return columns


def best_at(task: str, path: StrPath) -> Iterator[dict]:
    import numpy as np

    surface = _read(path)
    for name in _POSITIONS:
        shares = 100 * surface.mean(name)
        if not np.isnan(shares).all():
            layer, head = np.unravel_index(np.nanargmax(shares), shares.shape)
            value, at = shares[layer, head], f"attention {LABELS[name][0]}"
            yield {"layer": layer, "head": head, "at": at, "value": value, "above": None}


def per_set(task: str, path: StrPath, types: Any, seed: int) -> Iterator:
    import numpy as np

    from headtypes.core.statistics import mean_intervals

    surface = _read(path)
    for of, name in product(surface.read, LABELS):
        by_sample = surface.column(name, of).reshape(len(surface.length), -1).astype(float)

        def interval(chosen: np.ndarray, by_sample: np.ndarray = by_sample) -> tuple[float, float]:
            possible = by_sample[:, chosen]
            possible = possible[:, ~np.isnan(possible).all(0)]
            if not possible.size or np.isnan(possible).any():
                return np.nan, np.nan
            low, high = mean_intervals(possible.mean(1))
            return float(low), float(high)

        quantity = name + "_by_norms" * (of == "norms")
        yield from summaries("surface", task, quantity, surface.mean(name, of), interval)


PATTERNS = Result(
    "results/surface/{model}/{task}.h5",
    "extract_text_features",
    "attention to positions and kinds of tokens, and its entropy",
    of=lambda plan: plan.texts,
    name="surface",
    content="for tasks of text: `surface` float32 [segment, layer, head, 13] with the columns in `column`, the "
    "shares of attention to positions and kinds of tokens, and entropies in nats: self, previous, next, "
    "cls, sep, punctuation, special, sep_to_sep, other_to_sep, entropy, entropy_cls, peak, first; NaN "
    "where the model cannot have them; `norms`, where norms are read: the same of "
    "[norms](../understand/method.md#norms); `uniform` [segment, layer], the entropy of uniform attention; "
    "`length` and `sample_id` of each segment",
)
SURFACE = Analysis(
    "surface",
    "where attention goes (mean of the heads)",
    section="Heads and types",
    files=(PATTERNS,),
    results=(PATTERNS,),
    per_head=per_head,
    best=best_at,
    per_set=per_set,
    repeats=("first", "special", "first_by_norms", "special_by_norms"),
)
