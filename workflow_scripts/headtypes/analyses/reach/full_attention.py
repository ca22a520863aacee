"""Which key-value heads need the whole cache, as DuoAttention's users and kvpress read it."""

from pathlib import Path

import numpy as np
import pandas as pd

from headtypes.analyses.reach.results import Reach
from headtypes.core.files import write_json, write_text
from headtypes.core.statistics import bounds, resampled_means
from headtypes.core.table_files import write_csv

RESAMPLES = 1000
# The rule, as the files state it.
RULE = (
    "The score of a key-value head is the largest, over the heads of queries that share it, of the mean share of "
    "attention that goes beyond the first sink_size and the last recent_size tokens."
)


def full_attention_heads(reach: Reach, *, seed: int) -> pd.DataFrame:
    """Score each key-value head by `RULE`, and say how certain the score is over samples.

    seed:   of the bootstrap over samples.
    returns one row per key-value head: layer and kv_head (from 0), heads (names of the query heads that share it,
        from 1), score (0 to 1), low and high (95 % interval; NaN for one sample), full (whether it is in the upper half
        of the scores, and so keeps the whole cache at DuoAttention's sparsity of 0.5), keeps_side (percent of the
        resamples in which it is in the same half; NaN for one sample).
    """
    samples, layers, heads = reach.share.shape
    together = heads // reach.kv_heads
    means = reach.share.reshape(samples, -1).astype(float)
    score = _largest(means.mean(0)[None], layers, reach.kv_heads)[0]
    layer, kv_head = np.indices((layers, reach.kv_heads)).reshape(2, -1)
    names = [
        " ".join(f"{layer + 1}-{head + 1}" for head in range(first * together, (first + 1) * together))
        for layer, first in zip(layer, kv_head, strict=True)
    ]
    low = high = keeps = np.full(len(score), np.nan)
    full = _upper_half(score[None])[0]
    if samples > 1:
        sizes = np.ones(samples)
        resampled = resampled_means(means, sizes, seed=seed, resamples=RESAMPLES)
        scores = _largest(resampled, layers, reach.kv_heads)
        low, high = bounds(scores, sizes)
        keeps = 100 * (_upper_half(scores) == full).mean(0)
    columns = {"heads": names, "score": score, "low": low, "high": high, "full": full, "keeps_side": keeps}
    return pd.DataFrame({"layer": layer, "kv_head": kv_head, **columns})


def write_full_attention(
    pattern: str | Path, config: str | Path, table: str | Path, heads: pd.DataFrame, reach: Reach, provenance: dict
) -> None:
    """Write the scores as `full_attention_heads.tsv` [layer, key-value head], its `config.json`, and the whole table.

    DuoAttention's `load_attn_pattern` and kvpress' `DuoAttentionPress` read the first two: the scores with
    `numpy.loadtxt`, and `sink_size` and `recent_size` from the second.
    """
    scores = heads["score"].to_numpy().reshape(-1, reach.kv_heads)
    write_text(pattern, "".join("\t".join(f"{score:.9f}" for score in row) + "\n" for row in scores))
    write_json(
        config,
        {
            "sink_size": reach.sink_size,
            "recent_size": reach.recent_size,
            "rule": RULE,
            "samples": len(reach.share),
            "provenance": provenance,
        },
    )
    write_csv(table, heads)


def _largest(means: np.ndarray, layers: int, kv_heads: int) -> np.ndarray:
    """Of each key-value head, the largest among the heads that share it: [row, layer * kv_head]."""
    return means.reshape(len(means), layers * kv_heads, -1).max(-1)


def _upper_half(scores: np.ndarray) -> np.ndarray:
    """Which scores of each row are not in its lower half."""
    return scores >= np.quantile(scores, 0.5, axis=1, keepdims=True)
