"""Features as they are read: with the first token or without, in any number of bins."""

from dataclasses import replace

import numpy as np
import pytest

from headtypes.analyses.distances.columns import COLUMNS, FINE_BINS
from headtypes.analyses.distances.results import (
    Features,
    has_first_token,
    read_distance,
    read_features,
    read_head_features,
)
from headtypes.core.hdf5_files import write_arrays

SAMPLES, LAYERS, HEADS = 37, 2, 3
COARSE = COLUMNS - FINE_BINS + 16


def features(seed: int = 0) -> Features:
    rng = np.random.default_rng(seed)
    distance = rng.random((SAMPLES, LAYERS, HEADS, COLUMNS), dtype=np.float32)
    return Features(
        distance=distance / distance.sum(-1, keepdims=True),
        length=rng.integers(5, 60, SAMPLES).astype(np.int32),
        truncated=rng.random(SAMPLES) < 0.5,
        sample_ids=[f"sample-{index}" + "é" * (index % 3) for index in range(SAMPLES)],
    )


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "features.h5"
    write_arrays(path, features(), {"rule": "extract_features"})
    return path


def with_first() -> Features:
    """Features of which a part of each share goes to the first token."""
    part = np.random.default_rng(9).random((SAMPLES, LAYERS, HEADS, COLUMNS), dtype=np.float32)
    return replace(features(), first=features().distance * part)


def test_the_first_token_can_be_counted_as_cls_or_by_its_distance(path, tmp_path):
    written = with_first()
    write_arrays(tmp_path / "first.h5", written, {})
    np.testing.assert_array_equal(read_features(tmp_path / "first.h5").first, written.first)
    assert has_first_token(tmp_path / "first.h5")
    assert not has_first_token(path)
    assert read_features(path).first is None
    plain = read_distance(path, 16)
    np.testing.assert_array_equal(read_distance(path, 16, False), plain)
    np.testing.assert_array_equal(read_distance(tmp_path / "first.h5", 16, False), plain)
    found = read_distance(tmp_path / "first.h5", 16).reshape(SAMPLES, LAYERS, HEADS, COARSE).astype(float)
    first, kept = written.first.astype(float), written.distance.astype(float) - written.first
    np.testing.assert_allclose(found[..., :16], kept[..., :64].reshape(*kept.shape[:3], 16, 4).sum(-1), atol=1e-6)
    np.testing.assert_allclose(found[..., [16, 18, 19, 20]], kept[..., [64, 66, 67, 68]], atol=1e-6)
    np.testing.assert_allclose(found[..., 17], kept[..., 65] + first.sum(-1), atol=1e-6)
    np.testing.assert_allclose(found.sum(-1), 1, atol=1e-5)
    heads, _ = read_head_features(tmp_path / "first.h5", 16)
    np.testing.assert_allclose(heads, found.reshape(SAMPLES, -1, COARSE).mean(0), atol=1e-7)
    np.testing.assert_array_equal(
        read_head_features(tmp_path / "first.h5", 16, False)[0], read_head_features(path, 16)[0]
    )


@pytest.mark.parametrize("bins", [1, 2, 4, 8, 16, 32, 64])
def test_every_number_of_bins_follows_from_the_stored_ones(path, bins):
    """Against sums in double precision, window by window."""
    fine = features().distance.astype(float).reshape(SAMPLES, LAYERS * HEADS, COLUMNS)
    width = 64 // bins
    coarse = [fine[..., start : start + width].sum(-1) for start in range(0, 64, width)]
    expected = np.concatenate([np.stack(coarse, -1), fine[..., 64:]], axis=-1)
    distance = read_distance(path, bins)
    assert distance.dtype == np.float32
    np.testing.assert_allclose(distance, expected, atol=1e-6)
    mean, shape = read_head_features(path, bins)
    assert (mean.dtype, shape) == (np.float64, (LAYERS, HEADS))
    np.testing.assert_allclose(mean, expected.mean(0), atol=1e-6)
