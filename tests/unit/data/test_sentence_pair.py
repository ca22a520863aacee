"""Sentence pairs: encoded as for the features, with sentences and labels, classified as a plain loop does, scored."""

from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score
from tokenizers import processors

from headtypes.analyses.ablation.evaluation import Asked, evaluate_condition
from headtypes.core.errors import InputError
from headtypes.data.answering import Answers
from headtypes.data.encoding import encode_samples
from headtypes.data.kinds import sentence_pair
from headtypes.data.kinds.question_answering import build_windows
from headtypes.data.kinds.sentence_pair import Pair, SentencePair, label_numbers, labels_of
from headtypes.data.tasks import KINDS
from tests.support.models import tiny_bert, tiny_roberta
from tests.support.records import (
    PAIRS,
    classifier,
    described,
    inputs_of,
    pair_windows,
    question_of,
    recorded,
    same_windows,
    types_like,
    without_heads,
)

SAMPLES = KINDS["sentence_pair"].draw_samples(PAIRS, range)
MAKES = [tiny_bert, tiny_roberta]
SETTINGS = {"kind": "sentence_pair", "precision": "float32", "batch_tokens": 64}


@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize("max_length", [200, 20, 13])
def test_pairs_are_encoded_and_cut_as_for_the_features(make, max_length):
    _, tokenizer = make()
    windows = pair_windows(PAIRS, tokenizer, max_length=max_length)
    expected = encode_samples(SAMPLES, tokenizer, "sentence_pair", max_length)
    assert expected.truncated.any() == (max_length < 200)
    ids, types, _ = (arrays and [array.tolist() for array in arrays] for arrays in windows.texts)
    assert (ids, types) == (expected.input_ids, expected.token_types)
    assert windows.question_ids == ["p0", "p1", "p2", "p3"]
    assert windows.question.tolist() == [0, 1, 2, 3]


def test_labels_have_the_names_that_the_models_have_for_them():
    table = pd.DataFrame({"a": ["one", "two", "six"], "b": ["three", "four", "ten"], "l": ["yes", 0, "so"]})
    columns = {"first": "a", "second": "b", "label": "l"}
    read = KINDS["sentence_pair"].rows_of_file
    pairs = read(table, "x", "tasks.x.columns", {**columns, "labels": {"yes": 1, "0": "no"}})
    assert [pair.label for pair in pairs] == [1, "no", "so"]
    with knowing(["LABEL_0", "LABEL_1"]) as record:
        assert label_numbers(pairs[:1], record).tolist() == [1]
    assert [pair.label for pair in read(table, "x", "tasks.x.columns", columns)] == ["yes", 0, "so"]


def untrimmed_roberta():
    model, tokenizer = tiny_roberta()
    ids = [("</s>", tokenizer.sep_token_id), ("<s>", tokenizer.cls_token_id)]
    tokenizer.backend_tokenizer.post_processor = processors.RobertaProcessing(
        *ids, trim_offsets=False, add_prefix_space=False
    )
    return model, tokenizer


@pytest.mark.parametrize("make", [*MAKES, untrimmed_roberta])
def test_pairs_that_need_no_cut_are_encoded_as_questions_and_contexts(make):
    _, tokenizer = make()
    more = [(" it ", "A  dog ran .  the cat sat.  It  was old ."), ("it", "\u0003")]
    pairs = [*PAIRS, *(Pair(first, first, second, None) for first, second in more)]
    asked = [question_of(pair.id, pair.first, pair.second) for pair in pairs]
    expected = build_windows(asked, tokenizer, max_seq_length=200, max_query_length=100)
    same_windows(pair_windows(pairs, tokenizer, max_length=200), expected)


@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize("operations", [{}, {"dense": "zero", "1-2": "keep"}], ids=["plain", "ablated"])
@pytest.mark.parametrize("labels", [2, 3])
def test_labels_equal_those_of_a_plain_loop(make, operations, labels, tmp_path):
    model, tokenizer = classifier(make, labels)
    record = recorded(model, tokenizer, tmp_path)
    windows = pair_windows(PAIRS, tokenizer, max_length=60)
    partition = types_like(record)
    predicted, scores = evaluate_condition(
        Asked(PAIRS, windows, partition, record), condition="c", operations=operations, **SETTINGS
    )
    gone = (partition.type_of == "dense") & bool(operations)
    gone[0, 1] = False
    plain, expected = without_heads(model, gone), {}
    for pair, name in enumerate(windows.question_ids):
        with torch.inference_mode():
            expected[name] = model.config.id2label[int(plain(**inputs_of(windows, pair)).logits.argmax())]
    assert predicted == expected
    right = [expected[pair.id] == f"LABEL_{pair.label}" for pair in PAIRS]
    assert scores["correct"].tolist() == [100.0 * each for each in right]
    found = KINDS["sentence_pair"].mean_scores(scores)
    assert found["accuracy"] == 25.0 * sum(right)
    assert ("f1" in found) == (labels == 2)


def labelled(*labels):
    return [Pair(f"p{number}", "", "", label) for number, label in enumerate(labels)]


@contextmanager
def knowing(names):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentence_pair, "labels_of", lambda record: names)
        yield described("m")


@pytest.mark.parametrize(
    ("names", "labels", "expected"),
    [
        (["0", "1"], [1, 0, "1"], [1, 0, 1]),
        (["LABEL_0", "LABEL_1", "LABEL_2"], [2, "0", 1], [2, 0, 1]),
        (["CONTRADICTION", "NEUTRAL", "ENTAILMENT"], ["entailment", "neutral"], [2, 1]),
        (["False", "True"], [True, False], [1, 0]),
        (["-1", "1"], [1, -1], [1, 0]),
    ],
)
def test_labels_are_found_among_the_models(names, labels, expected):
    with knowing(names) as record:
        assert label_numbers(labelled(*labels), record).tolist() == expected


@pytest.mark.parametrize(
    ("labels", "names", "expected"),
    [
        ([10, 9, -1], ["-1", "9", "10"], [2, 1, 0]),
        ([True, False], ["False", "True"], [1, 0]),
        ([1, "1", "no"], ["1", "no"], [0, 0, 1]),
    ],
)
def test_labels_that_are_learned_are_told_apart_as_text(labels, names, expected):
    targets, learned = KINDS["sentence_pair"].training_targets(labelled(*labels), None)
    assert learned == names
    assert targets["labels"].tolist() == expected


def test_labels_that_are_one_to_a_model_are_refused(tmp_path):
    with pytest.raises(InputError, match="The training data have the labels 'Yes' and 'yes', which are taken for one"):
        KINDS["sentence_pair"].training_targets(labelled("Yes", "no", "yes"), None)
    model, tokenizer = classifier(tiny_bert, 2)
    for names in (["Same", "same"], ["same", "same"]):
        model.config.id2label = dict(enumerate(names))
        record = recorded(model, tokenizer, tmp_path)
        with pytest.raises(InputError, match=f"config.json in .* has the labels '{names[0]}' and 'same', which are"):
            labels_of(record)


def test_a_model_that_predicts_a_number_is_not_evaluated(tmp_path):
    record = recorded(*classifier(tiny_bert, 1), tmp_path)
    with pytest.raises(InputError, match=r"predicts a number and not a label; leave models\.\w+\.evaluate out"):
        labels_of(record)


@pytest.mark.parametrize(
    ("names", "labels", "message"),
    [
        (["0", "1"], [1, 2], "models.m knows the labels 0, 1, and pair p1 has 2, the first such pair of 1; write"),
        (["entailment", "neutral"], [0], "knows the labels entailment, neutral, and pair p0 has 0"),
        (["0", "1"], [0, 2, "x", 1, 2], "pair p1 has 2, the first such pair of 3;"),
        (["0", "1"], [2, "x: y", 1, 2], 'labels: {"2": ..., "x: y": ...}, with null'),
        (["LABEL_0", "LABEL_1"], [0, -1], "knows the labels 0, 1, and pair p1 has -1"),
        (["0", "1"], [0, None], "Pair p1 has no label; name the column of the labels"),
    ],
)
def test_a_label_that_the_model_lacks_is_told_in_one_sentence(names, labels, message):
    with pytest.raises(InputError, match=message) as caught, knowing(names) as record:
        label_numbers(labelled(*labels), record)
    assert len(str(caught.value).splitlines()) == 1


def test_logits_that_are_not_finite_choose_no_label():
    _, tokenizer = tiny_bert()
    answers = Answers("sentence_pair", pair_windows(PAIRS, tokenizer, max_length=60))
    with pytest.raises(InputError, match="logits are not finite"):
        answers.read(type("Output", (), {"logits": torch.tensor([[0.0, torch.nan]])}), [], {})


def scored(label, predicted, names):
    pairs = labelled(*[names[index] for index in label])
    windows = SimpleNamespace(question_ids=[pair.id for pair in pairs])
    with knowing(names) as record:
        return SentencePair().score_answers(pairs, windows, record, {"label": np.array(predicted)})[1]


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=40))
def test_two_labels_are_scored_as_scikit_learn_does(pairs):
    label, predicted = zip(*pairs, strict=True)
    found = SentencePair().mean_scores(scored(label, predicted, ["no", "yes"]))
    assert found["accuracy"] == pytest.approx(100 * accuracy_score(label, predicted))
    assert found["f1"] == pytest.approx(100 * f1_score(label, predicted, zero_division=0))
    assert list(found) == ["accuracy", "f1", "n_pairs"]
    assert found["n_pairs"] == len(pairs)


def test_more_labels_have_no_f1():
    found = SentencePair().mean_scores(scored([0, 1, 2, 2], [0, 2, 2, 1], ["a", "b", "c"]))
    assert found == {"accuracy": 50.0, "n_pairs": 4}


def test_a_table_of_one_label_still_knows_the_others_after_it_was_written(tmp_path):
    scores = scored([0, 0], [0, 0], ["no", "yes"])
    scores.to_parquet(tmp_path / "scores.parquet")
    read = pd.read_parquet(tmp_path / "scores.parquet")
    pd.testing.assert_frame_equal(read, scores)
    assert SentencePair().mean_scores(read) == {"accuracy": 100.0, "f1": 0.0, "n_pairs": 2}
