"""What heads of several models do on the same inputs: the shares of attention that are known of all of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from headtypes.analyses.distances.columns import SELF_AND_SPECIAL
from headtypes.analyses.distances.results import read_head_features
from headtypes.analyses.registry import ANALYSES
from headtypes.core.errors import InputError

_ALIGNING = {it.name: it for it in ANALYSES if it.aligns}
# What the distance feature has by itself, in words; and what would say it once more, or not where a head looks.
_TOKENS = {"self": "to itself", "cls": "to [CLS]", "sep": "to [SEP]", "comma": "to commas", "period": "to periods"}
_SAID = {"self", "cls", "sep", "punctuation", "peak"}


@dataclass(frozen=True)
class Profiles:
    """The heads of some models, and the profile of each.

    heads:   model, and layer and head from 0; a row for each head.
    shares:  [head, column] of its attention, from 0 to 1.
    columns: what each is the share of, in words.
    """

    heads: pd.DataFrame
    shares: np.ndarray
    columns: list[str]


def read_profiles(
    features: Mapping[str, str | Path],
    further: Mapping[str, Mapping[str, str | Path]],
    *,
    task: str,
    distance_bins: int,
    first_token: bool,
) -> Profiles:
    """The distance feature of each head (Guan et al. 2020, section 3), and its further shares that all models have.

    features: of each model; further: by analysis that aligns heads, its file of each model.
    distance_bins, first_token: as in the configuration, under clustering.
    Raises `InputError` that names a damaged file, or one that is of other heads than the model's features.
    """
    heads, parts, shared = [], [], None
    for model, path in features.items():
        shares, (layers, per_layer) = read_head_features(path, distance_bins, first_token)
        layer, head = (index.ravel() for index in np.indices((layers, per_layer)))
        heads.append(pd.DataFrame({"model": model, "layer": layer, "head": head}))
        bins = [f"in distance bin {number} of {distance_bins}" for number in range(distance_bins)]
        columns = dict(zip([*bins, *(_TOKENS[kind] for kind in SELF_AND_SPECIAL)], shares.T, strict=True))
        for name, files in further.items():
            columns |= _further(name, task, files[model])
        if any(len(values) != len(head) for values in columns.values()):
            raise InputError(f"{path} is of {len(head)} heads, and other results of {model} are not; delete it.")
        parts.append({name: values for name, values in columns.items() if np.isfinite(values).all()})
        shared = [name for name in (parts[0] if shared is None else shared) if name in parts[-1]]
    values = np.concatenate([np.stack([part[name] for name in shared], axis=1) for part in parts])
    return Profiles(pd.concat(heads, ignore_index=True), values, shared)


def _further(name: str, task: str, path: str | Path) -> dict[str, np.ndarray]:
    analysis = _ALIGNING[name]
    columns = [it for it in analysis.per_head(task, path) if it.unit == "%"]
    new = [it for it in columns if it.key.rpartition(".")[2] not in {*analysis.repeats, *_SAID}]
    return {it.label: np.asarray(it.values, dtype=float) / 100 for it in new}
