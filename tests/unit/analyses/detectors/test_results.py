"""Which heads are detected: by how often they exceed the null, with the stated rates of error."""

import numpy as np
import pandas as pd

from headtypes.analyses.detectors.results import detector_table


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
