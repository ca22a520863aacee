"""A model's answers and scores while heads are ablated."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from tqdm import tqdm

from headtypes.analyses.types.partitions import Partition
from headtypes.attention.ablate import Ablation
from headtypes.attention.batches import WHOLE, Batch, Part, rows_of, run_model
from headtypes.attention.operations import Reading, operations_by_head, reading_matters
from headtypes.core.errors import InputError
from headtypes.core.progress import progress
from headtypes.data.answering import Answers, load_for
from headtypes.data.kinds.registry import KINDS
from headtypes.data.windows import Windows
from headtypes.models.records import ModelRecord


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a task is evaluated, whatever is done to the heads.

    kind:          of the task, one that models answer.
    precision, batch_tokens: arithmetic of the forward pass, and padded tokens of a batch.
    reading:       fields of `operations.Reading`; None for its defaults.
    max_answer_length: tokens of the longest answer, for a kind that has such answers.
    max_seq_length: tokens of a full window; needed only where padding counts (`Reading.uniform_over_padding`).
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

    @property
    def of_answers(self) -> dict[str, int]:
        """What the kind's answers depend on."""
        return {key: getattr(self, key) for key in KINDS[self.kind].answer_keys}


def evaluate_condition(
    rows: list,
    windows: Windows,
    partition: Partition,
    record: ModelRecord,
    head_outputs: np.ndarray | None = None,
    parts: Sequence[pd.DataFrame] = (),
    *,
    condition: str,
    operations: dict[str, str],
    **settings,
) -> tuple[dict[str, str], pd.DataFrame]:
    """Answer questions, classify pairs, predict texts or choose, while some heads are ablated, and score the answers.

    rows, windows: questions, pairs or documents as drawn, and as cut for this model (`encoding.prepare_windows`).
    partition:  the type of every head.
    record:     the model, as `models.fetching.fetch_model` found it; it needs the task's head.
    head_outputs: as `head_outputs.measure_head_outputs` returns them, for the operations that need them.
    parts:      what `evaluate_part` returned for all parts, if the work was shared; then only the scoring is left.
    condition:  its name, for progress and messages.
    operations: {target: operation}, as `operations.operations_by_head` reads them; other heads are kept.
    settings:   fields of `Settings`.
    returns     id -> answer text or predicted label, and one row per question, pair or document with its scores, both
        as `Kind.score_answers` gives them.
    """
    by_head = operations_by_head(partition.type_of, operations, condition)
    chosen, what = Settings(**settings), f"{record.name}, {condition}"
    if parts:
        KINDS[chosen.kind].check_answerable(rows, windows, record)
        return KINDS[chosen.kind].score_answers(rows, windows, record, _merged(parts, windows, what))
    (evaluated,) = evaluate_all(rows, windows, record, [by_head], head_outputs, chosen, what)
    return evaluated


def evaluate_part(
    rows: list,
    windows: Windows,
    partition: Partition,
    record: ModelRecord,
    head_outputs: np.ndarray | None = None,
    *,
    condition: str,
    operations: dict[str, str],
    part: Sequence[int],
    **settings,
) -> pd.DataFrame:
    """What `evaluate_condition` reads from some of the windows, those in one part of the batches.

    part: as in `attention.batches.Part`; all else as in `evaluate_condition`.
    returns one row per window: window, and the `answering.Answers.columns` of the task.
    """
    by_head = operations_by_head(partition.type_of, operations, condition)
    chosen, what = Settings(**settings), f"{record.name}, {condition}"
    model = _model(rows, windows, record, chosen)
    return _read(model, windows, by_head, head_outputs, chosen, what, part=Part(*part))


def evaluate_all(
    rows: list,
    windows: Windows,
    record: ModelRecord,
    wanted: Sequence[np.ndarray],
    head_outputs: np.ndarray | None,
    settings: Settings,
    what: str,
) -> list[tuple[dict[str, str], pd.DataFrame]]:
    """Evaluate a model under several sets of operations, loading it once.

    wanted: [layer, head] operations each; equal ones are evaluated once.
    what:   name of the work, for the progress over all sets.
    returns what `evaluate_condition` returns, for each of `wanted`.
    """
    model = _model(rows, windows, record, settings)
    distinct = {tuple(operations.flat): operations for operations in wanted}
    results = {}
    with progress(len(distinct) * len(windows), what, "windows") as bar:
        for key, operations in distinct.items():
            answers = _read(model, windows, operations, head_outputs, settings, what, bar)
            values = _merged([answers], windows, what)
            results[key] = KINDS[settings.kind].score_answers(rows, windows, record, values)
    return [results[tuple(operations.flat)] for operations in wanted]


def _model(rows: list, windows: Windows, record: ModelRecord, settings: Settings) -> torch.nn.Module:
    """The model, where it can answer these rows."""
    if settings.chosen_reading.uniform_over_padding and settings.max_seq_length > record.max_length:
        raise InputError(
            f"models.{record.name} takes inputs of at most {record.max_length} tokens, but with "
            f"uniform_over_padding every window is padded to {settings.max_seq_length}; "
            "lower windows.max_seq_length."
        )
    model = load_for(record, settings.precision, settings.kind)
    KINDS[settings.kind].check_answerable(rows, windows, record)
    return model


def _read(
    model: torch.nn.Module,
    windows: Windows,
    operations: np.ndarray,
    head_outputs: np.ndarray | None,
    settings: Settings,
    what: str,
    bar: tqdm | None = None,
    part: Part = WHOLE,
) -> pd.DataFrame:
    """What the task reads from a part of the windows: window, and the task's columns; one row per window."""
    ids, types, sentences = (
        rows_of(tokens, windows.offsets) for tokens in (windows.input_ids, windows.token_type_ids, windows.sentence)
    )
    answers = Answers(settings.kind, windows, **settings.of_answers)
    tables = []

    def ablation(batch: Batch) -> Ablation:
        answers.start(batch.samples)
        return Ablation(
            operations, [sentences[window] for window in batch.samples], settings.chosen_reading, head_outputs
        )

    def keep_answers(batch: Batch, _, output) -> None:
        values = answers.read(output, [sentences[window] for window in batch.samples])
        tables.append(pd.DataFrame({"window": batch.samples, **dict(zip(answers.columns, values, strict=True))}))

    with answers.attached(model):
        run_model(
            model,
            ids,
            types,
            hook=ablation,
            finish=keep_answers,
            batch_tokens=answers.batch_tokens(settings.batch_tokens, model.config.vocab_size),
            what=what,
            unit="windows",
            bar=bar,
            length=_full_window(operations, settings),
            part=part,
        )
    # A part may have no windows.
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=["window", *answers.columns])


def _merged(parts: Sequence[pd.DataFrame], windows: Windows, what: str) -> tuple[np.ndarray, ...]:
    """The columns of what was read from all windows, in the order of the windows."""
    table = pd.concat([part for part in parts if len(part)], ignore_index=True).sort_values("window")
    if table["window"].tolist() != list(range(len(windows))):
        raise InputError(f"{what}: the parts do not hold every window exactly once; delete those in results/shards.")
    return tuple(table[name].to_numpy() for name in table.columns.drop("window"))


def _full_window(operations: np.ndarray, settings: Settings) -> int | None:
    """Tokens that every window is padded to, where padding counts."""
    matters = "uniform_over_padding" in reading_matters(set(operations.flat))
    counts = settings.chosen_reading.uniform_over_padding and matters
    return settings.max_seq_length if counts else None
