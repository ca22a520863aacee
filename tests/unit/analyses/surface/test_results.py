"""Surface patterns on disk: what is written comes back, and damage is seen."""

import json

import h5py
import numpy as np
import pytest

from headtypes.analyses.surface.results import COLUMNS, Surface, read_surface, write_surface

SAMPLES = 21


def surface() -> Surface:
    rng = np.random.default_rng(0)
    patterns = rng.random((SAMPLES, 2, 3, len(COLUMNS)), dtype=np.float32)
    patterns[4:9, 1, :, COLUMNS.index("sep")] = np.nan
    patterns[..., COLUMNS.index("next")] = np.nan
    return Surface(
        patterns=patterns,
        uniform=rng.random((SAMPLES, 2), dtype=np.float32),
        length=rng.integers(5, 60, SAMPLES).astype(np.int32),
        sample_ids=[f"segment-{index}" + "é" * (index % 3) for index in range(SAMPLES)],
        norms=rng.random(patterns.shape, dtype=np.float32),
    )


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "surface.h5"
    write_surface(path, surface(), {"rule": "measure_surface"})
    return path


def test_patterns_come_back_as_they_were(path):
    read, written = read_surface(path), surface()
    for name in ("patterns", "uniform", "length", "norms"):
        np.testing.assert_array_equal(getattr(read, name), getattr(written, name))
        assert getattr(read, name).dtype == getattr(written, name).dtype
    assert read.sample_ids == written.sample_ids
    with h5py.File(path) as file:
        assert json.loads(file.attrs["provenance"]) == {"rule": "measure_surface"}
        assert file["surface"].fletcher32


def test_a_mean_is_over_the_segments_that_have_the_pattern():
    read = surface()
    np.testing.assert_allclose(read.mean("self"), read.column("self").astype(float).mean(0), rtol=1e-12)
    sep = read.column("sep").astype(float)
    np.testing.assert_allclose(read.mean("sep")[1], np.delete(sep[:, 1], slice(4, 9), axis=0).mean(0), rtol=1e-12)
    assert np.isnan(read.mean("next")).all()
