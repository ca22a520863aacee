"""Features as they are read: with the first token or without, in any number of bins."""

import numpy as np
import pytest

from headtypes.analyses.distances.features import COLUMNS, Features, has_first_token, read_distance, read_head_features
from headtypes.core.hdf5_files import write_arrays

SAMPLES, LAYERS, HEADS = 37, 2, 3


@pytest.mark.parametrize("first", [False, True], ids=["", "first token"])
@pytest.mark.parametrize("bins", [1, 2, 4, 8, 16, 32, 64])
def test_every_number_of_bins_follows_from_the_stored_ones(bins, first, tmp_path):
    """Against sums in double precision, window by window; the first token is counted as [CLS] or by its distance."""
    rng, path = np.random.default_rng(0), tmp_path / "features.h5"
    distance = rng.random((SAMPLES, LAYERS, HEADS, COLUMNS), dtype=np.float32)
    distance /= distance.sum(-1, keepdims=True)
    to_first = distance * rng.random(distance.shape, dtype=np.float32) if first else None
    length, truncated = rng.integers(5, 60, SAMPLES).astype(np.int32), rng.random(SAMPLES) < 0.5
    ids = [f"sample-{index}" + "é" * (index % 3) for index in range(SAMPLES)]
    write_arrays(path, Features(distance, length, truncated, ids, to_first), {})
    assert has_first_token(path) == first
    for counted in (True, False):
        shares = distance.astype(float)
        if first and counted:
            shares -= to_first
            shares[..., 65] += to_first.sum(-1, dtype=float)
        width = 64 // bins
        coarse = [shares[..., start : start + width].sum(-1) for start in range(0, 64, width)]
        expected = np.concatenate([np.stack(coarse, -1), shares[..., 64:]], axis=-1).reshape(SAMPLES, -1, bins + 5)
        found = read_distance(path, bins, counted)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, expected, atol=1e-6)
        mean, shape = read_head_features(path, bins, counted)
        assert (mean.dtype, shape) == (np.float64, (LAYERS, HEADS))
        np.testing.assert_allclose(mean, expected.mean(0), atol=1e-6)
