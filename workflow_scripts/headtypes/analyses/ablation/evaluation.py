"""A model's answers and scores while heads are ablated."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd
import torch
from tqdm import tqdm

from headtypes.analyses.ablation.results import read_head_outputs, write_scores
from headtypes.analyses.types.partitions import Partition, read_partition
from headtypes.attention.ablate import Ablation
from headtypes.attention.batches import Batch, run_batches
from headtypes.attention.operations import Reading, operations_by_head, reading_matters
from headtypes.attention.shared_layers import shared_layers
from headtypes.core.errors import InputError
from headtypes.core.files import StrPath, write_json
from headtypes.core.progress import progress
from headtypes.data.answering import Answers, load_for
from headtypes.data.kinds.protocol import Scored
from headtypes.data.kinds.registry import KINDS, read_rows
from headtypes.data.windows import Windows, read_windows
from headtypes.models.records import ModelRecord, read_model_record


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a task is evaluated, whatever is done to the heads.

    kind: of the task, one that models answer. precision, batch_tokens: arithmetic of the forward pass, and padded
    tokens of a batch. reading: fields of `operations.Reading`. max_answer_length: tokens of the longest answer, where a
    kind has such. max_seq_length: tokens of a full window, where padding counts (`Reading.uniform_over_padding`).
    """

    kind: str
    precision: str
    batch_tokens: int
    reading: dict | None = None
    max_answer_length: int | None = None
    max_seq_length: int | None = None

    @property
    def chosen_reading(self) -> Reading:
        """The reading with the defaults of the fields that are not given."""
        return Reading(**self.reading or {})


def evaluate_condition(
    rows: list,
    windows: Windows,
    partition: Partition,
    record: ModelRecord,
    head_outputs: np.ndarray | None = None,
    *,
    condition: str,
    operations: dict[str, str],
    **settings,
) -> Scored:
    """Answer questions, classify pairs, predict texts or choose, while some heads are ablated, and score the answers.

    rows, windows: questions, pairs or documents as drawn, and as cut for this model (`Kind.cut_windows`).
    partition: the type of every head. record: the model; it needs the task's head.
    head_outputs: as `head_outputs.measure_head_outputs` returns them, for the operations that need them.
    condition: its name, for messages. operations: {target: operation}, as `operations_by_head` reads them.
    settings: fields of `Settings`.
    returns id -> answer text or predicted label, and one row per question, pair or document with its scores, both as
        `Kind.score_answers` gives them.
    """
    by_head = operations_by_head(partition.type_of, operations, f"conditions.{condition}")
    chosen, what = Settings(**settings), f"{record.name}, {condition}"
    (evaluated,) = evaluate_all(rows, windows, record, [by_head], head_outputs, chosen, what)
    return evaluated


def evaluate_all(
    rows: list,
    windows: Windows,
    record: ModelRecord,
    wanted: Sequence[np.ndarray],
    head_outputs: np.ndarray | None,
    settings: Settings,
    what: str,
) -> list[Scored]:
    """Evaluate a model under several sets of operations, [layer, head] each, loading it once; as `evaluator`."""
    sets = len({tuple(operations.flat) for operations in wanted})
    with evaluator(rows, windows, record, head_outputs, settings, what, sets) as evaluate:
        return evaluate(wanted)


@contextmanager
def evaluator(
    rows: list,
    windows: Windows,
    record: ModelRecord,
    head_outputs: np.ndarray | None,
    settings: Settings,
    what: str,
    sets: int,
) -> Iterator[Callable[[Sequence[np.ndarray]], list[Scored]]]:
    """Load a model once, to evaluate it under sets of operations that may depend on what earlier ones gave.

    what, sets: name of the work and most sets, for the progress.
    yields a function of several [layer, head] operations, which returns what `evaluate_condition` returns for each;
        what was evaluated before is not evaluated again. The more sets it gets at once, the more layers they share.
    """
    if settings.chosen_reading.uniform_over_padding and settings.max_seq_length > record.max_length:
        raise InputError(
            f"models.{record.name} takes inputs of at most {record.max_length} tokens, but with "
            f"uniform_over_padding every window is padded to {settings.max_seq_length}; "
            "lower windows.max_seq_length."
        )
    model, results = load_for(record, settings.precision, settings.kind), {}
    KINDS[settings.kind].check_answerable(rows, windows, record)
    with progress(sets * len(windows), what, "windows") as bar:

        def evaluate(wanted: Sequence[np.ndarray]) -> list[Scored]:
            distinct = {tuple(operations.flat): operations for operations in wanted}
            # In this order, neighbours have the most first layers in common.
            keys = sorted((_full_window(distinct[key], settings), key) for key in distinct.keys() - results.keys())
            for _, equally_long in groupby(keys, itemgetter(0)):
                some = [key for _, key in equally_long]
                read = _read(model, windows, [distinct[key] for key in some], head_outputs, settings, what, bar)
                for key, answers in zip(some, read, strict=True):
                    values = tuple(column.to_numpy() for _, column in answers.items())
                    results[key] = KINDS[settings.kind].score_answers(rows, windows, record, values)
            return [results[tuple(operations.flat)] for operations in wanted]

        yield evaluate


def _read(
    model: torch.nn.Module,
    windows: Windows,
    sets: Sequence[np.ndarray],
    head_outputs: np.ndarray | None,
    settings: Settings,
    what: str,
    bar: tqdm | None = None,
) -> list[pd.DataFrame]:
    """What the task reads from each window under sets of operations of one `_full_window`: a table of each set."""
    ids, types, sentences = windows.texts
    depends_on = {key: getattr(settings, key) for key in KINDS[settings.kind].answer_keys}
    answers = Answers(settings.kind, windows, **depends_on)
    tables: list[list[pd.DataFrame]] = [[] for _ in sets]

    def run_batch(batch: Batch, shown: tqdm) -> None:
        of_batch = [sentences[window] for window in batch.samples]
        answers.start(batch.samples)
        hooks = (Ablation(operations, of_batch, settings.chosen_reading, head_outputs) for operations in sets)
        read = []
        for output in run_passes(batch.inputs, hooks):
            values = dict(zip(answers.columns, answers.read(output, of_batch), strict=True))
            read.append(pd.DataFrame({"window": batch.samples, **values}))
            shown.update(len(batch.samples))
        for table, of_set in zip(tables, read, strict=True):
            table.append(of_set)

    with shared_layers(model, sets) as run_passes, answers.attached(model):
        run_batches(
            model,
            ids,
            types,
            run_batch,
            batch_tokens=answers.batch_tokens(settings.batch_tokens, model.config.vocab_size),
            what=what,
            unit="windows",
            bar=bar,
            length=_full_window(sets[0], settings),
        )
    return [pd.concat(table).set_index("window").sort_index() for table in tables]


def _full_window(operations: np.ndarray, settings: Settings) -> int:
    """Tokens that every window is padded to, where padding counts; else 0."""
    matters = "uniform_over_padding" in reading_matters(set(operations.flat))
    return settings.max_seq_length if settings.chosen_reading.uniform_over_padding and matters else 0


def read_answered(questions: StrPath, inputs: Any, kind: str) -> tuple[Sequence, Windows, Partition, ModelRecord]:
    """What a model answers a partition's task from: questions of a kind, their windows, the partition, the record."""
    return (
        read_rows(questions, kind),
        read_windows(inputs.windows),
        read_partition(inputs.partition),
        read_model_record(inputs.model),
    )


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    """The job of the rule `evaluate_condition`."""
    answered = read_answered(inputs.questions, inputs, spec["kind"])
    predictions, scores = evaluate_condition(*answered, read_head_outputs(inputs.head_outputs), **spec)
    write_json(outputs.predictions, predictions)
    write_scores(outputs.per_question, scores, provenance)
    write_json(outputs.metrics, {**KINDS[spec["kind"]].mean_scores(scores), "provenance": provenance})
