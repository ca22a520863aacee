"""Answers and scores: those of a plain Transformers loop over the same windows, and of the official evaluation."""

import numpy as np
import pandas as pd
import pytest
import torch

from headtypes.analyses.ablation import evaluation
from headtypes.analyses.ablation.evaluation import Evaluator, Settings, evaluate_condition
from headtypes.attention.ablate import Ablation
from headtypes.attention.operations import Reading
from headtypes.core.errors import InputError
from headtypes.data.answering import Answers
from headtypes.data.kinds.question_answering import Question, score_predictions
from headtypes.data.windows import Windows
from tests.support.dense import dense_output
from tests.support.models import tiny_bert, tiny_roberta
from tests.support.records import ANSWERING, asked_of, inputs_of, types_in, types_like, without_heads


def plain_answers(model, windows: Windows, questions: list[Question]) -> dict[str, str]:
    """Answers by a loop as a user would write it: one window at a time, every start and end tried in turn."""
    best = {}
    for window in range(len(windows)):
        tokens = windows.tokens(window)
        with torch.inference_mode():
            output = model(**inputs_of(windows, window))
        start, end = output.start_logits[0].double().numpy(), output.end_logits[0].double().numpy()
        context = np.flatnonzero(windows.sentence[tokens] > 0)
        question = questions[windows.question[window]]
        for first in context:
            for last in context[(context >= first) & (context < first + 30)]:
                score = start[first] + end[last]
                if question.id not in best or score > best[question.id][0]:
                    characters = windows.char_start[tokens][first], windows.char_end[tokens][last]
                    best[question.id] = score, question.context[slice(*characters)]
    return {name: text for name, (_, text) in best.items()}


@pytest.mark.parametrize("make", [tiny_bert, tiny_roberta])
@pytest.mark.parametrize("operations", [{}, {"dense": "zero", "1-2": "keep"}], ids=["plain", "ablated"])
def test_answers_equal_those_of_a_plain_loop(make, operations, tmp_path):
    model, tokenizer = make()
    rows, windows, record = asked_of(model, tokenizer, tmp_path, max_seq_length=30, doc_stride=7)
    assert len(windows) > len(rows)
    partition = types_like(record)
    how = {"condition": "c", "operations": operations, **ANSWERING}
    answers, scores = evaluate_condition(rows, windows, partition, record, **how)
    gone = np.zeros(partition.shape, dtype=bool)
    if operations:
        gone = partition.type_of == "dense"
        gone[0, 1] = False
    assert answers == plain_answers(without_heads(model, gone), windows, rows)
    assert bool(operations) == (answers != plain_answers(model, windows, rows))
    pd.testing.assert_frame_equal(scores, score_predictions(rows, answers))


@pytest.mark.parametrize("make", [tiny_bert, tiny_roberta])
def test_where_padding_counts_windows_are_padded_in_full(make, tmp_path):
    model, tokenizer = make()
    rows, windows, record = asked_of(model, tokenizer, tmp_path, max_seq_length=60)
    reading = Reading(uniform_over_padding=True)
    operations = np.full((record.layers, record.heads), "keep", dtype=object)
    operations[:, ::2] = "uniform"
    logits = []

    def read(self, output, sentences, given):
        for row, sentence in enumerate(sentences):
            logits.append((len(sentence), output.start_logits[row, : len(sentence)]))
        return plain(self, output, sentences, given)

    plain = Answers.read
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Answers, "read", read)
        settings = Settings(**ANSWERING, reading={"uniform_over_padding": True}, max_seq_length=60)
        Evaluator(rows, windows, record, None, settings).evaluate([operations], "test")
    assert len(logits) == len(windows)
    for window in range(len(windows)):
        tokens = windows.tokens(window)
        types = types_in(windows, window)
        arguments = windows.input_ids[tokens], types, operations, windows.sentence[tokens]
        expected = dense_output(model, *arguments, reading, max_seq_length=60).start_logits[0]
        (found,) = [start for length, start in logits if length == tokens.stop - tokens.start]
        torch.testing.assert_close(found.double(), expected[: len(found)], atol=1e-5, rtol=0)


def test_several_conditions_of_a_loaded_model_are_those_one_by_one(tmp_path, monkeypatch):
    rows, windows, record = asked_of(*tiny_bert(), tmp_path, max_seq_length=30, doc_stride=7)
    runs = []
    monkeypatch.setattr(evaluation, "Ablation", lambda *a, **k: runs.append(1) or Ablation(*a, **k))
    wanted = [np.full((3, 5), name, dtype=object) for name in ("zero", "keep", "uniform", "zero")]
    # Padding counts under one set alone; others have layers in common.
    wanted[1][1:] = "drop_intra"
    wanted[3][2, 1] = "keep"
    wanted += [wanted[0], wanted[1].copy()]
    wanted[-1][2, 1] = "keep"
    settings = Settings(**ANSWERING, reading={"uniform_over_padding": True}, max_seq_length=40)
    evaluator = Evaluator(rows, windows, record, None, settings)

    def evaluate(some):
        runs.clear()
        return evaluator.evaluate(some, "test"), len(runs)

    together, batches = evaluate(wanted)
    alone = [evaluate([each]) for each in wanted]
    assert [answers for answers, _ in together] == [found[0][0] for found, _ in alone]
    assert together[0][0] != together[1][0] != together[2][0]
    padded = alone[2][1]
    assert batches == 5 * padded, "what is wanted twice is evaluated once"


def test_a_batch_that_does_not_fit_under_a_later_set_is_halved_under_all(tmp_path, monkeypatch, capsys):
    rows, windows, record = asked_of(*tiny_bert(), tmp_path, max_seq_length=30, doc_stride=7)
    wanted = [np.full((3, 5), name, dtype=object) for name in ("zero", "keep", "uniform")]
    evaluator = Evaluator(rows, windows, record, None, Settings(**ANSWERING))
    whole, plain, read = evaluator.evaluate(wanted, "test"), Answers.read, []

    def full(self, output, sentences, given):
        read.append(len(sentences))
        if len(read) % len(wanted) == 0 and len(sentences) > 1:
            raise torch.OutOfMemoryError("planted")
        return plain(self, output, sentences, given)

    capsys.readouterr()
    monkeypatch.setattr(Answers, "read", full)
    halved = evaluator.evaluate(wanted, "test")
    assert max(read) > 1
    assert [answers for answers, _ in halved] == [answers for answers, _ in whole]
    total = len(wanted) * len(windows)
    assert f"test: {total}/{total} windows" in capsys.readouterr().err


def test_a_mean_that_was_measured_is_put_in_place_of_a_head(tmp_path):
    rows, windows, record = asked_of(*tiny_bert(), tmp_path, max_seq_length=60)

    def answers(operation: str, head_outputs: np.ndarray | None = None) -> dict[str, str]:
        asked = rows, windows, types_like(record), record, head_outputs
        return evaluate_condition(*asked, condition="c", operations={"dense": operation}, **ANSWERING)[0]

    measured = np.random.default_rng(0).normal(size=(3, 5, 7)).astype(np.float32)
    assert answers("mean", 0 * measured) == answers("zero") != answers("mean", measured)
    with pytest.raises(InputError, match="mean needs the mean head outputs"):
        answers("mean")
