"""Multiple choice by likelihood: that of a plain Transformers loop, of the dense computation, and what is chosen."""

import json
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
import torch

from headtypes.analyses.ablation.evaluation import Settings, _model, _read, evaluate_condition
from headtypes.analyses.ablation.importance import measure_importance
from headtypes.analyses.gradients.measure import measure_answer_gradients
from headtypes.attention.operations import Reading, operations_by_head
from headtypes.core.errors import InputError
from headtypes.data.answering import Answers
from headtypes.data.encoding import prepare_windows
from headtypes.data.kinds.multiple_choice import ChoiceQuestion
from headtypes.data.kinds.registry import KINDS
from tests.support.dense import CHANGES, dense_output
from tests.support.models import FAMILIES, family_config, tiny_language_model
from tests.support.records import recorded, types_like

KIND = "multiple_choice"
SETTINGS = {"kind": KIND, "precision": "float32", "batch_tokens": 512}
QUESTIONS = [
    ChoiceQuestion("a", "The cat sat. It ran by the", ("river", "old house. It was.", "dog"), 0),
    ChoiceQuestion("b", "it was", ("the old house by the river, and it ran", "it"), 1),
    ChoiceQuestion("c", "It ran and ran. " * 3 + "The dog sat by the", ("young cat", "house", "it", "river"), 2),
]
# Absolute positions, shared keys, local layers.
MODELS = ["gpt2", "llama", "gemma3_text"]


@pytest.fixture(scope="module", params=MODELS)
def made(request, tmp_path_factory):
    """A model, its tokenizer, its record and the windows of `QUESTIONS`."""
    return prepared(request.param, tmp_path_factory.mktemp(request.param))


def prepared(name, folder):
    model, tokenizer = tiny_language_model(name)
    record = recorded(model, tokenizer, folder)
    return model, tokenizer, record, windows_for(record, tokenizer)


def windows_for(record, tokenizer, questions=QUESTIONS, max_seq_length=60):
    shape = {"max_length": record.max_length, "max_seq_length": max_seq_length}
    return prepare_windows(questions, tokenizer, kind=KIND, record=record, **shape)


def plain_likelihoods(model, tokenizer, questions=QUESTIONS) -> list[tuple[float, int]]:
    """Of each choice, as a user would write it: one text at a time, without any window; and its number of tokens."""
    found = []
    for question in questions:
        for choice in question.choices:
            asked, ids = (
                tokenizer(text, return_tensors="pt")["input_ids"]
                for text in (question.question, f"{question.question} {choice}")
            )
            with torch.inference_mode():
                of_next = model(ids).logits[0, :-1].log_softmax(-1)
            answer = range(asked.shape[1], ids.shape[1])
            found.append((sum(float(of_next[index - 1, ids[0, index]]) for index in answer), len(answer)))
    return found


def read(made, operations=(), questions=QUESTIONS, windows=None, **settings):
    """The loss and the tokens of each choice, [choice, 2]."""
    *_, record, of_questions = made
    windows = of_questions if windows is None else windows
    chosen, by_head = (
        Settings(**SETTINGS | settings),
        operations_by_head(types_like(record).type_of, dict(operations), "c"),
    )
    model = _model(questions, windows, record, chosen)
    (answers,) = _read(model, windows, [by_head], None, chosen, "test")
    return answers.sort_values("window")[["loss", "tokens"]].to_numpy()


def evaluated(made, operations=(), **settings):
    *_, record, windows = made
    arguments = {"condition": "c", "operations": dict(operations), **SETTINGS, **settings}
    return evaluate_condition(QUESTIONS, windows, types_like(record), record, **arguments)


def test_likelihoods_equal_a_plain_loop_padded_and_alone(made):
    model, tokenizer, _, windows = made
    likelihood, tokens = map(np.array, zip(*plain_likelihoods(model, tokenizer), strict=True))
    assert np.ptp(np.diff(windows.offsets)) > 5
    for batch_tokens in (512, 1):
        found = read(made, batch_tokens=batch_tokens)
        assert found[:, 1].tolist() == tokens.tolist()
        assert (np.abs(found[:, 0] + likelihood) / tokens).max() < 1e-5


@pytest.mark.parametrize("name", [name for name in FAMILIES if family_config(name)[1].mask_token is None])
def test_likelihoods_equal_a_plain_loop_in_every_family_of_decoders(name, tmp_path):
    made = prepared(name, tmp_path)
    likelihood, tokens = map(np.array, zip(*plain_likelihoods(*made[:2]), strict=True))
    assert (np.abs(read(made)[:, 0] + likelihood) / tokens).max() < 1e-5


def test_scores_are_of_the_likeliest_choice_whole_and_by_character(made):
    model, tokenizer, *_ = made
    likelihood = iter(value for value, _ in plain_likelihoods(model, tokenizer))
    answers, scores = evaluated(made)
    whole, by_length = [], []
    for index, question in enumerate(QUESTIONS):
        of_choices = [next(likelihood) for _ in question.choices]
        whole.append(int(np.argmax(of_choices)))
        lengths = list(map(len, question.choices))
        by_length.append(int(np.argmax([value / length for value, length in zip(of_choices, lengths, strict=True)])))
        assert answers[question.id] == question.choices[whole[-1]]
        assert scores["log_likelihood"][index] == pytest.approx(of_choices[question.answer], abs=1e-4)
    assert scores["predicted"].tolist() == whole
    assert scores["predicted_normalised"].tolist() == by_length
    right = [question.answer for question in QUESTIONS]
    assert scores["correct"].tolist() == [100.0 * (one == other) for one, other in zip(whole, right, strict=True)]
    metrics = KINDS[KIND].mean_scores(scores)
    assert metrics == {
        "accuracy": pytest.approx(scores["correct"].mean()),
        "accuracy_normalised": pytest.approx(scores["correct_normalised"].mean()),
        "n_questions": 3,
    }


def test_what_is_planted_is_chosen_and_length_is_counted_in_characters(tmp_path):
    """Likelihoods that are known: of the first question the right choice, of the second by length alone."""
    _, tokenizer, record, _ = prepared("gpt2", tmp_path)
    questions = [ChoiceQuestion("a", "it", ("was", "ran"), 1), ChoiceQuestion("b", "the", ("old house", "cat"), 0)]
    windows = windows_for(record, tokenizer, questions)
    losses = np.array([3.0, 2.0, 4.5, 1.6])
    chosen, scores = KINDS[KIND].score_answers(questions, windows, record, (losses, np.ones(4)))
    assert chosen == {"a": "ran", "b": "cat"}
    assert scores["correct"].tolist() == [100, 0]
    assert scores["correct_normalised"].tolist() == [100, 100]
    assert scores["log_likelihood"].tolist() == [-2.0, -4.5]
    equal = np.array([2.0, 2.0, 1.0, 2.0]), np.ones(4)
    _, scores = KINDS[KIND].score_answers(questions, windows, record, equal)
    assert scores["predicted"].tolist() == [0, 0], "of equal ones the first"


def test_a_model_that_knows_the_answers_is_right(made):
    """Its output weights make one word likely whatever is read, which is the right choice of two questions."""
    _, tokenizer, record, _ = made
    known = [
        ChoiceQuestion("a", "The cat sat by the", ("house", "river"), 1),
        ChoiceQuestion("b", "It ran to the", ("river", "dog", "cat"), 0),
        ChoiceQuestion("c", "It saw the river", ("river", "cat"), 1),
    ]
    windows = windows_for(record, tokenizer, known)
    answers = Answers(KIND, windows)
    answers.start(np.arange(len(windows)))
    (river,) = tokenizer(" river", add_special_tokens=False)["input_ids"]
    logits = torch.zeros(len(windows), int(np.diff(windows.offsets).max()), len(tokenizer))
    logits[..., river] = 5
    values = answers.read(type("Output", (), {"logits": logits}), [])
    _, scores = KINDS[KIND].score_answers(known, windows, record, values)
    assert scores["correct"].tolist() == [100, 100, 0]
    assert KINDS[KIND].mean_scores(scores)["accuracy"] == pytest.approx(200 / 3)


@pytest.mark.parametrize("operation", [name for name in CHANGES if name != "mean"])
def test_every_operation_equals_the_dense_computation(made, operation):
    model, _, record, windows = made
    by_head = np.where(types_like(record).type_of == "dense", operation, "keep")
    found, expected = read(made, {"dense": operation}), []
    for window in range(len(windows)):
        tokens = windows.tokens(window)
        inputs = windows.input_ids[tokens], None, by_head, windows.sentence[tokens], Reading()
        of_next, wanted = dense_output(model, *inputs).logits[0].log_softmax(-1), windows.targets[tokens]
        expected.append(-sum(float(of_next[index, wanted[index]]) for index in np.flatnonzero(wanted >= 0)))
    assert (np.abs(found[:, 0] - expected) / found[:, 1]).max() < 1e-5
    assert (np.abs(found[:, 0] - read(made)[:, 0]) / found[:, 1]).max() > 1e-4


def test_sentences_are_those_of_the_question_and_the_choice_together(tmp_path):
    _, tokenizer, _, windows = prepared("llama", tmp_path)
    first, second = (windows.sentence[windows.tokens(window)].tolist() for window in (0, 1))
    words = tokenizer.convert_ids_to_tokens(windows.input_ids[windows.tokens(1)])
    assert first[0] == second[0] == -1, "of a special token"
    assert (max(first), max(second)) == (1, 2)
    assert second[words.index("Ġriver") if "Ġriver" in words else words.index("Ġhouse")] == 1


def test_a_question_that_is_too_long_loses_its_first_tokens(made):
    model, tokenizer, record, windows = made
    longest = int(np.diff(windows.offsets).max())
    cut = windows_for(record, tokenizer, max_seq_length=longest - 4)
    whole = windows_for(record, tokenizer)
    window = int(np.diff(windows.offsets).argmax())
    ids, before = (it.input_ids[it.tokens(window)] for it in (cut, whole))
    special = int(tokenizer.bos_token_id == before[0] and record.model_type != "gpt2")
    assert ids.tolist() == [*before[:special], *before[special + 4 :]]
    targets = cut.targets[cut.tokens(window)]
    assert targets[targets >= 0].tolist() == [it for it in whole.targets[whole.tokens(window)] if it >= 0]
    with torch.inference_mode():
        of_next = model(torch.tensor(ids[None].astype(int))).logits[0].log_softmax(-1)
    expected = -sum(float(of_next[index, targets[index]]) for index in np.flatnonzero(targets >= 0))
    assert read(made, windows=cut)[window, 0] == pytest.approx(expected, abs=1e-4)
    with pytest.raises(InputError, match=r"question b: its choice 'the old house by the river, and it ran' leaves no"):
        windows_for(record, tokenizer, QUESTIONS[1:], max_seq_length=8)


def test_space_before_a_choice_and_after_a_question_is_no_matter(made):
    _, tokenizer, record, _ = made
    table = pd.DataFrame({"question": ["It sat by the  "], "choices": [[" river ", "house"]], "answer": [0]})
    columns = {name: name for name in ("question", "choices", "answer")}
    read_rows = KINDS[KIND].rows_of_file(table, "a file", "tasks.t.columns", columns)
    plain = [ChoiceQuestion("0", "It sat by the", ("river", "house"), 0)]
    assert read_rows == plain
    assert (
        windows_for(record, tokenizer, read_rows).input_ids.tolist()
        == windows_for(record, tokenizer, plain).input_ids.tolist()
    )


def test_importance_and_gradients_are_of_the_right_choice(made):
    """With other wrong choices they are the same."""
    _, tokenizer, record, windows = made
    wrong = [
        ChoiceQuestion(
            it.id,
            it.question,
            tuple(text if index == it.answer else "dog dog" for index, text in enumerate(it.choices)),
            it.answer,
        )
        for it in QUESTIONS
    ]
    arithmetic = {"kind": KIND, "precision": "float32", "batch_tokens": 512}
    found = measure_importance(QUESTIONS, windows, record, **arithmetic)
    other = measure_importance(wrong, windows_for(record, tokenizer, wrong), record, **arithmetic)
    np.testing.assert_allclose(found["importance"], other["importance"], rtol=1e-4)
    assert (found["importance"] > 0).all()
    gradients = measure_answer_gradients(QUESTIONS, windows, record, task="t", samples=3, seed=1, **arithmetic)
    assert gradients.loss == KIND
    assert gradients.samples == 3
    assert np.nanmin(gradients.values) >= 0
    assert np.nanmax(gradients.values) > 0


@pytest.mark.skipif(find_spec("lm_eval") is None, reason="lm-eval is not installed (docs/run/python.md)")
@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_the_language_model_evaluation_harness_finds_the_same(name, tmp_path):
    """Llama's tokenizer begins each text with a token of its own, which the harness is asked for."""
    from lm_eval import simple_evaluate
    from lm_eval.models.huggingface import HFLM
    from lm_eval.tasks import TaskManager

    made = prepared(name, tmp_path / "model")
    model, tokenizer, *_ = made
    lines = [json.dumps({"q": it.question, "c": it.choices, "a": it.answer}) for it in QUESTIONS]
    (tmp_path / "asked.jsonl").write_text("\n".join(lines))
    (tmp_path / "asked.yaml").write_text(
        "task: asked\ndataset_path: json\noutput_type: multiple_choice\ntest_split: test\n"
        f"dataset_kwargs: {{data_files: {{test: {tmp_path / 'asked.jsonl'}}}}}\n"
        'doc_to_text: "{{q}}"\ndoc_to_choice: "{{c}}"\ndoc_to_target: "{{a}}"\n'
        "metric_list: [{metric: acc}, {metric: acc_norm}]\n"
    )
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    harness = HFLM(pretrained=model, tokenizer=tokenizer, batch_size=2, add_bos_token=name == "llama")
    tasks = TaskManager(include_path=str(tmp_path), include_defaults=False)
    found = simple_evaluate(model=harness, tasks=["asked"], task_manager=tasks, bootstrap_iters=0)
    metrics = KINDS[KIND].mean_scores(evaluated(made)[1])
    assert 100 * found["results"]["asked"]["acc,none"] == pytest.approx(metrics["accuracy"])
    assert 100 * found["results"]["asked"]["acc_norm,none"] == pytest.approx(metrics["accuracy_normalised"])
    samples = sorted(found["samples"]["asked"], key=lambda sample: sample["doc_id"])
    theirs = [float(answer[0]) for sample in samples for answer in sample["filtered_resps"]]
    assert -read(made)[:, 0] == pytest.approx(theirs, abs=1e-4)
