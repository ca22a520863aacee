"""Surface patterns on disk: what is written comes back, and damage is seen."""

import json

import h5py
import numpy as np
import pytest

from headtypes.analyses.surface.measure import measure_surface
from headtypes.analyses.surface.results import COLUMNS, Surface, read_surface, write_surface
from headtypes.attention.run import ModelOnTask
from headtypes.core.errors import InputError
from headtypes.data.records import Sample
from tests.support.models import tiny_bert
from tests.support.records import recorded

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


@pytest.mark.parametrize("damage", ["column", "length", "uniform", "norms"])
def test_a_file_of_another_form_is_refused(path, damage):
    with h5py.File(path, "a") as file:
        shorter = file[damage][1:]
        del file[damage]
        file[damage] = shorter
    with pytest.raises(InputError, match=r"surface\.h5 is damaged or holds no surface patterns .*; delete it"):
        read_surface(path)


def test_a_flipped_bit_is_seen(path):
    with h5py.File(path) as file:
        chunk = file["surface"].id.get_chunk_info(1)
    data = bytearray(path.read_bytes())
    data[chunk.byte_offset + chunk.size // 2] ^= 0x10
    path.write_bytes(data)
    with pytest.raises(InputError, match="is damaged"):
        read_surface(path)


def test_what_is_measured_can_be_written(tmp_path):
    record = recorded(*tiny_bert(), tmp_path / "model")
    samples = [Sample("a", "the cat sat.", "it ran, by the river."), Sample("b", "a dog", "the old house")]
    run = ModelOnTask(record, task="texts", precision="float32", batch_tokens=512, max_seq_length=12)
    measured = measure_surface(run, samples, kind="text", segment_ids="pair")
    write_surface(tmp_path / "surface.h5", measured, {})
    read = read_surface(tmp_path / "surface.h5")
    assert read.length.tolist() == [12, 8]
    np.testing.assert_allclose(read.uniform, np.log([[12] * 3, [8] * 3]), rtol=1e-6)
    np.testing.assert_array_equal(read.patterns, measured.patterns)
    assert read.norms is None
    zeros = measure_surface(run, samples, kind="text", segment_ids="zeros")
    assert np.abs(zeros.patterns - measured.patterns).max() > 1e-3
