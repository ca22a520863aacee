"""Accuracy and F1 of pairs are scikit-learn's, and a table keeps what they need."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score

from headtypes.data.kinds.sentence_pair import SentencePair, score_pairs


def scored(label, predicted, names):
    ids = [f"p{number}" for number in range(len(label))]
    return score_pairs(ids, np.array(label), np.array(predicted), names)


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
