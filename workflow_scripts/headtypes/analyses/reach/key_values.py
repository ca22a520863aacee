"""What a model copies from needles, and how it goes on with text, without each of its key-value heads."""

from dataclasses import replace

import numpy as np
import pandas as pd
from jaxtyping import Float

from headtypes.analyses.detectors.retrieval import ask, predict_tokens, values_of
from headtypes.analyses.reach.full_attention import RESAMPLES, key_value_table, sides
from headtypes.core.statistics import bounds, resampled_means
from headtypes.models.model_config import key_value_heads, layers_and_heads
from headtypes.models.records import ModelRecord

# Of each text's other tokens, evenly spread: their logits take memory.
TOKENS = 64
# The rule, as the file states it.
RULE = (
    "The score of a key-value head is by how much the probability of a token that is to be copied from a needle falls "
    "without it: 1 - exp(-rise of the loss in nats per token), 0 where the loss does not rise."
)
COLUMNS = (
    *("layer", "kv_head", "heads", "score", "full", "keeps_side"),
    *(f"{of}{end}" for of in ("copying", "text") for end in ("", "_low", "_high")),
)


def measure_key_values(record: ModelRecord, *, seed: int, batch_tokens: int, **settings) -> pd.DataFrame:
    """Measure what each key-value head contributes to copying from needles, and to any other text.

    record, batch_tokens, settings: as in `retrieval.ask`, of two or more texts. seed: of texts and intervals.

    returns one row per key-value head, as `effect_table`; none for a model without a language head.
    Raises `InputError` as `retrieval.ask`, and where a loss is not finite.
    """
    asked = ask(replace(record, queries_per_head=1), seed=seed, batch_tokens=batch_tokens, **settings)
    if asked is None:
        return pd.DataFrame(columns=list(COLUMNS))
    model, needles, what = asked
    ids, (asking, values), between = np.array(needles.encoded.input_ids), values_of(needles), needles.between
    spread = np.linspace(0, between.shape[1] - 1, min(TOKENS, between.shape[1])).astype(int)
    others = between[:, spread]
    (layers, heads), kv_heads = layers_and_heads(model), key_value_heads(model.config)
    alone = np.eye(layers * kv_heads, dtype=bool).reshape(-1, layers, kv_heads).repeat(heads // kv_heads, axis=2)
    losses, _ = predict_tokens(
        model,
        needles.encoded,
        np.concatenate([asking, others - 1], axis=1),
        np.concatenate([values, np.take_along_axis(ids, others, axis=1)], axis=1),
        np.concatenate([np.zeros_like(alone[:1]), alone]),
        batch_tokens=batch_tokens,
        what=f"{what}, without each key-value head",
    )
    rises = [(of[1:] - of[0]).mean(-1) for of in np.split(losses, [values.shape[1]], axis=-1)]
    return effect_table(key_value_table(layers, kv_heads, heads // kv_heads), *rises, seed=seed)


def effect_table(
    heads: pd.DataFrame, copying: Float[np.ndarray, "head text"], text: Float[np.ndarray, "head text"], *, seed: int
) -> pd.DataFrame:
    """The key-value heads by what they contribute.

    heads: as of `key_value_table`. copying, text: by how much the loss of each text's tokens rises without each head,
        in nats per token: of those that are to be copied, and of others. seed: of the bootstrap over texts.

    returns the heads, with the columns
      score: by `RULE`, 0 to 1;
      full, keeps_side: as in `full_attention.full_attention_heads`, by this score;
      copying, text: the mean rises, with 95 % intervals over texts (_low, _high).
    """
    sizes, columns = np.ones(copying.shape[1]), {}
    for name, rises in (("copying", copying), ("text", text)):
        resampled = resampled_means(rises.T, sizes, seed=seed, resamples=RESAMPLES)
        low, high = bounds(resampled, sizes)
        columns |= {name: rises.mean(1), f"{name}_low": low, f"{name}_high": high}
        if name == "copying":
            score, scores = (-np.expm1(-np.maximum(of, 0)) for of in (rises.mean(1), resampled))
    return heads.assign(score=score, **sides(score, scores), **columns)[list(COLUMNS)]
