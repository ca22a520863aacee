"""Features on disk: what is written comes back, equal features give equal bytes, and damage is seen."""

import hashlib
import json
import os
import subprocess
import sys
import time
from dataclasses import replace

import h5py
import numpy as np
import pytest

from headtypes.analyses.distances.columns import COLUMNS, FINE_BINS
from headtypes.analyses.distances.results import (
    Features,
    has_first_token,
    read_distance,
    read_features,
    read_head_features,
    write_features,
)
from headtypes.core.errors import InputError
from tests.support.places import ROOT, SCRIPTS

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
    write_features(path, features(), {"rule": "extract_features"})
    return path


def test_features_come_back_as_they_were(path):
    read, written = read_features(path), features()
    for name in ("distance", "length", "truncated"):
        np.testing.assert_array_equal(getattr(read, name), getattr(written, name))
        assert getattr(read, name).dtype == getattr(written, name).dtype
    assert read.sample_ids == written.sample_ids
    with h5py.File(path) as file:
        assert json.loads(file.attrs["provenance"]) == {"rule": "extract_features"}


def with_first() -> Features:
    """Features of which a part of each share goes to the first token."""
    part = np.random.default_rng(9).random((SAMPLES, LAYERS, HEADS, COLUMNS), dtype=np.float32)
    return replace(features(), first=features().distance * part)


def test_the_first_token_can_be_counted_as_cls_or_by_its_distance(path, tmp_path):
    written = with_first()
    write_features(tmp_path / "first.h5", written, {})
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


@pytest.mark.parametrize("samples", [1, 15, 16, 17])
def test_any_number_of_samples_can_be_stored(tmp_path, samples):
    all_ = features()
    part = Features(all_.distance[:samples], all_.length[:samples], all_.truncated[:samples], all_.sample_ids[:samples])
    write_features(tmp_path / "few.h5", part, {})
    np.testing.assert_array_equal(read_features(tmp_path / "few.h5").distance, part.distance)
    assert read_distance(tmp_path / "few.h5", 16).shape == (samples, LAYERS * HEADS, COARSE)


def test_equal_features_give_equal_bytes_in_another_process_at_another_time(path, tmp_path):
    """The clock of HDF5's times of creation counts in seconds."""
    time.sleep(1.1)
    program = (
        "import sys\nfrom tests.unit.analyses.distances.test_results import *\n"
        "write_features(sys.argv[1], features(), {'rule': 'extract_features'})"
    )
    again = tmp_path / "again.h5"
    environment = {**os.environ, "PYTHONPATH": f"{SCRIPTS}:{ROOT}", "PYTHONHASHSEED": "7"}
    subprocess.run([sys.executable, "-c", program, str(again)], env=environment, check=True)
    assert hashlib.sha256(path.read_bytes()).digest() == hashlib.sha256(again.read_bytes()).digest()


@pytest.mark.parametrize("name", ["distance", "length", "truncated", "sample_id"])
def test_a_flipped_bit_in_the_data_is_seen(path, name):
    with h5py.File(path) as file:
        chunks = file[name].id.get_num_chunks()
        chunk = file[name].id.get_chunk_info(chunks // 2)
    place = chunk.byte_offset + chunk.size // 2
    data = bytearray(path.read_bytes())
    data[place] ^= 0x10
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"features\.h5 is damaged or is not a feature file .*; delete it"):
        read_features(path)
    if name == "distance":
        for read in (read_distance, read_head_features):
            with pytest.raises(InputError, match="is damaged"):
                read(path, 16)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99])
def test_a_file_that_was_cut_off_is_seen(path, share):
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(InputError, match="is damaged or is not a feature file"):
        read_features(path)


def make(path, **datasets):
    with h5py.File(path, "w") as file:
        for name, shape in datasets.items():
            if shape is None:
                file.create_group(name)
            else:
                file.create_dataset(name, data=np.zeros(shape))


@pytest.mark.parametrize(
    "datasets",
    [
        {},
        {"input_ids": (5,)},
        {"distance": None},
        {"distance": (5,)},
        {"distance": (4, 2, 3, COARSE)},
        {"distance": (4, 2, COLUMNS)},
    ],
)
def test_a_file_of_another_kind_is_told_apart(tmp_path, datasets):
    path = tmp_path / "other.h5"
    make(path, **datasets)
    for read in (read_features, lambda path: read_distance(path, 16), lambda path: read_head_features(path, 16)):
        with pytest.raises(InputError, match=r"other\.h5 is damaged or is not a feature file") as caught:
            read(path)
        assert len(str(caught.value).splitlines()) == 1


def test_parts_of_the_first_token_of_other_heads_are_told(tmp_path):
    write_features(tmp_path / "first.h5", with_first(), {})
    with h5py.File(tmp_path / "first.h5", "a") as file:
        fewer = file["first"][:, :, :2]
        del file["first"]
        file["first"] = fewer
    for read in (read_features, has_first_token, lambda path: read_distance(path, 16)):
        with pytest.raises(InputError, match=r"first\.h5 is damaged or is not a feature file"):
            read(tmp_path / "first.h5")


def test_a_file_that_is_no_hdf5_or_not_there_is_named(tmp_path):
    (tmp_path / "text.h5").write_text("text")
    for name in ("text.h5", "none.h5"):
        with pytest.raises(InputError, match=name):
            read_features(tmp_path / name)


def test_nothing_is_left_behind_when_writing_fails_half_way(path, monkeypatch):
    before = path.read_bytes()
    monkeypatch.setattr("h5py.string_dtype", lambda **_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_features(path, features(seed=1), {})
    assert os.listdir(path.parent) == [path.name]
    assert path.read_bytes() == before
