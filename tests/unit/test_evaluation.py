"""Answers and scores: those of a plain Transformers loop over the same windows, and of the official evaluation."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torchmetrics.functional.text import squad as official_squad
from transformers import AutoModelForQuestionAnswering, AutoTokenizer

from headtypes.ablation import Reading
from headtypes.evaluation import find_spans
from headtypes.scoring import score_predictions, summary
from headtypes.spans import answer_questions
from headtypes.squad import read_squad
from headtypes.windows import Windows, build_windows
from tests.models import QUESTIONS, opened, tiny_bert, tiny_roberta

DATA = Path(__file__).parents[3] / "shared" / "data"


def plain_answers(model, windows: Windows, questions: list[dict]) -> dict[str, str]:
    """Answers by a loop as a user would write it: one window at a time, every start and end tried in turn."""
    best = {}
    for window in range(len(windows)):
        tokens = slice(windows.offsets[window], windows.offsets[window + 1])
        inputs = {"input_ids": torch.tensor(windows.input_ids[tokens][None].astype(np.int64))}
        if windows.token_type_ids is not None:
            inputs["token_type_ids"] = torch.tensor(windows.token_type_ids[tokens][None].astype(np.int64))
        with torch.inference_mode():
            output = model(**inputs)
        start, end = output.start_logits[0].double().numpy(), output.end_logits[0].double().numpy()
        context = np.flatnonzero(windows.sentence[tokens] > 0)
        question = questions[windows.question[window]]
        for first in context:
            for last in context[(context >= first) & (context < first + 30)]:
                score = start[first] + end[last]
                if question["id"] not in best or score > best[question["id"]][0]:
                    characters = windows.char_start[tokens][first], windows.char_end[tokens][last]
                    best[question["id"]] = score, question["context"][slice(*characters)]
    return {name: text for name, (_, text) in best.items()}


def found_answers(model, windows: Windows, questions: list[dict]) -> dict[str, str]:
    """Answers by the workflow's own road, with all heads kept."""
    shape = model.config.num_hidden_layers, model.config.num_attention_heads
    keep = np.full(shape, "keep", dtype=object)
    spans = find_spans(opened(model), windows, keep, Reading(), answer_tokens=30, batch_tokens=2048, what="test")
    return answer_questions(questions, windows, spans)


@pytest.mark.parametrize("make", [tiny_bert, tiny_roberta])
def test_answers_equal_those_of_a_plain_loop(make):
    model, tokenizer = make()
    questions = [{"id": str(n), "question": q, "context": c} for n, (q, c) in enumerate(QUESTIONS)]
    windows = build_windows(questions, tokenizer, window=30, advance=7)
    assert len(windows) > len(questions)
    assert found_answers(model, windows, questions) == plain_answers(model, windows, questions)


@pytest.mark.real
@pytest.mark.skipif(not DATA.exists(), reason="no real data here")
def test_real_answers_equal_a_plain_loop_and_score_as_officially():
    folder = DATA / "models" / "minilm-squad"
    model = AutoModelForQuestionAnswering.from_pretrained(folder, dtype=torch.float32).eval()
    questions = read_squad(DATA / "squad" / "dev-v1.1.json")[::500]
    windows = build_windows(questions, AutoTokenizer.from_pretrained(folder))
    answers = found_answers(model, windows, questions)
    assert answers == plain_answers(model, windows, questions)
    ours = summary(score_predictions(questions, answers))
    official = official_squad(
        [{"id": name, "prediction_text": text} for name, text in answers.items()],
        [{"id": q["id"], "answers": {"text": q["answers"], "answer_start": [0]}} for q in questions],
    )
    assert ours["exact_match"] == pytest.approx(float(official["exact_match"]), abs=1e-3)
    assert ours["f1"] == pytest.approx(float(official["f1"]), abs=1e-3)
    assert ours["exact_match"] > 30
