"""Files that are cut off or have a bit that is another: never other numbers without a word."""

from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from headtypes.analyses.ablation.evaluation import write_scores
from headtypes.analyses.ablation.intervals import read_scores
from headtypes.analyses.distances.features import Features, read_features
from headtypes.core.hdf5_files import write_arrays
from headtypes.models.fetching import fetch_model
from headtypes.models.loading import load_model
from tests.support.models import saved, tiny_bert
from tests.support.refusals import refusal

IDS = [f"sample-{number}" for number in range(5)]


def flipped(content: bytes, place: int) -> bytes:
    wrong = bytearray(content)
    wrong[place] ^= 0x10
    return bytes(wrong)


def test_a_flipped_bit_in_numbers_in_hdf5_is_refused(tmp_path: Path):
    """Also where the record of the file is not at hand, as in results that were copied without it."""
    path = tmp_path / "features.h5"
    distance = np.random.default_rng(0).random((5, 2, 4, 69), dtype=np.float32)
    write_arrays(path, Features(distance, np.full(5, 9, np.int32), np.zeros(5, bool), IDS), {})
    with h5py.File(path) as file:
        chunk = file["distance"].id.get_chunk_info(0)
    content = path.read_bytes()
    for place in np.linspace(chunk.byte_offset, chunk.byte_offset + chunk.size - 1, 20).astype(int):
        path.write_bytes(flipped(content, place))
        assert "features.h5" in refusal(read_features, path)


def test_a_flipped_bit_in_numbers_in_parquet_is_refused(tmp_path: Path):
    path = tmp_path / "scores.parquet"
    scores = {"id": IDS, "article": ["a"] * 5, "exact_match": np.zeros(5), "f1": np.linspace(0, 100, 5)}
    write_scores(path, pd.DataFrame(scores), {})
    content, row_group = path.read_bytes(), pq.ParquetFile(path).metadata.row_group(0)
    for column in (row_group.column(2), row_group.column(3)):
        start = column.dictionary_page_offset or column.data_page_offset
        path.write_bytes(flipped(content, start + column.total_compressed_size - 2))
        assert "scores.parquet" in refusal(read_scores, [path])


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_model_that_is_cut_off_is_refused_by_name(name, tmp_path):
    saved(*tiny_bert(layers=1, heads=2, head_size=3), tmp_path)
    content = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(content[: len(content) // 2])
    assert str(tmp_path) in refusal(lambda: load_model(fetch_model("tiny", {"folder": str(tmp_path)}), "float32"))
