"""The heads in two dimensions: planted types stay apart, equal seeds give equal places, and a file keeps them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import silhouette_score

from headtypes.analyses.types.embedding import embed_heads, read_embedding
from headtypes.core.errors import InputError
from headtypes.core.table_files import write_csv
from tests.support.drawing import planted


def test_an_embedding_keeps_planted_types_apart_and_comes_out_the_same_again():
    features, partition = planted()
    places = embed_heads(features, partition.shape, seed=3)
    pd.testing.assert_frame_equal(places, embed_heads(features, partition.shape, seed=3))
    assert places[["layer", "head"]].to_numpy().tolist() == [list(head) for head in np.ndindex(partition.shape)]
    assert silhouette_score(places[["x", "y"]], partition.type_of.reshape(-1)) > 0.3


def test_places_come_back_from_disk_to_the_last_bit(tmp_path):
    rng = np.random.default_rng(0)
    places = pd.DataFrame({"layer": 0, "head": range(1000), "x": rng.normal(size=1000), "y": rng.normal(size=1000)})
    places = places.astype({"x": np.float32, "y": np.float32})
    write_csv(tmp_path / "p.csv", places)
    pd.testing.assert_frame_equal(read_embedding(tmp_path / "p.csv"), places, check_exact=True)
    (tmp_path / "p.csv").write_text("layer,head,x\n0,0,1\n")
    with pytest.raises(InputError, match=r"p.csv is damaged or holds no places of heads"):
        read_embedding(tmp_path / "p.csv")
