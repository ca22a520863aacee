"""Attention of heads to the tokens that detectors look for, on random tokens, and tests of it against nulls."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch
from scipy.special import bdtrc
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from headtypes.analyses.words import special_tokens
from headtypes.attention.one_pass import ModelOnTask, read_attention
from headtypes.attention.reducers import Block, PerSample
from headtypes.core.errors import InputError
from headtypes.core.files import derive_seed
from headtypes.core.statistics import ALPHA, holm, mean_intervals
from headtypes.core.table_files import write_csv, write_parquet
from headtypes.data.encoding import Encoded
from headtypes.models.records import ModelRecord, read_model_record

# Those of the workflow; there may be further ones, of a user's own.
DETECTORS = ("previous", "next", "first", "duplicate", "induction")


@dataclass(frozen=True)
class Sequences:
    """Sequences of random tokens `x`: each once repeated, `x x`, and once followed by its tokens shuffled, `x y`."""

    # First all `x x`, then, in the same order, all `x y`; around each the special tokens of a text.
    encoded: Encoded
    # The index of the first random token.
    start: int
    # Of `x`, whose tokens all differ.
    length: int


def draw_sequences(
    tokenizer: PreTrainedTokenizerFast, *, sequences: int, length: int, max_length: int, seed: int, model: str
) -> Sequences:
    """Return sequences `x x` and `x y` of random tokens, where `y` is `x` in another order.

    sequences: how many `x` are drawn; if more are drawn, the first stay the same. length: number of tokens of each `x`,
        at least 4, none of them special. max_length: tokens of the longest input of the model; model: its name.
    No token of `y` equals the token that stands `length` or `length` - 1 tokens before it.
    Raises `InputError` if the vocabulary or `max_length` is too small.
    """
    others = {*tokenizer.all_special_ids, *tokenizer.get_added_vocab().values()}
    ordinary = np.array(sorted(set(tokenizer.get_vocab().values()) - others))
    before, after = special_tokens(tokenizer)
    longest = min(len(ordinary), (max_length - len(before) - len(after)) // 2)
    if length > longest:
        raise InputError(
            f"{model}: half a sequence cannot have {length} different tokens: the vocabulary has {len(ordinary)}, and "
            f"the longest input {max_length} with special ones; at most {longest} can be drawn."
        )
    repeated, shuffled = [], []
    for number in range(sequences):
        generator = np.random.default_rng(derive_seed(seed, number))
        drawn = generator.choice(ordinary, length, replace=False)
        repeated.append([*before, *drawn.tolist(), *drawn.tolist(), *after])
        order = np.arange(length)
        # About one order in seven will do.
        while np.isin(order - np.arange(length), (0, 1)).any():
            order = generator.permutation(length)
        shuffled.append([*before, *drawn.tolist(), *drawn[order].tolist(), *after])
    input_ids = repeated + shuffled
    token_types = [[0] * len(ids) for ids in input_ids] if "token_type_ids" in tokenizer("a") else None
    # No token is of a kind of its own.
    kinds = [np.zeros(len(ids), np.int8) for ids in input_ids]
    return Sequences(Encoded(input_ids, token_types, kinds, np.zeros(len(input_ids), bool)), len(before), length)


class Targets(PerSample):
    """A reducer of each head's score by each detector, and of its null (the same where there is nothing to detect).

    The result is {detector: (score, null)}, both [sequence, layer, head]. A sequence is `x x` or `x y`: x is n random
    tokens, y the same tokens in another order. A[s, t] is the attention of token s to token t.
      induction: mean of A[s, s - n + 1] over s in the second half, on `x x`; null: on `x y` (Olsson et al. 2022).
      duplicate: mean of A[s, s - n] over s in the second half, on `x x`; null: on `x y` (Wang et al. 2023).
      first: mean of A[s, 0] over s in the second half of `x y`; null: the largest such mean of A[s, t] at another t.
      previous, next: mean of A[s, s - 1] or A[s, s + 1] over the n middle tokens s of `x y`; null: the largest such
          mean of A[s, s + offset] at another offset from -(n // 2) to n // 2.
    If no token can look ahead, the result lacks `next`.
    """

    def __init__(self, sequences: Sequences):
        self._start, self._length = sequences.start, sequences.length
        self._tokens = len(sequences.encoded.input_ids[0])
        self._farthest = self._length // 2
        super().__init__(2 + 2 * self._farthest + 1 + self._tokens)

    def add(self, block: Block) -> None:
        attention, first = block.attention, block.rows.start
        rows = torch.arange(first, block.rows.stop, device=attention.device)
        half = self._start + self._length
        second = rows[(rows >= half) & (rows < half + self._length)]
        middle = rows[(rows >= half - self._farthest) & (rows < half - self._farthest + self._length)]
        offsets = torch.arange(-self._farthest, self._farthest + 1, device=attention.device)
        sums = [
            attention[:, :, second - first, second - self._length + 1].sum(-1, keepdim=True),
            attention[:, :, second - first, second - self._length].sum(-1, keepdim=True),
            attention[:, :, (middle - first)[:, None], middle[:, None] + offsets].sum(-2),
            attention[:, :, second - first].sum(-2),
        ]
        self.values[block.group.samples, block.layer] += torch.cat(sums, -1) / self._length

    def result(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        repeated, shuffled = np.split(super().result(), 2)
        offsets, keys = np.split(shuffled[..., 2:], [2 * self._farthest + 1], axis=-1)
        scores = {"induction": (repeated[..., 0], shuffled[..., 0]), "duplicate": (repeated[..., 1], shuffled[..., 1])}
        places = {"previous": (offsets, self._farthest - 1), "next": (offsets, self._farthest + 1), "first": (keys, 0)}
        for name, (values, index) in places.items():
            scores[name] = values[..., index], np.delete(values, index, axis=-1).max(-1)
        # Where no token may look ahead, its weight is exactly zero.
        seen = scores["next"][0].any()
        return {name: scores[name] for name in DETECTORS if name in scores and (name != "next" or seen)}


def read_detectors(model: PreTrainedModel, sequences: Sequences, *, batch_tokens: int, what: str) -> pd.DataFrame:
    """Return a row for each detector, sequence, layer and head (from 0), with columns of these names, score and null.

    score: mean share of attention to the token that a detector looks for, such as the previous one. null: for induction
    and duplicate, the score if the second half of a sequence, a copy of the first, is shuffled; for first, the largest
    mean share to another position; for previous and next, the largest at another distance. what: work, in messages.
    """
    (scores,) = read_attention(model, sequences.encoded, [Targets(sequences)], batch_tokens=batch_tokens, what=what)
    score, null = (np.stack([pair[side] for pair in scores.values()]) for side in (0, 1))
    indices = [range(size) for size in score.shape[1:]]
    index = pd.MultiIndex.from_product([list(scores), *indices], names=["detector", "sequence", "layer", "head"])
    return pd.DataFrame({"score": score.ravel(), "null": null.ravel()}, index).reset_index()


def measure_detectors(
    record: ModelRecord, *, sequences: int, length: int, seed: int, precision: str, batch_tokens: int
) -> pd.DataFrame:
    run = ModelOnTask(record, task="random tokens", precision=precision, batch_tokens=batch_tokens)
    about = {"max_length": record.max_length, "seed": seed, "model": record.name}
    drawn = draw_sequences(run.tokenizer, sequences=sequences, length=length, **about)
    return read_detectors(run.model, drawn, batch_tokens=batch_tokens, what=run.what)


def detector_table(scores: pd.DataFrame, *, least: float) -> pd.DataFrame:
    """Return a row for each detector, layer and head: mean score, mean null, and whether the head is detected.

    scores: the table of `read_detectors`: for each sequence score (share of attention that goes where the detector
    looks) and null (share that an ordinary head would give there). least: by how much score must exceed null.
    Columns of the result, besides detector, layer and head (both from 0):
      score, null, difference, low, high: means over sequences of score, null and score - null; interval of difference.
      above, sequences: number of sequences on which score - null is above `least`, and number of all sequences.
      p: of a sign test of the hypothesis that score - null is above `least` on at most half of all sequences.
      corrected_p, detected: p corrected over all rows (Holm 1979), and whether corrected_p is below 0.05.
    """
    floats = scores.astype({"score": float, "null": float})
    score, null = (floats.pivot_table(name, ["detector", "layer", "head"], "sequence") for name in ("score", "null"))
    difference = (score - null).to_numpy()
    low, high = mean_intervals(difference.T, reach=(-1, 1))
    above, sequences = (difference > least).sum(1), difference.shape[1]
    p = bdtrc(above - 1, sequences, 0.5)
    corrected = holm(p)
    columns = {
        "score": score.mean(axis=1).to_numpy(),
        "null": null.mean(axis=1).to_numpy(),
        "difference": difference.mean(1),
        "low": low,
        "high": high,
        "above": above,
        "sequences": sequences,
        "p": p,
        "corrected_p": corrected,
        "detected": corrected < ALPHA,
    }
    table = pd.DataFrame(columns, score.index).reset_index()
    known = list(dict.fromkeys([*DETECTORS, *table["detector"]]))
    return table.sort_values("detector", key=lambda names: names.map(known.index), kind="stable")


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    least = spec.pop("least")
    scores = measure_detectors(read_model_record(inputs.model), **spec)
    scores.attrs["provenance"] = provenance
    write_parquet(outputs.scores, scores)
    write_csv(outputs.table, detector_table(scores, least=least))
