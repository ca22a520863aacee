"""The heads' features in two dimensions, where heads that look at similar things lie close to one another."""

import numpy as np
import pandas as pd
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits

from headtypes.core.heads import per_head

_KINDS = {"layer": int, "head": int, "x": np.float32, "y": np.float32}


def embed_heads(features: np.ndarray, shape: tuple[int, int], seed: int) -> pd.DataFrame:
    """Lay the heads out in two dimensions so that neighbours stay neighbours (t-SNE, van der Maaten and Hinton 2008).

    features: [layer * head, column] head features, as they were clustered.
    shape:    number of layers, heads in a layer.
    seed:     0 to 2**32 - 1; equal seeds give equal places.
    returns   one row per head: layer, head (both from 0), x and y, without unit; distances between groups mean
        nothing.
    """
    perplexity = min(30.0, (len(features) - 1) / 3)
    # One thread: more would add up forces in an order that changes from run to run.
    with threadpool_limits(1):
        tsne = TSNE(perplexity=perplexity, init="pca", learning_rate="auto", random_state=seed)
        places = tsne.fit_transform(features.astype(float))
    return per_head(shape, {"x": places[:, 0], "y": places[:, 1]}).astype(_KINDS)
