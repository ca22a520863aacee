"""Answers and scores are those of a plain loop over the same windows, and of the official evaluation."""

import numpy as np
import pandas as pd
import pytest
import torch

from headtypes.analyses.ablation import evaluation
from headtypes.analyses.ablation.evaluation import Asked, Evaluator, Settings, evaluate_condition, overlap
from headtypes.attention.ablate import Ablation
from headtypes.attention.operations import Reading
from headtypes.core.errors import InputError
from headtypes.data.answering import Answers
from headtypes.data.encoding import encode_samples
from headtypes.data.kinds.question_answering import Question, score_predictions
from headtypes.data.tasks import Sample
from headtypes.data.windows import Windows
from tests.support.dense import defined_writes, dense_output
from tests.support.models import tiny_bert, tiny_family, tiny_roberta
from tests.support.records import ANSWERING, PAIRS, asked_of, inputs_of, recorded, types_in, types_like, without_heads


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
    answers, scores = evaluate_condition(Asked(rows, windows, partition, record), **how)
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
        asked = Asked(rows, windows, types_like(record), record, head_outputs)
        return evaluate_condition(asked, condition="c", operations={"dense": operation}, **ANSWERING)[0]

    measured = np.random.default_rng(0).normal(size=(3, 5, 7)).astype(np.float32)
    assert answers("mean", 0 * measured) == answers("zero") != answers("mean", measured)
    with pytest.raises(InputError, match="mean needs the mean head outputs"):
        answers("mean")


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_means_are_over_all_real_tokens_of_all_samples(family, tmp_path):
    model, tokenizer = tiny_family(family)
    record = recorded(model, tokenizer, tmp_path)
    samples = [Sample(f"{pair.id}-{turn}", pair.first, pair.second) for turn in range(2) for pair in PAIRS]
    means = evaluation.measure_head_outputs(
        samples, record, task="mrpc", kind="sentence_pair", precision="float32", batch_tokens=100
    )
    encoded = encode_samples(samples, tokenizer, "sentence_pair", record.max_length)
    assert len(set(encoded.lengths)) > 2
    types = encoded.token_types or [None] * len(samples)
    outputs = [
        torch.stack([attention @ value for attention, value, _ in defined_writes(model, family, *sample)])
        for sample in zip(encoded.input_ids, types, strict=True)
    ]
    np.testing.assert_allclose(means, torch.cat(outputs, 2).mean(2), atol=2e-6)
    assert means.dtype == np.float32


MIXED = {"diagonal": "uniform", "1-1": "zero"}


def test_overlap_is_the_share_of_the_conditions_heads_under_the_same_operation():
    operations = np.array([["zero", "uniform", "keep", "keep"], ["zero", "zero", "keep", "keep"]], dtype=object)
    drawn = np.array([["uniform", "zero", "keep", "keep"], ["zero", "keep", "zero", "keep"]], dtype=object)
    assert overlap(drawn, operations) == 0.25
    assert overlap(operations, operations) == 1


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    rows, windows, record = asked_of(*tiny_bert(), tmp_path_factory.mktemp("model"), max_seq_length=60)
    return Asked(rows, windows, types_like(record), record)


def controlled(asked, **changed) -> pd.DataFrame:
    how = {"condition": "c", "operations": MIXED, "draws": 5, "questions": "all", "seed": 7}
    return evaluation.evaluate_controls(asked, **how | changed, **ANSWERING)


def test_each_draw_is_scored_as_its_heads_are_and_has_as_many_in_each_layer(asked):
    rows, windows, _, record, _ = asked
    found = controlled(asked)
    assert list(found) == ["draw", "id", "article", "exact_match", "f1", "overlap"]
    operations = np.full((3, 5), "keep", dtype=object)
    operations[2, ::2], operations[0, 0] = "uniform", "zero"
    for draw, scores in found.groupby("draw"):
        drawn = np.random.default_rng([7, draw]).permuted(operations, axis=1)
        assert (np.sort(drawn, axis=1) == np.sort(operations, axis=1)).all()
        ((_, expected),) = Evaluator(rows, windows, record, None, Settings(**ANSWERING)).evaluate([drawn], "test")
        scores = scores.reset_index(drop=True)
        pd.testing.assert_frame_equal(scores[["id", "article", "exact_match", "f1"]], expected)
        assert (scores["overlap"] == overlap(drawn, operations)).all()
    pd.testing.assert_frame_equal(controlled(asked, draws=2), found[found["draw"] < 2].reset_index(drop=True))
    assert controlled(asked, seed=8)["overlap"].tolist() != found["overlap"].tolist()


def test_a_part_of_the_questions_is_scored_as_among_all(asked):
    whole, found = (controlled(asked, draws=3, questions=questions) for questions in ("all", 2))
    by_draw = [scores["id"].tolist() for _, scores in found.groupby("draw")]
    assert len(set(by_draw[0])) == 2
    assert by_draw == 3 * [[question.id for question in asked[0] if question.id in by_draw[0]]]
    pd.testing.assert_frame_equal(found, whole[whole["id"].isin(by_draw[0])].reset_index(drop=True))
    others = [controlled(asked, draws=1, questions=2, seed=seed)["id"].tolist() for seed in range(5)]
    assert len({str(each) for each in others}) > 1
