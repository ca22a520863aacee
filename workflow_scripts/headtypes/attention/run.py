"""The one way from a fetched model and the samples of a task to what reducers read of its heads."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from typing import Any

from transformers import PreTrainedModel, PreTrainedTokenizerFast

from headtypes.attention.one_pass import read_attention
from headtypes.attention.reducers import Reducer
from headtypes.data.encoding import Encoded, encode_samples
from headtypes.data.records import Sample
from headtypes.models.fetching import load_tokenizer
from headtypes.models.loading import load_model
from headtypes.models.records import ModelRecord


class ModelOnTask:
    """A fetched model that reads samples of a task; it is loaded when it is first needed.

        run = ModelOnTask(record, task="squad", precision="float32", batch_tokens=4096)
        encoded = run.encode(samples, kind="question_answering")
        (entropy,) = run.read(encoded, Entropy())

    what:    model and task, for progress and messages.
    longest: tokens of the longest sample that is read; record: the model's.
    """

    def __init__(
        self,
        record: ModelRecord,
        *,
        task: str,
        precision: str,
        batch_tokens: int = 1,
        max_seq_length: int | None = None,
        head: str | None = None,
    ):
        """Name a model and a task; the model is loaded when it is first needed.

        precision: float32, bfloat16 or float16, of the forward pass; head: one of `loading.HEADS`, or None.
        batch_tokens: padded tokens of a batch; by default each sample is one. max_seq_length: most tokens of a sample.
        """
        self.what = f"{record.name} on {task}"
        self.longest = min(record.max_length, max_seq_length or record.max_length)
        self.batch_tokens = batch_tokens
        self.record, self._precision, self._head = record, precision, head

    @cached_property
    def tokenizer(self) -> PreTrainedTokenizerFast:
        return load_tokenizer(self.record)

    @cached_property
    def model(self) -> PreTrainedModel:
        """The model itself; errors as those of `loading.load_model`."""
        return load_model(self.record, self._precision, self._head)

    def encode(self, samples: list[Sample], kind: str) -> Encoded:
        """Encode samples as the model reads them; arguments and errors as those of `encoding.encode_samples`."""
        return encode_samples(samples, self.tokenizer, kind, self.longest)

    def read(self, encoded: Encoded, *reducers: Reducer, batch_tokens: int | None = None) -> list[Any]:
        """Return the result of each reducer in one pass; errors as those of `one_pass.read_attention`.

        batch_tokens: padded tokens of a batch, if not those of the run.
        """
        batch_tokens = batch_tokens or self.batch_tokens
        return read_attention(self.model, encoded, reducers, batch_tokens=batch_tokens, what=self.what)


@dataclass(frozen=True)
class Measurement:
    """The part of one analysis in a pass that several share.

    reducers: (run, encoded, norms) -> the reducers that it needs; none where the model cannot be read so.
    result:   (run, samples, encoded, results of the reducers) -> its result.
    """

    reducers: Callable[[ModelOnTask, Encoded, bool], Sequence[Reducer]]
    result: Callable[[ModelOnTask, list[Sample], Encoded, list[Any]], Any]

    def __call__(self, run: ModelOnTask, samples: list[Sample], *, kind: str, norms: bool = False) -> Any:
        (result,) = read_samples(run, samples, kind, [self], norms)
        return result


def read_samples(
    run: ModelOnTask, samples: list[Sample], kind: str, measurements: Sequence[Measurement], norms: bool = False
) -> list[Any]:
    """Return the result of each measurement, from one forward pass for each batch.

    kind: how samples are encoded, as in `encoding.encode_samples`; norms: whether norms are read beside weights.
    """
    encoded = run.encode(samples, kind)
    reducers = [list(each.reducers(run, encoded, norms)) for each in measurements]
    together = list(chain.from_iterable(reducers))
    read = iter(run.read(encoded, *together) if together else ())
    return [
        each.result(run, samples, encoded, list(islice(read, len(own))))
        for each, own in zip(measurements, reducers, strict=True)
    ]
