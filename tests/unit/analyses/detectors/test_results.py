"""Which heads are detected: by how often they exceed the null, with the stated rates of error."""

import numpy as np
import pandas as pd
import pytest

from headtypes.analyses.detectors.results import detector_table, read_detector_table
from headtypes.core.errors import InputError
from headtypes.core.statistics import holm, sign_tests
from headtypes.core.table_files import write_csv


def scores_of(differences: np.ndarray, detector: str = "first") -> pd.DataFrame:
    """Scores whose differences from a null of 0.1 are given: [sequence, layer, head]."""
    names = ["sequence", "layer", "head"]
    index = pd.MultiIndex.from_product([range(size) for size in differences.shape], names=names)
    return (
        pd.DataFrame({"score": 0.1 + differences.ravel(), "null": 0.1}, index).reset_index().assign(detector=detector)
    )


def test_the_table_has_means_and_the_test_by_hand():
    differences = np.zeros((10, 1, 3))
    differences[:, 0, 0] = np.linspace(0.11, 0.65, 10)
    differences[:, 0, 1] = [0.5] * 9 + [0.1]
    table = detector_table(scores_of(differences), least=0.1, seed=1)
    assert table["layer"].tolist() == [0, 0, 0]
    assert table["head"].tolist() == [0, 1, 2]
    np.testing.assert_allclose(table["score"], [0.48, 0.56, 0.1])
    np.testing.assert_allclose(table["null"], 0.1)
    np.testing.assert_allclose(table["difference"], [0.38, 0.46, 0])
    assert ((table["low"] <= table["difference"]) & (table["difference"] <= table["high"])).all()
    # All of ten, nine of ten (what equals the least is not above it), and none: by the binomial distribution.
    assert table["above"].tolist() == [10, 9, 0]
    assert table["sequences"].tolist() == [10] * 3
    np.testing.assert_allclose(table["p"], [1 / 1024, 11 / 1024, 1])
    np.testing.assert_allclose(table["corrected_p"], [3 / 1024, 22 / 1024, 1])
    assert table["detected"].tolist() == [True, True, False]
    assert not detector_table(scores_of(differences), least=0.7, seed=1)["detected"].any()


def test_detectors_come_in_their_order_and_are_corrected_together():
    differences = np.zeros((10, 1, 3))
    differences[:, 0, 0] = 0.5
    two = pd.concat([scores_of(differences, "induction"), scores_of(differences, "previous")])
    table = detector_table(two.sample(frac=1, random_state=1), least=0.1, seed=1)
    assert table["detector"].tolist() == ["previous"] * 3 + ["induction"] * 3
    np.testing.assert_allclose(table["corrected_p"], [6 / 1024, 1, 1] * 2)


@pytest.mark.parametrize("sequences", [16, 33])
def test_where_no_head_is_of_the_kind_at_most_the_stated_rate_is_detected(sequences):
    generator = np.random.default_rng(1)
    # Above the least on half of all sequences, and far above it where they are, so that means do not guard against it.
    models = 0.1 + generator.choice([-0.05, 0.8], (2000, 30, sequences))
    p = sign_tests((models > 0.1).sum(2), sequences)
    assert (p < 0.05).mean() <= 0.05
    assert np.mean([(holm(of_model) < 0.05).any() for of_model in p]) <= 0.05


def test_damaged_files_are_refused(tmp_path):
    table = detector_table(scores_of(np.zeros((4, 1, 2))), least=0.1, seed=1)
    write_csv(tmp_path / "table.csv", table)
    pd.testing.assert_frame_equal(
        read_detector_table(tmp_path / "table.csv"), table.reset_index(drop=True), check_exact=False
    )
    (tmp_path / "table.csv").write_text("layer,head\n0,0\n")
    with pytest.raises(InputError, match=r"table.csv is damaged or holds no heads by detector"):
        read_detector_table(tmp_path / "table.csv")
