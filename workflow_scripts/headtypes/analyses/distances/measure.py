"""Distance features of every head on every sample, reduced while the model runs."""

from itertools import chain

import numpy as np

from headtypes.analyses.distances.columns import lacks_cls, split
from headtypes.analyses.distances.reducer import DistanceFeatures
from headtypes.analyses.distances.results import SHARES, Features
from headtypes.analyses.readings import Reading, read_samples
from headtypes.attention.reducers import Reducer
from headtypes.attention.run import ModelOnTask
from headtypes.data.encoding import Encoded
from headtypes.data.records import Sample


def _features(run: ModelOnTask, samples: list[Sample], encoded: Encoded, found: list[np.ndarray]) -> Features:
    return Features(
        length=np.array(encoded.lengths, dtype=np.int32),
        truncated=encoded.truncated,
        sample_ids=[sample.id for sample in samples],
        **shares_of(found),
    )


def reducers_of(encoded: Encoded, norms: bool) -> list[Reducer]:
    """The reducers that read the shares of `Features`: those of weights and, if wanted, those of norms."""
    first = lacks_cls(encoded.kinds)
    return [DistanceFeatures(encoded.kinds, first, of) for of in list(SHARES)[: 1 + norms]]


def shares_of(found: list[np.ndarray]) -> dict[str, np.ndarray | None]:
    """What `reducers_of` read, by the names that it has in `Features`."""
    return dict(zip(chain(*SHARES.values()), chain(*map(split, found)), strict=False))


# The distance features of all heads (Guan et al. 2020, section 3).
DISTANCES_READ = Reading(lambda run, encoded, norms: reducers_of(encoded, norms), _features)


def extract_features(run: ModelOnTask, samples: list[Sample], *, kind: str, norms: bool = False) -> Features:
    """Run a model over samples and read the distance features of all its heads (Guan et al. 2020, section 3).

    kind: of task, which says how its samples are cut; norms: whether the features of norms are read as well.
    """
    (features,) = read_samples(run, samples, kind, [DISTANCES_READ], norms)
    return features
