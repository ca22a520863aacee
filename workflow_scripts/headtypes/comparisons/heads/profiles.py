"""What heads of several models do on the same inputs, in shares: those that are known of all of them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from headtypes.analyses.declaration import Analysis, Files
from headtypes.analyses.distances.columns import SELF_AND_SPECIAL
from headtypes.analyses.distances.results import read_head_features
from headtypes.analyses.registry import ANALYSES
from headtypes.core.errors import InputError
from headtypes.core.files import StrPath

# What the distance feature has by itself, in words; and what would say it once more, or not where a head looks.
_TOKENS = {"self": "to itself", "cls": "to [CLS]", "sep": "to [SEP]", "comma": "to commas", "period": "to periods"}
_SAID = {"self", "cls", "sep", "punctuation", "peak"}


@dataclass(frozen=True)
class Profiles:
    """The heads of some models, and the profile of each.

    heads:   model, and layer and head from 0; a row for each head.
    shares:  [head, column], from 0 to 1.
    columns: what each is the share of, in words.
    alone:   how many of the last columns are each a share by itself; the others are of attention on the same samples.
    """

    heads: pd.DataFrame
    shares: np.ndarray
    columns: list[str]
    alone: int = 0


def read_profiles(
    features: Mapping[str, StrPath],
    measured: Mapping[str, Files],
    *,
    task: str,
    distance_bins: int,
    first_token: bool,
) -> Profiles:
    """The distance feature of each head (Guan et al. 2020, section 3), and whatever else is known of all models' heads.

    features: of each model, on the task; measured: the files of each analysis that aligns heads, by the file's name.
    distance_bins, first_token: as in the configuration, under clustering.
    Raises `InputError` that names a damaged file, or one that is of other heads than the model's features.
    """
    heads, parts, shared, alone = [], [], None, set()
    for model, path in features.items():
        shares, (layers, per_layer) = read_head_features(path, distance_bins, first_token)
        layer, head = (index.ravel() for index in np.indices((layers, per_layer)))
        heads.append(pd.DataFrame({"model": model, "layer": layer, "head": head}))
        bins = [f"in distance bin {number} of {distance_bins}" for number in range(distance_bins)]
        columns = dict(zip([*bins, *(_TOKENS[kind] for kind in SELF_AND_SPECIAL)], shares.T, strict=True))
        for analysis, of_task, files in _read_by(measured):
            found = _shares(analysis, of_task, [of_file[model, of_task] for of_file in files])
            columns |= found
            alone |= found.keys() if analysis.aligned else set()
        if any(len(values) != len(head) for values in columns.values()):
            raise InputError(f"{path} is of {len(head)} heads, and other results of {model} are not; delete it.")
        parts.append({name: values for name, values in columns.items() if np.isfinite(values).all()})
        shared = [name for name in (parts[0] if shared is None else shared) if name in parts[-1]]
    values = np.concatenate([np.stack([part[name] for name in shared], axis=1) for part in parts])
    return Profiles(pd.concat(heads, ignore_index=True), values, shared, sum(name in alone for name in shared))


def _read_by(measured: Mapping[str, Files]) -> Iterator[tuple[Analysis, str, list[Files]]]:
    """Each analysis that aligns heads, with each task that it is known on, those of further attention first."""
    for analysis in sorted(ANALYSES, key=lambda it: it.aligned is not None):
        if analysis.is_aligned:
            files = [measured.get(file.name, {}) for file in analysis.files]
            yield from ((analysis, task, files) for task in dict.fromkeys(task for _, task in files[0]))


def _shares(analysis: Analysis, task: str, paths: list[StrPath]) -> dict[str, np.ndarray]:
    columns = (analysis.aligned or analysis.per_head)(task, *paths)
    if analysis.extends_features:
        said = {*analysis.repeats, *_SAID}
        columns = [it for it in columns if it.unit == "%" and it.key.rpartition(".")[2] not in said]
    return {it.label: np.asarray(it.values, dtype=float) / 100 for it in columns}
