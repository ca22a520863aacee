"""Special tokens that get much of the weights and little of the norms are found, and where nothing can be said, why."""

import numpy as np
import pandas as pd
import pytest

from headtypes.analyses.distances.features import COLUMNS, FINE_BINS, SELF_AND_SPECIAL, Features
from headtypes.core.hdf5_files import write_arrays
from headtypes.papers.claims import BASES, FAILS, HOLDS, NO_VERDICT, OPEN
from headtypes.papers.kobayashi2020.claims import collect_shares
from headtypes.papers.paper import Compared
from headtypes.papers.registry import PAPERS
from tests.support.places import ROOT

PAPER = PAPERS["kobayashi2020"]
PUBLISHED = PAPER.published.read(ROOT / "reference/kobayashi2020.yaml")
SAMPLES, LAYERS, HEADS = 40, 3, 2
SPEC = {"repeats": {}, "tested": list(BASES)}


def shares(of_special: float, noise: float = 0.02) -> np.ndarray:
    """[sample, layer, head, column] rows that sum to one: `[CLS]` and `[SEP]` get so much together, periods a tenth."""
    rng = np.random.default_rng(int(1000 * of_special))
    special = np.clip(of_special + rng.normal(0, noise, (SAMPLES, LAYERS, HEADS)), 0, 0.9) * (of_special > 0)
    rows = np.zeros((SAMPLES, LAYERS, HEADS, COLUMNS))
    cls, sep, period = (FINE_BINS + SELF_AND_SPECIAL.index(kind) for kind in ("cls", "sep", "period"))
    rows[..., cls], rows[..., sep], rows[..., period] = 0.75 * special, 0.25 * special, 0.1
    rows[..., 0] = 1 - rows.sum(axis=-1)
    return rows.astype(np.float32)


def compared(tmp_path, weights: float, norms: float, noise: float = 0.02) -> Compared:
    ids = [f"s{number}" for number in range(SAMPLES)]
    lengths, cut = np.full(SAMPLES, 30, np.int32), np.zeros(SAMPLES, bool)
    features = Features(shares(weights, noise), lengths, cut, ids, norms=shares(norms, noise))
    write_arrays(tmp_path / "features.h5", features, {})
    return PAPER.compare({"features": {("bert", "text"): tmp_path / "features.h5"}}, PUBLISHED, SPEC)


def verdicts(table: pd.DataFrame) -> list[str]:
    return table[table["kind"] == "claim"]["verdict"].tolist()


@pytest.mark.parametrize(
    ("weights", "norms", "noise", "expected"),
    [
        (0.5, 0.1, 0.02, [HOLDS, HOLDS]),
        (0.5, 0.4, 0.02, [FAILS, HOLDS]),
        (0.3, 0.5, 0.02, [FAILS, FAILS]),
        (0.5, 0.25, 0.2, [OPEN, HOLDS]),
        (0.0, 0.0, 0.02, [NO_VERDICT, NO_VERDICT]),
    ],
)
def test_little_by_norms_beside_weights_is_told_from_as_much(tmp_path, weights, norms, noise, expected):
    found = compared(tmp_path, weights, norms, noise)
    assert verdicts(found.table) == expected
    if NO_VERDICT in expected:
        assert set(found.table["reason"][:2]) == {"its inputs have no [CLS] and no [SEP]"}
    else:
        assert "no number, and no checkpoint, is named there" in found.page


def test_shares_are_means_over_heads_and_samples(tmp_path):
    quantities = compared(tmp_path, 0.5, 0.1).quantities.set_index("quantity")["value"]
    for of, share in (("weights", 0.5), ("norms", 0.1)):
        rows = shares(share)
        special = rows[..., FINE_BINS + 1].astype(float) + rows[..., FINE_BINS + 2]
        assert quantities[f"special.{of}"] == pytest.approx(100 * special.mean())
        assert quantities[f"layer.2.special.{of}"] == pytest.approx(100 * special[:, 1].mean())
        assert quantities[f"punctuation.{of}"] == pytest.approx(10)
    assert quantities["n_samples"] == SAMPLES


def test_differences_are_paired_and_have_intervals(tmp_path):
    compared(tmp_path, 0.5, 0.1)
    found = collect_shares(tmp_path / "features.h5", PUBLISHED)
    difference = found.weighted_sum({"special.norms": 1.0, "special.weights": -1.0})
    of_samples = 100 * (shares(0.1) - shares(0.5))[..., FINE_BINS + 1 : FINE_BINS + 3].sum(-1).mean((1, 2))
    error = of_samples.std(ddof=1) / np.sqrt(SAMPLES)
    assert difference.value == pytest.approx(of_samples.mean(), abs=1e-4)
    assert (difference.high - difference.low) / (2 * 2.02 * error) == pytest.approx(1, abs=0.1)
