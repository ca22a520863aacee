"""Which key-value heads need the whole cache, as DuoAttention's users and kvpress read it."""

import numpy as np
import pandas as pd

from headtypes.analyses.reach.results import Reach
from headtypes.core.files import StrPath, write_json, write_text
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
    scores, low, high = None, *np.full((2, len(score)), np.nan)
    if samples > 1:
        sizes = np.ones(samples)
        resampled = resampled_means(means, sizes, seed=seed, resamples=RESAMPLES)
        scores = _largest(resampled, layers, reach.kv_heads)
        low, high = bounds(scores, sizes)
    columns = {"score": score, "low": low, "high": high, **sides(score, scores)}
    return key_value_table(layers, reach.kv_heads, together).assign(**columns)


def key_value_table(layers: int, kv_heads: int, together: int) -> pd.DataFrame:
    """The key-value heads of a model, layer by layer: layer, kv_head and heads, as in `full_attention_heads`."""
    layer, kv_head = np.indices((layers, kv_heads)).reshape(2, -1)
    names = [
        " ".join(f"{layer + 1}-{head + 1}" for head in range(first * together, (first + 1) * together))
        for layer, first in zip(layer, kv_head, strict=True)
    ]
    return pd.DataFrame({"layer": layer, "kv_head": kv_head, "heads": names})


def sides(score: np.ndarray, resampled: np.ndarray | None) -> dict[str, np.ndarray]:
    """In which half of the scores each head is, and how often: full and keeps_side, as in `full_attention_heads`.

    score: [head]. resampled: [resample, head]; None where there are none.
    """
    full = _upper_half(score[None])[0]
    keeps = np.full(len(score), np.nan) if resampled is None else 100 * (_upper_half(resampled) == full).mean(0)
    return {"full": full, "keeps_side": keeps}


def write_full_attention(pattern: StrPath, config: StrPath, table: StrPath, heads: pd.DataFrame, about: dict) -> None:
    """Write the scores as `full_attention_heads.tsv` [layer, key-value head], its `config.json`, and the whole table.

    DuoAttention's `load_attn_pattern` and kvpress' `DuoAttentionPress` read the first two: the scores with
    `numpy.loadtxt`, and `sink_size` and `recent_size` from the second.

    heads: as of `full_attention_heads`. about: what the second says.
    """
    lines = ("\t".join(f"{score:.9f}" for score in rows["score"]) + "\n" for _, rows in heads.groupby("layer"))
    write_text(pattern, "".join(lines))
    write_json(config, about)
    write_csv(table, heads)


def _largest(means: np.ndarray, layers: int, kv_heads: int) -> np.ndarray:
    """Of each key-value head, the largest among the heads that share it: [row, layer * kv_head]."""
    return means.reshape(len(means), layers * kv_heads, -1).max(-1)


def _upper_half(scores: np.ndarray) -> np.ndarray:
    """Which scores of each row are not in its lower half."""
    return scores >= np.quantile(scores, 0.5, axis=1, keepdims=True)
