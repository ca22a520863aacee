"""What is read of a model's attention on the samples of a task, in one forward pass for all that reads the same inputs.

Each analysis says which reducers it needs and what their results are; `read_samples` runs the model.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from headtypes.attention.reducers import Reducer
from headtypes.attention.run import ModelOnTask
from headtypes.data.encoding import Encoded
from headtypes.data.records import Sample


@dataclass(frozen=True)
class Reading:
    """One analysis in a pass.

    reducers: (run, encoded, norms) -> the reducers that it needs; none where the model cannot be read so.
    result:   (run, samples, encoded, what the reducers read) -> its result.
    """

    reducers: Callable[[ModelOnTask, Encoded, bool], Sequence[Reducer]]
    result: Callable[[ModelOnTask, list[Sample], Encoded, list[Any]], Any]

    def __call__(self, run: ModelOnTask, samples: list[Sample], *, kind: str, norms: bool = False) -> Any:
        """Its result, of a pass of its own; arguments as of `read_samples`."""
        (result,) = read_samples(run, samples, kind, [self], norms)
        return result


def read_samples(
    run: ModelOnTask, samples: list[Sample], kind: str, readings: Sequence[Reading], norms: bool = False
) -> list[Any]:
    """The result of each reading, of one forward pass for each batch.

    kind: how samples are encoded, as in `encoding.encode_samples`; norms: whether norms are read beside weights.
    """
    encoded = run.encode(samples, kind)
    reducers = [list(reading.reducers(run, encoded, norms)) for reading in readings]
    together = list(chain.from_iterable(reducers))
    read = iter(run.read(encoded, *together) if together else ())
    return [
        reading.result(run, samples, encoded, list(islice(read, len(own))))
        for reading, own in zip(readings, reducers, strict=True)
    ]
