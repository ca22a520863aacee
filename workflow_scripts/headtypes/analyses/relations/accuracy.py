"""Which head finds which dependency relation (Clark et al. 2019, section 4.2, Table 1), from stored guesses.

`headtypes.papers.clark2019.language.table1` sets the best heads beside the published values.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from headtypes.analyses.relations.choice import (
    NO_PAIRS,
    QUANTITIES,
    Choice,
    Part,
    choices,
    columns_of,
    listed_relations,
    read_treebank,
)
from headtypes.analyses.relations.guesses import DIRECTIONS, ArcGuesses, read_parts
from headtypes.analyses.relations.offsets import FILE, OFFSETS
from headtypes.core.hdf5_files import read_groups
from headtypes.core.statistics import ratio_intervals
from headtypes.core.table_files import table_reader, write_csv
from headtypes.data.kinds.treebank import Sentence

_TEXTS = dict.fromkeys(("annotation", "relation"), str)
_HEADS = ("annotation", "relation", "part", "layer", "head", "direction", "accuracy")
_BEST = (
    *("annotation", "relation", "chosen", "scored", "words", "layer", "head", "direction", "offset"),
    *("accuracy", "other_accuracy", "offset_accuracy", "above_offset", "left_out"),
)


# Of both tables of `measure_relations`.
read_relations = table_reader("holds no accuracies of relations", dict.fromkeys(_HEADS) | _TEXTS)
read_best_heads = table_reader("holds no best heads", dict.fromkeys(_BEST) | _TEXTS | {"left_out": str})


def chosen_and_scored_on_file(best: pd.DataFrame) -> pd.DataFrame:
    """The best heads as the paper has them, chosen and scored on the same sentences."""
    return best[(best["chosen"] == "file") & (best["scored"] == "file")]


class RelationTables(NamedTuple):
    """Both tables of `measure_relations`."""

    heads: pd.DataFrame
    best: pd.DataFrame


def measure_relations(
    parts: Mapping[str, Sequence[Sentence]],
    arcs: Mapping[str, ArcGuesses],
    *,
    least: int,
    offsets: int = OFFSETS,
    seed: int,
) -> RelationTables:
    """The accuracy of every head at every relation, and the best head of each.

    parts:   the sentences of `file` and, where there is one, of `test`; arcs: the guesses of each.
    least:   words of `file` that a relation must have to be a row; `root` and `punct` never are, and totals always.
    offsets: largest offset of the baseline, in both directions.

    returns two tables; layers and heads count from 0, all accuracies are in percent.
    heads: one row for each relation, part, layer, head and direction (`guesses.DIRECTIONS`): annotation and relation
      as `pairs.all_pairs` names them; words, the number of guesses; accuracy; visible, the number of those whose right
      answer the head can see; visible_accuracy, over these. Where it can see none, both accuracies are NaN: in a causal
      model, a guess at a word that stands later is impossible and not wrong.
    best: one row for each relation and way of choosing. chosen and scored: `file` and `file`, as in the paper; and
      `file` and `test` or, without a test file, `halves`: of the sentences of even and of odd index, each is
      scored with what is chosen on the other. words; layer, head and direction of the best head, and its accuracy;
      other_layer, other_head and other_accuracy of the best in the other direction; offset and offset_accuracy of the
      best offset (the head stands so many words behind the dependent); above_offset, the difference;
      forward_above_backward, the best from dependent to head minus the best from head to dependent; visible and
      visible_accuracy of the best head; to_sep and to_sep_others, how much of the attention in it goes to [SEP]
      (`choice.columns_of`). Each of these and of `QUANTITIES` has an interval over sentences, {name}_low and
      {name}_high. Where halves choose differently, layer, head, direction and offset are empty. left_out: how many
      sentences of `file` no head reads, and why, as a sentence; empty where there are none.
    """
    read, tried = read_treebank(parts, arcs, offsets)
    listed = list(listed_relations(read[FILE], least))
    best = [_with_intervals(choice, seed) for choice in choices(read, listed, tried)]
    rows = [_head_rows(name, part, annotation, row) for name, part in read.items() for annotation, row in listed]
    table = pd.concat(best, ignore_index=True)
    return RelationTables(pd.concat(rows, ignore_index=True), table.assign(left_out=" ".join(arcs[FILE].warnings)))


def _head_rows(name: str, part: Part, annotation: str, relation: str) -> pd.DataFrame:
    pairs = part.pairs[annotation].get(relation, NO_PAIRS)
    right, can_be = pairs.right(part.arcs.guess), part.arcs.can_be(pairs.words, pairs.heads)[:, :, None]
    visible = np.broadcast_to(can_be.sum(0), right.shape[1:])
    layer, head, direction = np.indices(right.shape[1:]).reshape(3, -1)
    columns = {
        "annotation": annotation,
        "relation": relation,
        "part": name,
        "words": len(pairs.words),
        "layer": layer,
        "head": head,
        "direction": np.array(DIRECTIONS)[direction],
        "accuracy": np.where(visible > 0, _percent(right.sum(0), len(right)), np.nan).ravel(),
        "visible": visible.ravel(),
        "visible_accuracy": _percent(right.sum(0), visible).ravel(),
    }
    return pd.DataFrame(columns)


def _with_intervals(choice: Choice, seed: int) -> pd.DataFrame:
    if not choice.rows:
        return pd.DataFrame()
    values, count = choice.scores, len(QUANTITIES)
    low, high = (100 * bound.reshape(-1, count) for bound in ratio_intervals(*choice.sums(), seed=seed))
    table = pd.DataFrame(choice.rows).assign(words=[scores.shape[1] for scores in values])
    for index, name in enumerate(QUANTITIES):
        means = np.array([100 * scores[index].mean() for scores in values])
        table[name] = means
        table[f"{name}_low"] = np.where(np.isnan(means), np.nan, low[:, index])
        table[f"{name}_high"] = np.where(np.isnan(means), np.nan, high[:, index])
    table = table.assign(**columns_of(choice.to_sep, seed))
    table["visible"] = [int(scores[-1].sum()) for scores in values]
    table["visible_accuracy"] = [_percent((scores[0] * scores[-1]).sum(), scores[-1].sum()) for scores in values]
    whole = ["layer", "head", "other_layer", "other_head", "offset"]
    return table.astype(dict.fromkeys(whole, "Int64"))


def _percent(count: np.ndarray, of: np.ndarray) -> np.ndarray:
    count, of = np.asarray(count, float), np.asarray(of, float)
    return np.divide(100 * count, of, out=np.full(np.broadcast_shapes(count.shape, of.shape), np.nan), where=of > 0)


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    """The job of the rule `measure_relations`."""
    tables = measure_relations(read_parts(inputs.rows, inputs.test), read_groups(inputs.arcs, ArcGuesses), **spec)
    write_csv(outputs.heads, tables.heads)
    write_csv(outputs.best, tables.best)
