"""A model's answers and scores while heads are ablated."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import torch
from tqdm import tqdm

from headtypes import pair_scoring, scoring
from headtypes.ablation import Ablation
from headtypes.attention import run
from headtypes.batching import input_batches, rows_of
from headtypes.errors import InputError
from headtypes.loading import load_model
from headtypes.operations import Reading, operations_by_head
from headtypes.pairs import SentencePairs, label_names
from headtypes.partitions import Partition
from headtypes.progress import progress
from headtypes.spans import Spans, answer_questions, best_spans
from headtypes.windows import Windows


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a task is evaluated, whatever is done to the heads.

    kind:          question_answering or sentence_pair.
    precision, batch_tokens: arithmetic of the forward pass, and padded tokens of a batch.
    reading:       fields of `operations.Reading`; None for the paper's own.
    answer_tokens: longest answer to a question; None for sentence pairs.
    window:        tokens of a full window; needed only where padding counts (`Reading.uniform_over_padding`).
    """

    kind: str = "question_answering"
    precision: str
    batch_tokens: int
    reading: dict | None = None
    answer_tokens: int | None = None
    window: int | None = None


class QuestionAnswering:
    """Questions on which a model is evaluated."""

    def __init__(self, questions: list[dict], windows: Windows, answer_tokens: int):
        """answer_tokens: longest answer."""
        self._questions, self._windows, self._answer_tokens = questions, windows, answer_tokens

    def read(self, output, sentences: list[np.ndarray]) -> tuple[np.ndarray, ...]:
        """The fields of `Spans` of a batch of windows."""
        context = np.zeros(output.start_logits.shape, dtype=bool)
        for row, sentence in enumerate(sentences):
            context[row, : len(sentence)] = sentence > 0
        logits = (output.start_logits, output.end_logits)
        return best_spans(*(each.float().cpu().numpy() for each in logits), context, self._answer_tokens)

    def score(self, found: tuple[np.ndarray, ...]) -> tuple[dict[str, str], pd.DataFrame]:
        """The answers, and the scores of `scoring.score_predictions`, from what was read of all windows."""
        answers = answer_questions(self._questions, self._windows, Spans(*found))
        return answers, scoring.score_predictions(self._questions, answers)


def evaluate_condition(
    rows: list[dict],
    windows: Windows,
    partition: Partition,
    record: dict,
    contexts: np.ndarray | None = None,
    *,
    condition: str,
    operations: dict[str, str],
    **settings,
) -> tuple[dict[str, str], pd.DataFrame]:
    """Answer questions, or classify sentence pairs, while some heads are ablated, and score the answers.

    rows, windows: questions or pairs as drawn, and as cut for this model (`pairs.prepare_windows`).
    partition:  the type of every head.
    record:     the model, as `sources.fetch_model` found it; it needs the task's head.
    contexts:   as `contexts.measure_contexts` gives them; needed where an operation is `mean`.
    condition:  its name, for progress and messages.
    operations: {target: operation}, as `operations.operations_by_head` reads them; other heads are kept.
    settings:   fields of `Settings`.
    returns     id -> answer text or predicted label, and one row per question or pair, in percent: id, article,
        exact_match, f1; or those of `pair_scoring.score_pairs`.
    """
    by_head = operations_by_head(partition.type_of, operations, condition)
    (found,) = evaluate_all(
        rows, windows, record, [by_head], contexts, Settings(**settings), f"{record['name']}, {condition}"
    )
    return found


def evaluate_all(
    rows: list[dict],
    windows: Windows,
    record: dict,
    wanted: Sequence[np.ndarray],
    contexts: np.ndarray | None,
    settings: Settings,
    what: str,
) -> list[tuple[dict[str, str], pd.DataFrame]]:
    """Evaluate a model that is loaded once under several sets of operations.

    wanted: [layer, head] operations each; equal ones are evaluated once.
    what:   for progress, over all of them.
    returns what `evaluate_condition` does, for each of `wanted`.
    """
    reading = Reading(**settings.reading or {})
    if reading.uniform_over_padding and settings.window > record["limit"]:
        raise InputError(
            f"models.{record['name']} takes inputs of {record['limit']} tokens, fewer than the {settings.window} of a "
            "full window, whose padding ablation.uniform_over_padding counts; lower windows.tokens."
        )
    if settings.kind == "question_answering":
        model = load_model(record, settings.precision, head="question_answering")
        task = QuestionAnswering(rows, windows, settings.answer_tokens)
    else:
        model = load_model(record, settings.precision, head="sequence_classification")
        task = SentencePairs(rows, windows, label_names(model.config), f"models.{record['name']}")
    distinct = {tuple(operations.flat): operations for operations in wanted}
    results = {}
    with progress(len(distinct) * len(windows), what, "windows") as bar:
        for key, operations in distinct.items():
            ablation = partial(Ablation, operations, reading=reading, contexts=contexts)
            padded = reading.uniform_over_padding and (operations == "uniform").any()
            length = settings.window if padded else None
            results[key] = task.score(_read(model, task, windows, ablation, settings.batch_tokens, length, bar))
    return [results[tuple(operations.flat)] for operations in wanted]


def summary(scores: pd.DataFrame) -> dict[str, float | int]:
    """The metrics of a task in percent, and how many questions or pairs there are, from the scores of each."""
    return (pair_scoring if "correct" in scores else scoring).summary(scores)


@torch.inference_mode()
def _read(
    model: torch.nn.Module,
    task: QuestionAnswering | SentencePairs,
    windows: Windows,
    ablation: Callable[..., Ablation],
    batch_tokens: int,
    length: int | None,
    bar: tqdm,
) -> tuple[np.ndarray, ...]:
    """What the task reads of every window, in the order of the windows."""
    ids, types, sentences = (
        rows_of(tokens, windows.offsets) for tokens in (windows.input_ids, windows.token_type_ids, windows.sentence)
    )
    order, pieces = [], []
    for batch, inputs in input_batches(model, ids, types, batch_tokens, length):
        of_batch = [sentences[window] for window in batch]
        output = run(model, inputs, ablation(sentences=of_batch))
        pieces.append(task.read(output, of_batch))
        order.append(batch)
        bar.update(len(batch))
    place = np.argsort(np.concatenate(order))
    return tuple(np.concatenate(part)[place] for part in zip(*pieces, strict=True))
