"""Surface patterns: their means over samples."""

import numpy as np

from headtypes.analyses.surface.results import COLUMNS, Surface

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


def test_a_mean_is_over_the_segments_that_have_the_pattern():
    read = surface()
    np.testing.assert_allclose(read.mean("self"), read.column("self").astype(float).mean(0), rtol=1e-12)
    sep = read.column("sep").astype(float)
    np.testing.assert_allclose(read.mean("sep")[1], np.delete(sep[:, 1], slice(4, 9), axis=0).mean(0), rtol=1e-12)
    assert np.isnan(read.mean("next")).all()
