"""Distance features of every head on every sample, reduced while the model runs."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from headtypes.analyses.distances.columns import lacks_cls, split
from headtypes.analyses.distances.reducer import DistanceFeatures
from headtypes.analyses.distances.results import Features, join_features, write_features
from headtypes.attention.batches import WHOLE, Part, batched
from headtypes.attention.one_pass import read_attention
from headtypes.data.encoding import encode_samples
from headtypes.data.records import Sample
from headtypes.models.fetching import load_tokenizer
from headtypes.models.loading import load_model
from headtypes.models.records import ModelRecord


def write_task_features(
    path: str | Path,
    samples: list[Sample],
    record: ModelRecord,
    parts: Sequence[str | Path],
    provenance: dict,
    **settings,
) -> None:
    """Write the features of a model on all samples: join the parts or, where there are none, extract them now.

    parts: files of the features of each `attention.batches.Part`; provenance, settings: of
        `distances.results.write_features` and `extract_features`.
    """
    if parts:
        join_features(path, [sample.id for sample in samples], parts, provenance)
    else:
        write_features(path, extract_features(samples, record, **settings), provenance)


def extract_features(
    samples: list[Sample],
    record: ModelRecord,
    *,
    task: str,
    kind: str,
    precision: str,
    batch_tokens: int,
    max_seq_length: int | None = None,
    part: Sequence[int] = WHOLE,
) -> Features:
    """Run a model over samples and read the distance features of all its heads (Guan et al. 2020, section 3).

    record:  the model, as `models.fetching.fetch_model` found it.
    task, kind: name of the task, for progress, and how its samples are cut.
    precision, batch_tokens: arithmetic of the forward pass, and padded tokens of a batch.
    max_seq_length: most tokens of a sample, as in `encoding.encode_samples`.
    part: of the batches, as in `attention.batches.Part`; the features are those of their samples, in the order drawn.
    """
    tokenizer = load_tokenizer(record)
    encoded = encode_samples(samples, tokenizer, kind, record.max_length, max_seq_length)
    (found,) = read_attention(
        load_model(record, precision),
        encoded,
        [DistanceFeatures(encoded.kinds, lacks_cls(encoded.kinds))],
        batch_tokens=batch_tokens,
        what=f"{record.name} on {task}",
        part=Part(*part),
    )
    distance, first = split(found)
    read = batched(encoded.lengths, batch_tokens, Part(*part))
    return Features(
        distance=distance,
        length=np.array(encoded.lengths, dtype=np.int32)[read],
        truncated=encoded.truncated[read],
        sample_ids=[samples[index].id for index in read],
        first=first,
    )
