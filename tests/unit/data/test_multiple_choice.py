"""Questions with choices: read from every form that benchmarks have them in, and answered by likelihood."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from datasets import Dataset

from headtypes.analyses.ablation.evaluation import Evaluator, Settings
from headtypes.analyses.gradients.measure import measure_answer_gradients
from headtypes.attention.operations import operations_by_head
from headtypes.core.errors import InputError
from headtypes.data.answering import Answers
from headtypes.data.encoding import encode_samples, sample_inputs, sample_questions
from headtypes.data.fetching import fetch_task
from headtypes.data.kinds.multiple_choice import ChoiceQuestion
from headtypes.data.tasks import KINDS, Sample, read_rows, write_records
from tests.support.models import tiny_language_model
from tests.support.records import recorded, types_like
from tests.support.refusals import refusal
from tests.support.tiny import gpt2_tokenizer

KIND = "multiple_choice"
COLUMNS = {"question": "question", "choices": "choices", "answer": "answer"}
ROWS = [
    {"question": "The cat sat by the ", "choices": ["river", " house "], "answer": 1},
    {"question": "It ran. A dog", "choices": ["sat", "was", "saw it"], "answer": 2},
]
READ = [
    ChoiceQuestion("0", "The cat sat by the", ("river", "house"), 1),
    ChoiceQuestion("1", "It ran. A dog", ("sat", "was", "saw it"), 2),
]


def fetched(folder, rows=ROWS, columns=COLUMNS):
    path = folder / "asked.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return fetch_task("t", KIND, {"file": str(path)}, columns)[0]


def test_rows_are_read_written_drawn_and_encoded(tmp_path):
    rows = fetched(tmp_path)
    assert rows == READ
    write_records(tmp_path / "rows.jsonl", rows)
    assert read_rows(tmp_path / "rows.jsonl", KIND) == rows
    assert sample_questions(rows, questions=1, seed=0)[0] in rows
    samples = sample_inputs(rows, kind=KIND, samples=2, seed=0)
    assert samples == [Sample("0", "The cat sat by the house", None), Sample("1", "It ran. A dog saw it", None)]
    tokenizer = gpt2_tokenizer(["The", "cat"])
    encoded = encode_samples(samples, tokenizer, KIND, 64)
    assert tokenizer.decode(encoded.input_ids[0]) == "The cat sat by the house"


def test_columns_have_the_names_that_the_configuration_gives(tmp_path):
    rows = [{"ctx": "It ran to the", "endings": ["river", "cat"], "label": "1", "ind": number} for number in (24, 7)]
    columns = {"question": "ctx", "choices": "endings", "answer": "label", "id": "ind"}
    assert [(row.id, row.answer) for row in fetched(tmp_path, rows, columns)] == [("24", 1), ("7", 1)]
    unlike, near = ({**columns, "question": "contexts"}, {**columns, "choices": "ending"})
    assert "has no column contexts. Did you mean" not in refusal(fetched, tmp_path, rows, unlike)
    assert 'Did you mean "endings"? It has ctx, endings' in refusal(fetched, tmp_path, rows, near)


def test_choices_with_names_and_data_of_the_hub_are_read(tmp_path):
    choices = {"text": ["river", "house"], "label": ["A", "B"]}
    (row,) = fetched(tmp_path, [{"question": "It sat by the", "choices": choices, "answer": "B"}])
    assert (row.choices, row.answer) == (("river", "house"), 1)
    assert KINDS[KIND].rows_of_hub(Dataset.from_list(ROWS), "some/data", "tasks.t.columns", COLUMNS) == READ


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"choices": ["one"]}, "row 2 needs a list of at least two texts"),
        ({"answer": 3}, "row 2 has the answer 3; it must be one of 0, 1, 2."),
        (
            {"choices": {"text": ["a", "b"], "label": ["A", "A"]}, "answer": "A"},
            "row 2 needs a name of its own for each",
        ),
        ({"answer": True}, "row 2 has the answer True"),
    ],
)
def test_what_is_no_question_with_choices_is_told_with_its_row(tmp_path, change, words):
    rows = [{**ROWS[0], "id": "a"}, {**ROWS[1], "id": "b", **change}]
    assert words in refusal(fetched, tmp_path, rows, {**COLUMNS, "id": "id"})


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
    return prepared(request.param, tmp_path_factory.mktemp(request.param))


def prepared(name, folder):
    model, tokenizer = tiny_language_model(name)
    record = recorded(model, tokenizer, folder)
    return model, tokenizer, record, windows_for(record, tokenizer)


def windows_for(record, tokenizer, questions=QUESTIONS, max_seq_length=60):
    return KINDS[KIND].cut_windows(questions, tokenizer, record, max_seq_length=max_seq_length)


def plain_likelihoods(model, tokenizer) -> list[tuple[float, int]]:
    found = []
    for question in QUESTIONS:
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


def read(record, windows, **settings):
    chosen, by_head = Settings(**SETTINGS | settings), operations_by_head(types_like(record).type_of, {}, "c")
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Answers, "scored", lambda self, rows, windows, record, table: found.append(table))
        Evaluator(QUESTIONS, windows, record, None, chosen).evaluate([by_head], "test")
    (answers,) = found
    return answers.sort_values("window")[["loss", "tokens"]].to_numpy()


def test_likelihoods_equal_a_plain_loop_padded_and_alone(made):
    model, tokenizer, record, windows = made
    likelihood, tokens = map(np.array, zip(*plain_likelihoods(model, tokenizer), strict=True))
    assert np.ptp(np.diff(windows.offsets)) > 5
    for batch_tokens in (512, 1):
        found = read(record, windows, batch_tokens=batch_tokens)
        assert found[:, 1].tolist() == tokens.tolist()
        assert (np.abs(found[:, 0] + likelihood) / tokens).max() < 1e-5


def test_what_is_planted_is_chosen_and_length_is_counted_in_characters():
    """Likelihoods that are known: of the first question the right choice, of the second by length alone."""
    questions = [ChoiceQuestion("a", "it", ("was", "ran"), 1), ChoiceQuestion("b", "the", ("old house", "cat"), 0)]
    losses = np.array([3.0, 2.0, 4.5, 1.6])
    chosen, scores = KINDS[KIND].score_answers(questions, None, None, {"loss": losses})
    assert chosen == {"a": "ran", "b": "cat"}
    assert scores["correct"].tolist() == [100, 0]
    assert scores["correct_normalised"].tolist() == [100, 100]
    assert scores["log_likelihood"].tolist() == [-2.0, -4.5]
    assert KINDS[KIND].mean_scores(scores) == {"accuracy": 50.0, "accuracy_normalised": 100.0, "n_questions": 2}
    _, scores = KINDS[KIND].score_answers(questions, None, None, {"loss": np.array([2.0, 2.0, 1.0, 2.0])})
    assert scores["predicted"].tolist() == [0, 0], "of equal ones the first"


def test_sentences_are_those_of_the_question_and_the_choice_together(tmp_path):
    _, tokenizer, _, windows = prepared("llama", tmp_path)
    first, second = (windows.sentence[windows.tokens(window)].tolist() for window in (0, 1))
    words = tokenizer.convert_ids_to_tokens(windows.input_ids[windows.tokens(1)])
    assert first[0] == second[0] == -1, "of a special token"
    assert (max(first), max(second)) == (1, 2)
    assert second[words.index("Ġriver") if "Ġriver" in words else words.index("Ġhouse")] == 1


def test_a_question_that_is_too_long_loses_its_first_tokens(made):
    model, tokenizer, record, whole = made
    lengths = np.diff(whole.offsets)
    cut, window = windows_for(record, tokenizer, max_seq_length=int(lengths.max()) - 4), int(lengths.argmax())
    ids, before = (windows.input_ids[windows.tokens(window)] for windows in (cut, whole))
    special = int(tokenizer.bos_token_id == before[0] and record.model_type != "gpt2")
    assert ids.tolist() == [*before[:special], *before[special + 4 :]]
    targets = cut.targets[cut.tokens(window)]
    assert targets[targets >= 0].tolist() == [target for target in whole.targets[whole.tokens(window)] if target >= 0]
    with torch.inference_mode():
        of_next = model(torch.tensor(ids[None].astype(int))).logits[0].log_softmax(-1)
    expected = -sum(float(of_next[index, targets[index]]) for index in np.flatnonzero(targets >= 0))
    assert read(record, cut)[window, 0] == pytest.approx(expected, abs=1e-4)
    with pytest.raises(InputError, match=r"question b: its choice 'the old house by the river, and it ran' leaves no"):
        windows_for(record, tokenizer, QUESTIONS[1:], max_seq_length=8)


def test_gradients_are_of_the_right_choice(made):
    _, tokenizer, record, windows = made
    wrong = [
        replace(each, choices=[text if index == each.answer else "dog dog" for index, text in enumerate(each.choices)])
        for each in QUESTIONS
    ]
    how = {"task": "t", "samples": 3, "seed": 1, **SETTINGS}
    gradients = measure_answer_gradients(QUESTIONS, windows, record, **how)
    other = measure_answer_gradients(wrong, windows_for(record, tokenizer, wrong), record, **how)
    np.testing.assert_allclose(gradients.values, other.values, rtol=1e-4)
    assert gradients.loss == KIND
    assert gradients.samples == 3
    assert np.nanmin(gradients.values) >= 0
    assert np.nanmax(gradients.values) > 0
