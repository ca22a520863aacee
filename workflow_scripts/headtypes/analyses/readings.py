"""What is read of a model's attention on the samples of a task, in one forward pass for all that reads the same inputs.

Each analysis says which reducers it needs and what their results are; `read_samples` runs the model.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, Literal

from headtypes.attention.reducers import Reducer
from headtypes.attention.run import ModelOnTask
from headtypes.data.encoding import Encoded
from headtypes.data.records import Sample

Segments = Literal["pair", "zeros"]


@dataclass(frozen=True)
class Reading:
    """One analysis in a pass.

    reducers: (run, encoded, norms) -> the reducers that it needs; none where the model cannot be read so.
    result:   (run, samples, encoded, what the reducers read) -> its result.
    """

    reducers: Callable[[ModelOnTask, Encoded, bool], Sequence[Reducer]]
    result: Callable[[ModelOnTask, list[Sample], Encoded, list[Any]], Any]


def read_samples(
    run: ModelOnTask,
    samples: list[Sample],
    kind: str,
    readings: Sequence[tuple[Reading, Segments]],
    norms: bool = False,
) -> list[Any]:
    """The result of each reading; those of the same segment ids share a forward pass for each batch.

    kind, segment ids: how samples are encoded, as in `encoding.encode_samples`; norms: whether norms are read beside
        weights.
    """
    results: dict[int, Any] = {}
    for segment_ids in dict.fromkeys(segment_ids for _, segment_ids in readings):
        encoded = run.encode(samples, kind, segment_ids)
        chosen = {number: reading for number, (reading, own) in enumerate(readings) if own == segment_ids}
        reducers = {number: list(reading.reducers(run, encoded, norms)) for number, reading in chosen.items()}
        together = list(chain.from_iterable(reducers.values()))
        read = iter(run.read(encoded, *together) if together else ())
        for number, reading in chosen.items():
            results[number] = reading.result(run, samples, encoded, list(islice(read, len(reducers[number]))))
    return [results[number] for number in range(len(readings))]
