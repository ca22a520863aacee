"""A model's answers and scores under one condition."""

from pathlib import Path

import numpy as np
import pandas as pd
import torch

from headtypes.ablation import Ablation, Reading, operations_by_head
from headtypes.attention import run
from headtypes.batching import model_inputs, plan_batches
from headtypes.files import replacing
from headtypes.loading import load_model
from headtypes.partitions import Partition
from headtypes.progress import progress
from headtypes.scoring import score_predictions
from headtypes.spans import Spans, answer_questions, best_spans
from headtypes.windows import Windows


def evaluate_condition(
    questions: list[dict],
    windows: Windows,
    partition: Partition,
    record: dict,
    *,
    condition: str,
    operations: dict[str, str],
    reading: dict | None,
    answer_tokens: int,
    precision: str,
    batch_tokens: int,
) -> tuple[dict[str, str], pd.DataFrame]:
    """Answer questions with the heads of some types ablated, and score the answers.

    questions, windows: as drawn, and as cut for this model.
    partition:  the type of every head.
    record:     the model, as `sources.fetch_model` found it; it needs a question-answering head.
    condition:  its name, for progress.
    operations: {type: operation} of `ablation.Ablation`; types not named are kept.
    reading:    the fields of `ablation.Reading`; None where no operation depends on them.
    returns     question id -> answer text, and one row per question: id, article, exact_match, f1 in percent.
    """
    model = load_model(record, precision, head="question_answering")
    by_head = operations_by_head(partition.type_of, operations)
    spans = find_spans(
        model, windows, by_head, Reading(**reading or {}), answer_tokens, batch_tokens, f"{record['name']}, {condition}"
    )
    answers = answer_questions(questions, windows, spans)
    return answers, score_predictions(questions, answers)


def write_scores(path: str | Path, scores: pd.DataFrame) -> None:
    """Write the scores of each question as a whole Parquet file."""
    with replacing(path) as temporary:
        scores.to_parquet(temporary, index=False)


@torch.inference_mode()
def find_spans(
    model: torch.nn.Module,
    windows: Windows,
    operations: np.ndarray,
    reading: Reading,
    answer_tokens: int,
    batch_tokens: int,
    what: str,
) -> Spans:
    """The best answer span of every window under operations [layer, head] on the heads."""
    found = Spans(np.empty(len(windows)), np.empty(len(windows), np.int64), np.empty(len(windows), np.int64))
    pad_token = model.config.pad_token_id or 0
    with progress(len(windows), what, "windows") as bar:
        for batch in plan_batches(np.diff(windows.offsets), batch_tokens):
            ids = [windows.input_ids[windows.tokens(window)] for window in batch]
            types = windows.token_type_ids
            types = None if types is None else [types[windows.tokens(window)] for window in batch]
            sentences = [windows.sentence[windows.tokens(window)] for window in batch]
            inputs = model_inputs(ids, types, pad_token, model.device)
            output = run(model, inputs, Ablation(operations, sentences, reading))
            context = np.zeros(inputs["input_ids"].shape, dtype=bool)
            for row, sentence in enumerate(sentences):
                context[row, : len(sentence)] = sentence > 0
            logits = (output.start_logits, output.end_logits)
            best = best_spans(*(each.float().cpu().numpy() for each in logits), context, answer_tokens)
            for array, values in zip(found, best, strict=True):
                array[batch] = values
            bar.update(len(batch))
    return found
