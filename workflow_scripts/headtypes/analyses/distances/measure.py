"""Distance features of every head on every sample, reduced while the model runs."""

from collections.abc import Sequence
from itertools import chain

import numpy as np

from headtypes.analyses.distances.columns import lacks_cls, split
from headtypes.analyses.distances.cross import AlignedDistances
from headtypes.analyses.distances.reducer import DistanceFeatures
from headtypes.analyses.distances.results import SHARES, Features, merge_features, write_features
from headtypes.attention.reducers import Reducer
from headtypes.attention.run import ModelOnTask
from headtypes.core.files import StrPath
from headtypes.data.encoding import Encoded
from headtypes.data.records import Sample
from headtypes.models.records import ModelRecord


def write_task_features(
    path: StrPath,
    samples: list[Sample],
    record: ModelRecord,
    parts: Sequence[StrPath],
    provenance: dict,
    **settings,
) -> None:
    """Write the features of a model on all samples: merge the parts or, where there are none, extract them now.

    parts: files of the features of each `attention.batches.Part`; provenance, settings: of
        `distances.results.write_features` and `extract_features`.
    """
    if parts:
        merge_features(path, [sample.id for sample in samples], parts, provenance)
    else:
        write_features(path, extract_features(samples, record, **settings), provenance)


def extract_features(
    samples: list[Sample], record: ModelRecord, *, kind: str, norms: bool = False, **settings
) -> Features:
    """Run a model over samples and read the distance features of all its heads (Guan et al. 2020, section 3).

    kind: of task, which says how its samples are cut; norms: whether the features of norms are read as well;
        settings: of `ModelOnTask`. The features are those of its part's samples, in the order drawn.
    """
    run = ModelOnTask(record, **settings)
    encoded = run.encode(samples, kind)
    read = run.samples_read(encoded)
    return Features(
        length=np.array(encoded.lengths, dtype=np.int32)[read],
        truncated=encoded.truncated[read],
        sample_ids=[samples[index].id for index in read],
        **shares_of(run.read(encoded, *reducers_of(encoded, norms, record.attention == "cross"))),
    )


def reducers_of(encoded: Encoded, norms: bool, cross: bool = False) -> list[Reducer]:
    """The reducers that read the shares of `Features`: those of weights and, if wanted, those of norms.

    cross: whether cross-attention is read.
    """
    first, make = lacks_cls(encoded.kinds), AlignedDistances if cross else DistanceFeatures
    return [make(encoded.kinds, first, of) for of in list(SHARES)[: 1 + norms]]


def shares_of(found: list[np.ndarray]) -> dict[str, np.ndarray | None]:
    """What `reducers_of` read, by the names that it has in `Features`."""
    return dict(zip(chain(*SHARES.values()), chain(*map(split, found)), strict=False))
