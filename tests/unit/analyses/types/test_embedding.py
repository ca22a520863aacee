"""The heads in two dimensions: planted types stay apart, and equal seeds give equal places."""

import numpy as np
import pandas as pd
from sklearn.metrics import silhouette_score

from headtypes.analyses.types.clustering import embed_heads
from tests.support.drawing import planted


def test_an_embedding_keeps_planted_types_apart_and_comes_out_the_same_again():
    features, partition = planted()
    places = embed_heads(features, partition.shape, seed=3)
    pd.testing.assert_frame_equal(places, embed_heads(features, partition.shape, seed=3))
    assert places[["layer", "head"]].to_numpy().tolist() == [list(head) for head in np.ndindex(partition.shape)]
    assert silhouette_score(places[["x", "y"]], partition.type_of.reshape(-1)) > 0.3
