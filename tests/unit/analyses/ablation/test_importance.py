"""Gradient importance equals finite differences of the loss, in float64, of a plain model."""

import copy

import numpy as np
import pytest
import torch

from headtypes.analyses.ablation.importance import head_importance, measure_importance, normalise
from headtypes.analyses.ablation.results import read_importance
from headtypes.core.errors import InputError
from headtypes.data.kinds.question_answering import Question, answer_positions, build_windows
from headtypes.data.kinds.registry import KINDS
from headtypes.data.kinds.sentence_pair import build_pairs
from tests.support.models import QUESTIONS, tiny_bert, tiny_roberta
from tests.support.records import PAIRS, classifier, inputs_of, question_of, recorded

MAKES = [tiny_bert, tiny_roberta]
ANSWERS = ["the river", "the house", "cat"]


def answered() -> list[Question]:
    """Questions with the places of their answers; the first has a second answer, which does not count."""
    return [
        question_of(str(n), question, context, (answer, "The"))
        for n, ((question, context), answer) in enumerate(zip(QUESTIONS, ANSWERS, strict=True))
    ]


def scaled(model, layer: int, head: int, factor: float):
    """A copy in which the head's values, and so its outputs, are multiplied by a factor."""
    model = copy.deepcopy(model)
    value = model.base_model.encoder.layer[layer].attention.self.value
    size = value.out_features // model.config.num_attention_heads
    for tensor in (value.weight, value.bias):
        tensor.data[head * size : (head + 1) * size] *= factor
    return model


def slopes(model, losses, step: float = 1e-5) -> np.ndarray:
    """Central differences of some samples' losses in each head's factor: [layer, head, sample]."""
    shape = model.config.num_hidden_layers, model.config.num_attention_heads
    found = np.empty(shape, dtype=object)
    for layer, head in np.ndindex(shape):
        more, less = (losses(scaled(model, layer, head, factor)) for factor in (1 + step, 1 - step))
        found[layer, head] = (more - less) / (2 * step)
    return np.array(found.tolist())


def plain_losses(windows, chosen, **of_window):
    """The loss that Transformers computes for each chosen window alone; of_window: [window] targets by their names."""

    def losses(model):
        found = []
        for window in chosen:
            inputs = inputs_of(windows, window)
            targets = {name: torch.tensor([int(values[window])]) for name, values in of_window.items()}
            with torch.inference_mode():
                found.append(model(**inputs, **targets).loss.item())
        return np.array(found)

    return losses


@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize("batch_tokens", [64, 4096])
def test_importance_on_questions_equals_finite_differences(make, batch_tokens):
    model = make()[0].double()
    windows = build_windows(answered(), make()[1], max_seq_length=30, doc_stride=5, max_query_length=14)
    positions = answer_positions(answered(), windows)
    chosen = np.flatnonzero(positions[:, 0] >= 0)
    question = windows.question[chosen]
    assert set(question) == {0, 1, 2}
    assert len(question) < len(windows)
    assert max(np.bincount(question)) > 1
    slope = slopes(model, plain_losses(windows, chosen, start_positions=positions[:, 0], end_positions=positions[:, 1]))
    expected = np.mean([np.abs(slope[..., question == each]).mean(-1) for each in range(3)], axis=0)
    found = head_importance(model, "question_answering", windows, positions, batch_tokens, "test")
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)
    assert found.min() > 1e-4


@pytest.mark.parametrize("make", MAKES)
def test_importance_on_pairs_equals_finite_differences(make):
    model, tokenizer = classifier(make, labels=3)
    model = model.double()
    windows = build_pairs(PAIRS, tokenizer, max_length=60)
    label = np.array([pair.label for pair in PAIRS])
    slope = slopes(model, plain_losses(windows, range(len(PAIRS)), labels=label))
    found = head_importance(model, "sentence_pair", windows, label[:, None], 64, "test")
    np.testing.assert_allclose(found, np.abs(slope).mean(-1), rtol=1e-6, atol=1e-9)
    assert (np.abs(slope).mean(-1) > 1.01 * np.abs(slope.mean(-1))).any(), "the absolute value is that of a sample"


@pytest.mark.parametrize("make", MAKES)
def test_a_table_of_a_fetched_model_has_both_scores_of_every_head(make, tmp_path):
    for kind, rows, (model, tokenizer) in (
        ("question_answering", answered(), make()),
        ("sentence_pair", PAIRS, classifier(make)),
    ):
        record = recorded(model, tokenizer, tmp_path / kind)
        if kind == "sentence_pair":
            windows, targets = build_pairs(PAIRS, tokenizer, max_length=60), np.array([[1], [0], [1], [0]])
        else:
            windows = build_windows(rows, tokenizer, max_seq_length=60)
            targets = answer_positions(rows, windows)
        table = measure_importance(rows, windows, record, kind=kind, precision="float32", batch_tokens=512)
        assert list(table) == ["layer", "head", "importance", "normalised"]
        expected = head_importance(model, kind, windows, targets, 512, "test")
        np.testing.assert_allclose(table["importance"].to_numpy().reshape(expected.shape), expected, rtol=1e-4)
        table.sample(frac=1, random_state=0).to_csv(tmp_path / "importance.csv", index=False)
        np.testing.assert_allclose(read_importance(tmp_path / "importance.csv"), normalise(expected), rtol=1e-4)


def test_every_layer_is_brought_to_norm_one():
    found = normalise(np.array([[3.0, 4.0], [0.0, 0.0], [1e-9, 0.0]]))
    np.testing.assert_allclose(found, [[0.6, 0.8], [0, 0], [1, 0]])


@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize("window", [12, 60])
def test_answers_stand_from_their_first_subword_to_their_last_where_a_window_has_both(make, window):
    _, tokenizer = make()
    # A byte-level tokenizer has two tokens for the last character of the second answer; the third is cut in two.
    rows = [
        question_of("1", "who?", "the dog(cat)ran.", ["cat"]),
        question_of("2", "who?", "it was the café.", ["the café"]),
        question_of("3", "who?", "it was the cat by the old house and the river", ["old house"]),
    ]
    windows = build_windows(rows, tokenizer, max_seq_length=window, doc_stride=1)
    positions = answer_positions(rows, windows)
    cut = 0
    for place, (start, end) in enumerate(positions.tolist()):
        row, tokens = rows[windows.question[place]], windows.tokens(place)
        begin, stop = windows.char_start[tokens], windows.char_end[tokens]
        first, last = row.answer_starts[0], row.answer_starts[0] + len(row.answers[0])
        ends = (begin == first).any(), (stop == last).any()
        cut += ends[0] != ends[1]
        if not all(ends):
            assert (start, end) == (-1, -1)
            continue
        assert (begin[start], stop[end]) == (first, last)
        assert start == 0 or begin[start - 1] != first
        assert end + 1 == len(stop) or begin[end + 1] < 0 or begin[end + 1] >= last
    assert (cut > 0) == (window == 12)
    learned, labels = KINDS["question_answering"].training_targets(rows, windows)
    assert labels is None
    np.testing.assert_array_equal(learned, np.maximum(positions, 0))


def test_where_no_window_holds_an_answer_nothing_is_measured():
    model, tokenizer = tiny_bert()
    windows = build_windows(answered(), tokenizer, max_seq_length=60)
    with pytest.raises(InputError, match=r"test: no window holds a whole answer; make windows.max_seq_length larger"):
        head_importance(model, "question_answering", windows, np.full((len(windows), 2), -1), 512, "test")


def test_a_gradient_that_is_not_finite_is_refused():
    model, tokenizer = tiny_bert()
    model.qa_outputs.weight.data[0, 0] = torch.nan
    windows = build_windows(answered(), tokenizer, max_seq_length=60)
    with pytest.raises(InputError, match="test: the gradient of head 1-1 is not finite"):
        head_importance(model, "question_answering", windows, answer_positions(answered(), windows), 512, "test")
