"""A model's answers and scores while heads are ablated."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from tqdm import tqdm

from headtypes.analyses.ablation.results import read_head_outputs, write_scores
from headtypes.analyses.types.partitions import Partition, read_partition
from headtypes.attention.ablate import Ablation
from headtypes.attention.batches import Batch, run_batches
from headtypes.attention.hook import run as run_once
from headtypes.attention.operations import Reading, operations_by_head, reading_matters
from headtypes.core.errors import InputError
from headtypes.core.files import StrPath, write_json
from headtypes.core.progress import progress
from headtypes.data.answering import Answers, load_for
from headtypes.data.tasks import KINDS, Scored, read_rows
from headtypes.data.windows import Windows, read_windows
from headtypes.models.records import ModelRecord, read_model_record


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings by which a task is evaluated under any condition.

    kind: of the task, one that models answer. precision, batch_tokens: of the forward pass, and padded tokens of a
        batch.
    reading: fields of `operations.Reading`. max_answer_length: tokens of the longest answer, where a kind has such.
    max_seq_length: tokens of a full window, where padding counts (`Reading.uniform_over_padding`).
    """

    kind: str
    precision: str
    batch_tokens: int
    reading: dict | None = None
    max_answer_length: int | None = None
    max_seq_length: int | None = None

    @property
    def chosen_reading(self) -> Reading:
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
    evaluator = Evaluator(rows, windows, record, head_outputs, Settings(**settings))
    (evaluated,) = evaluator.evaluate([by_head], f"{record.name}, {condition}")
    return evaluated


class Evaluator:
    """A model, loaded once, that answers a task's rows under sets of operations; arguments as of `evaluate_condition`.

    gold: whether the scores have the loss of what is right, too (`answering.GOLD_LOSS`).
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
        if settings.chosen_reading.uniform_over_padding and settings.max_seq_length > record.max_length:
            raise InputError(
                f"models.{record.name} takes inputs of at most {record.max_length} tokens, but with "
                f"uniform_over_padding every window is padded to {settings.max_seq_length}; "
                "lower windows.max_seq_length."
            )
        kind = KINDS[settings.kind]
        self.model = load_for(record, settings.precision, settings.kind)
        kind.check_answerable(rows, windows, record)
        self._about, self._head_outputs, self._settings = (rows, windows, record), head_outputs, settings
        depends_on = {key: getattr(settings, key) for key in kind.answer_keys}
        targets = kind.answer_targets(rows, windows, record) if gold else None
        self._answers = Answers(settings.kind, windows, targets, **depends_on)

    def evaluate(self, sets: Sequence[np.ndarray], what: str) -> list[Scored]:
        """Evaluate sets of operations, [layer, head] each, as `evaluate_condition` does; equal ones once.

        Each batch of windows is made once. If padding counts under one set, windows are padded in full under all.
        what: name of the work, for the progress.
        """
        ids, types, sentences = self._about[1].texts
        answers, settings, reading = self._answers, self._settings, self._settings.chosen_reading
        distinct = {tuple(operations.flat): operations for operations in sets}
        tables: dict[tuple, list[pd.DataFrame]] = {key: [] for key in distinct}
        counts = reading.uniform_over_padding and "uniform_over_padding" in reading_matters(set().union(*distinct))

        def run_batch(batch: Batch, shown: tqdm) -> None:
            of_batch, read = [sentences[window] for window in batch.samples], []
            answers.start(batch.samples)
            for operations in distinct.values():
                hook = Ablation(operations, of_batch, reading, self._head_outputs)
                values = answers.read(run_once(self.model, batch.inputs, hook), of_batch, batch.inputs)
                read.append(pd.DataFrame({"window": batch.samples, **dict(zip(answers.columns, values, strict=True))}))
                shown.update(len(batch.samples))
            for of_set, table in zip(tables.values(), read, strict=True):
                of_set.append(table)

        with answers.attached(self.model), progress(len(distinct) * len(ids), what, "windows") as bar:
            run_batches(
                self.model,
                ids,
                types,
                run_batch,
                batch_tokens=answers.batch_tokens(settings.batch_tokens, self.model.config.vocab_size),
                bar=bar,
                length=settings.max_seq_length if counts else None,
            )
        scored = {
            key: answers.scored(*self._about, pd.concat(of_set).set_index("window").sort_index())
            for key, of_set in tables.items()
        }
        return [scored[tuple(operations.flat)] for operations in sets]


def read_answered(questions: StrPath, inputs: Any, kind: str) -> tuple[Sequence, Windows, Partition, ModelRecord]:
    return (
        read_rows(questions, kind),
        read_windows(inputs.windows),
        read_partition(inputs.partition),
        read_model_record(inputs.model),
    )


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    answered = read_answered(inputs.questions, inputs, spec["kind"])
    predictions, scores = evaluate_condition(*answered, read_head_outputs(inputs.head_outputs), **spec)
    write_json(outputs.predictions, predictions)
    write_scores(outputs.per_question, scores, provenance)
    write_json(outputs.metrics, {**KINDS[spec["kind"]].mean_scores(scores), "provenance": provenance})
