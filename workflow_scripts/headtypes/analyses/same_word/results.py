"""The file of attention to the same word."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from jaxtyping import Float32

from headtypes.core.hdf5_files import SampleIds, Stored
from headtypes.core.statistics import mean_of_known

# Where the same word stands: in the other text of a pair, or elsewhere in a word's own text.
PLACES = ("other", "own")


@dataclass(frozen=True)
class SameWord:
    """The attention of words to the same word elsewhere, by each head on every sample, and what chance gives.

    shares: mean over the words that have one, of each of `PLACES`; NaN where no word has. chance: the same of even
        attention. frequent: the words that are left out, since they are frequent.
    """

    shares: Float32[np.ndarray, "sample layer head 2"]
    chance: Float32[np.ndarray, "sample 2"]
    sample_ids: SampleIds
    frequent: Annotated[list[str], Stored("frequent", "word")]

    def mean(self, place: str) -> np.ndarray:
        """Return the mean of each head, [layer, head], over the samples in which some word has the same elsewhere."""
        return mean_of_known(self.shares[..., PLACES.index(place)])

    def mean_chance(self, place: str) -> float:
        return float(mean_of_known(self.chance[:, PLACES.index(place)]))
