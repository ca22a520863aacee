"""How well probes parse that read the heads of one type alone, and those that read as many random heads."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from headtypes.core.bootstrap import ratio_intervals
from headtypes.core.files import read_json, undamaged


def read_type_probes(path: str | Path) -> dict:
    """Read what `of_types.probe_types` returned, from JSON. Raises `InputError` that names a damaged file."""
    found = read_json(path)
    with undamaged(path, "holds no probes of types"):
        words = len(found["words"])
        of_sets = [each for of_type in found["types"].values() for each in of_type["right"] + of_type["random"]]
        if any(len(of_set) != words for of_set in of_sets):
            raise ValueError("its sentences are not those of all probes")
        return found


class TypeScore(NamedTuple):
    """Unlabelled attachment scores in percent of probes on the heads of one type, and on random heads.

    uas, low, high: mean over the random starts, with its 95 % interval over sentences.
    draws: [draw] of the draws of random heads.
    """

    uas: float
    low: float
    high: float
    draws: np.ndarray


def score_type_probes(probes: dict, *, seed: int) -> dict[str, TypeScore]:
    """The scores by type; probes: as `of_types.probe_types` returned them."""
    words = np.array(probes["words"], dtype=float)
    names = list(probes["types"])
    own = np.stack([np.mean(probes["types"][name]["right"], axis=0) for name in names], axis=1)
    low, high = ratio_intervals(own, np.repeat(words[:, None], len(names), axis=1), seed=seed)
    drawn = [100 * np.sum(probes["types"][name]["random"], axis=1) / words.sum() for name in names]
    scores = zip(100 * own.sum(0) / words.sum(), 100 * low, 100 * high, strict=True)
    return {
        name: TypeScore(*map(float, of_type), draws) for name, of_type, draws in zip(names, scores, drawn, strict=True)
    }
