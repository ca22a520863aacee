"""A model's answers and scores while heads, or as many random ones, are ablated, and the mean outputs of heads."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from jaxtyping import Bool, Float32
from torch import Tensor

from headtypes.analyses.types.partitions import Partition, read_partition
from headtypes.attention.ablate import Ablation
from headtypes.attention.hook import Batch, run_batches
from headtypes.attention.one_pass import ModelOnTask
from headtypes.attention.operations import Reading, operations_by_head, reading_matters
from headtypes.attention.reducers import Block, Pass, Reducer
from headtypes.core.errors import InputError
from headtypes.core.files import StrPath, write_json
from headtypes.core.hdf5_files import read_arrays, write_arrays
from headtypes.core.progress import progress
from headtypes.core.table_files import write_parquet
from headtypes.data.answering import Answers, load_for
from headtypes.data.tasks import KINDS, Sample, Scored, check_same, read_records, read_rows
from headtypes.data.windows import Windows, draw_part, read_windows
from headtypes.models.records import ModelRecord, read_model_record


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings by which a task is evaluated under any condition.

    kind: kind of task, such as `question_answering`. precision: of the model, such as `float32`. batch_tokens: most
    tokens of a batch, with padding. reading: {field of `operations.Reading`: value}, what the paper leaves open; None
    for the default. max_answer_length: tokens of the longest answer, for kinds of tasks with spans as answers.
    max_seq_length: tokens of a full window, if padding counts (`Reading.uniform_over_padding`).
    """

    kind: str
    precision: str
    batch_tokens: int
    reading: dict | None = None
    max_answer_length: int | None = None
    max_seq_length: int | None = None


class Asked(NamedTuple):
    """A task's rows (questions, pairs or documents), their windows, and the model that answers.

    windows: the rows as cut for this model. partition: the types of the model's heads. record: the model's record.
    head_outputs: mean outputs of heads, [layer, head, channel], for the operation `mean`.
    """

    rows: list
    windows: Windows
    partition: Partition
    record: ModelRecord
    head_outputs: np.ndarray | None = None


def evaluate_condition(asked: Asked, *, condition: str, operations: dict[str, str], **settings) -> Scored:
    """Return (answers, scores): a model's answers to a task while heads are ablated, and the scores of the answers.

    asked: the task, the model and its partition. condition: its name, for messages. operations: {type of the partition,
        or head as `layer-head` from 1: operation}. settings: the fields of `Settings`, such as batch_tokens.
    answers: {id: answer text or predicted label}. scores: a table with a row for each question, pair or document.
    """
    rows, windows, partition, record, head_outputs = asked
    by_head = operations_by_head(partition.type_of, operations, f"conditions.{condition}")
    evaluator = Evaluator(rows, windows, record, head_outputs, Settings(**settings))
    (evaluated,) = evaluator.evaluate([by_head], f"{record.name}, {condition}")
    return evaluated


class Evaluator:
    """A model, loaded once, that answers a task's questions, pairs or documents under any operations on its heads.

    rows, windows: questions, pairs or documents, and their windows. head_outputs: mean outputs of heads, [layer, head,
        channel], for the operation `mean`. gold: whether scores include the cross entropy of the right answer, in nats.
    Raises `InputError` if the model cannot answer the rows, or takes fewer tokens than the windows are padded to.
    """

    def __init__(
        self,
        rows: list,
        windows: Windows,
        record: ModelRecord,
        head_outputs: np.ndarray | None,
        settings: Settings,
        *,
        gold: bool = False,
    ):
        self._reading = Reading(**settings.reading or {})
        if self._reading.uniform_over_padding and settings.max_seq_length > record.max_length:
            raise InputError(
                f"models.{record.name} takes inputs of at most {record.max_length} tokens, but with "
                f"uniform_over_padding every window is padded to {settings.max_seq_length}; "
                "lower windows.max_seq_length."
            )
        kind = KINDS[settings.kind]
        self.model = load_for(record, settings.precision, settings.kind)
        check_same(rows, windows)
        # Also where they are not used: a label that the model lacks is told before it runs.
        targets = kind.answer_targets(rows, windows, record)
        self._rows, self._windows, self._record = rows, windows, record
        self._head_outputs, self._settings = head_outputs, settings
        depends_on = {key: getattr(settings, key) for key in kind.answer_keys}
        self._answers = Answers(settings.kind, windows, targets if gold else None, **depends_on)

    def evaluate(self, sets: Sequence[np.ndarray], what: str) -> list[Scored]:
        """Return a pair (answers, scores) for each of several sets of operations on heads.

        sets: for each the operation on each head, [layer, head] text, `keep` for none. what: name in the progress bar.
        answers: {id: answer text or predicted label}. scores: a table with a row for each question, pair or document.
        If padding counts for an operation of any set, the windows of all sets are padded to `Settings.max_seq_length`.
        """
        ids, types, sentences = self._windows.texts
        answers, settings, reading = self._answers, self._settings, self._reading
        distinct = {tuple(operations.flat): operations for operations in sets}
        tables: dict[tuple, list[pd.DataFrame]] = {key: [] for key in distinct}
        counts = reading.uniform_over_padding and "uniform_over_padding" in reading_matters(set().union(*distinct))

        def run_batch(batch: Batch, forward: Callable[[Ablation], Any]) -> None:
            of_batch, read = [sentences[window] for window in batch.samples], []
            answers.start(batch.samples)
            for operations in distinct.values():
                hook = Ablation(operations, of_batch, reading, self._head_outputs)
                values = answers.read(forward(hook), of_batch, batch.inputs)
                read.append(pd.DataFrame({"window": batch.samples, **values}))
            for batches, table in zip(tables.values(), read, strict=True):
                batches.append(table)

        with answers.attached(self.model), progress(len(distinct) * len(ids), what, "windows") as bar:
            run_batches(
                *(self.model, ids, types, run_batch),
                batch_tokens=answers.batch_tokens(settings.batch_tokens, self.model.config.vocab_size),
                bar=bar,
                length=settings.max_seq_length if counts else None,
            )
        scored = {}
        for key, batches in tables.items():
            read = pd.concat(batches).set_index("window").sort_index()
            scored[key] = answers.scored(self._rows, self._windows, self._record, read)
        return [scored[tuple(operations.flat)] for operations in sets]


def _read_asked(inputs: Any, kind: str) -> Asked:
    return Asked(
        read_rows(inputs.questions, kind),
        read_windows(inputs.windows),
        read_partition(inputs.partition),
        read_model_record(inputs.model),
        read_head_outputs(inputs.head_outputs),
    )


def write_scores(path: StrPath, scores: pd.DataFrame, provenance: dict) -> None:
    scores.attrs["provenance"] = provenance
    write_parquet(path, scores)


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    predictions, scores = evaluate_condition(_read_asked(inputs, spec["kind"]), **spec)
    write_json(outputs.predictions, predictions)
    write_scores(outputs.per_question, scores, provenance)
    write_json(outputs.metrics, {**KINDS[spec["kind"]].mean_scores(scores), "provenance": provenance})


@dataclass(frozen=True)
class HeadOutputs:
    """The content of a file with each head's output, averaged over tokens: [layer, head, channel]."""

    head_output: Float32[np.ndarray, "layer head channel"]


def read_head_outputs(path: StrPath | None) -> np.ndarray | None:
    return read_arrays(path, HeadOutputs).head_output if path else None


class MeanHeadOutputs(Reducer):
    """A reducer of heads' outputs before the output projection, means over real tokens, [layer, head, channel]."""

    reads_attention = False
    fault = "the output of head {} is not finite"

    def begin(self, about: Pass) -> None:
        self._total, self._tokens = 0.0, 0

    def start(self, batch: Batch) -> None:
        self._batch = batch
        self._layers: dict[int, list[Tensor]] = {}

    def add(self, block: Block) -> None:
        sums = [outputs.sum(1, dtype=torch.float64) for outputs in block.outputs]
        self._layers.setdefault(block.layer, []).extend(sums)

    def right(self) -> Bool[Tensor, "1 layer head channel"]:
        self._sums = torch.stack([torch.stack(sums).sum(0) for sums in self._layers.values()])
        return self._sums.isfinite()[None]

    def finish(self) -> None:
        self._total = self._total + self._sums.cpu().numpy()
        self._tokens += sum(self._batch.lengths)

    def result(self) -> np.ndarray:
        return (self._total / self._tokens).astype(np.float32)


def measure_head_outputs(samples: list[Sample], record: ModelRecord, *, kind: str, **settings) -> np.ndarray:
    run = ModelOnTask(record, **settings)
    (means,) = run.read(run.encode(samples, kind), MeanHeadOutputs())
    return means


def run_head_outputs(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    head_outputs = measure_head_outputs(read_records(inputs.samples, Sample), read_model_record(inputs.model), **spec)
    write_arrays(outputs.head_outputs, HeadOutputs(head_outputs), provenance)


def overlap(drawn: np.ndarray, operations: np.ndarray) -> float:
    return float((drawn == operations)[operations != "keep"].mean())


# Each draw changes as many random heads of each layer as the condition; more draws leave the first ones as they are.
def evaluate_controls(
    asked: Asked, *, condition: str, operations: dict[str, str], draws: int, questions: int | str, seed: int, **settings
) -> pd.DataFrame:
    rows, windows, partition, record, head_outputs = asked
    by_head = operations_by_head(partition.type_of, operations, f"conditions.{condition}")
    rows, windows = draw_part(rows, windows, questions, seed)
    drawn = [np.random.default_rng([seed, draw]).permuted(by_head, axis=1) for draw in range(draws)]
    evaluator = Evaluator(rows, windows, record, head_outputs, Settings(**settings))
    scored = [scores for _, scores in evaluator.evaluate(drawn, f"{record.name}, controls of {condition}")]
    tables = [scores.assign(overlap=overlap(heads, by_head)) for heads, scores in zip(drawn, scored, strict=True)]
    return pd.concat(tables, keys=range(draws), names=["draw"]).reset_index("draw").reset_index(drop=True)


def run_controls(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    write_scores(outputs.scores, evaluate_controls(_read_asked(inputs, spec["kind"]), **spec), provenance)
