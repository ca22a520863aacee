"""The types of any two models side by side, and head by head where both have the same heads."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import lcm
from typing import NamedTuple

import numpy as np
import pandas as pd

from headtypes.analyses.types.clustering import check_shapes, compare_partitions, matched_clusters, most_together
from headtypes.analyses.types.partitions import Partition, order_types
from headtypes.core.table_files import table_reader
from headtypes.core.tables import Column, Table, TextColumn

PAIRS = {
    **dict.fromkeys(("model", "other", "relation"), str),
    **dict.fromkeys(("same_shares", "same_layers", "same_type", "same_cluster", "adjusted_rand"), float),
    **dict.fromkeys(("doubtful", "other_doubtful"), str),
}
TYPES = (
    *("model", "other", "type", "heads", "other_heads", "share", "other_share", "difference", "same_layers"),
    *("near", "other_near", "special", "other_special", "far", "other_far", "doubtful", "other_doubtful"),
)
HEADS = ("model", "other", "layer", "head", "type", "other_type", "same_cluster", "doubtful", "other_doubtful")


class ModelPair(NamedTuple):
    """Two models, each on one task, such as "bert on squad", with the relation: what `other` is to `model`.

    relation: "parent" if `model` was fine-tuned from `other`, "ancestor" if by way of others, "same model", or "".
    """

    model: str
    other: str
    relation: str


def list_pairs(parents: Mapping[str, str | None], models: Mapping[str, str]) -> list[ModelPair]:
    """Return a `ModelPair` for every two keys of `parents`: `other` is an ancestor of `model`, or the earlier key.

    parents: {"tuned on squad": "bert on squad" if the model tuned was fine-tuned from bert, else None}.
    models: {"tuned on squad": "tuned"}. Two keys with the same model are a `same model` pair.
    """
    pairs = []
    for other, model in combinations(parents, 2):
        if model in _line(other, parents):
            other, model = model, other
        relation, line = "same model" if models[other] == models[model] else "", _line(model, parents)
        if other in line:
            relation = "ancestor" if line.index(other) else "parent"
        pairs.append(ModelPair(model, other, relation))
    return pairs


def pairs_table(pairs: Sequence[ModelPair], partitions: Mapping[str, Partition]) -> pd.DataFrame:
    """Return one row for each pair of models on how alike the types of their heads are.

    partitions: {name in a pair, such as "bert on squad": partition}. Columns beside those of `ModelPair`:
    - same_shares: for each type the smaller of the two models' percents of heads of the type, summed over types.
    - same_layers: the same sum over types and layers; layers at the same fraction of the depth are compared.
    - same_type, same_cluster: percent of heads with the same type, or with matched clusters, in both models
      (`clustering.match_clusters`). adjusted_rand: adjusted Rand index of the partitions. These three are NaN if the
      relation is "", since heads of unrelated models do not correspond.
    - doubtful, other_doubtful: types of `model` and of `other` with uncertain names, as text joined by `, `.
    """
    rows = []
    for pair in pairs:
        model, other = partitions[pair.model], partitions[pair.other]
        _, ours, theirs = _by_depth(model, other)
        row = {
            **pair._asdict(),
            "same_shares": _overlap(ours.sum(axis=1), theirs.sum(axis=1)),
            "same_layers": _overlap(ours, theirs),
            "doubtful": ", ".join(model.doubtful),
            "other_doubtful": ", ".join(other.doubtful),
        }
        rows.append(row | (compare_partitions(model, other) if pair.relation else {}))
    return pd.DataFrame(rows, columns=list(PAIRS))


def parents_table(pairs: pd.DataFrame) -> pd.DataFrame:
    parents = pairs[pairs["relation"] == "parent"].rename(columns={"other": "parent"})
    return parents[["model", "parent", "same_type", "same_cluster", "adjusted_rand"]]


def types_table(pairs: Sequence[ModelPair], partitions: Mapping[str, Partition]) -> pd.DataFrame:
    """Return how both models of each pair use each type, one row (model, other, type) for each type of either model.

    partitions: {name in a pair, such as "bert on squad": partition}. Columns with `other_` are about the other model:
    - heads, other_heads: number of heads of the type; share, other_share: percent of the model's heads with the type;
    - near, special, far, and other_near, other_special, other_far: mean share, 0 to 1, of the attention of the type's
      heads that goes to near tokens, to special tokens with comma and period, and to all others (near tokens are the
      token itself, and those less than sample length / number of distance bins away);
    - doubtful, other_doubtful: whether the partition marks the type's name as uncertain;
    - difference: share less other_share;
    - same_layers: 100 if both models have the type's heads in the same layers; NaN if one model has none. It is the sum
      over layers (as in `pairs_table`) of the smaller of both models' percents of the type's heads.
    """
    rows = []
    for pair in pairs:
        both = partitions[pair.model], partitions[pair.other]
        names, ours, theirs = _by_depth(*both)
        for index, name in enumerate(names):
            row = {"model": pair.model, "other": pair.other, "type": name}
            for prefix, partition in zip(("", "other_"), both, strict=True):
                heads = partition.table[partition.table["type"] == name]
                row |= {f"{prefix}heads": len(heads), f"{prefix}share": 100 * len(heads) / len(partition.table)}
                row |= {f"{prefix}{group}": heads[group].mean() for group in ("near", "special", "far")}
                row[f"{prefix}doubtful"] = name in partition.doubtful
            row["difference"] = row["share"] - row["other_share"]
            there = row["heads"] and row["other_heads"]
            one, other = ours[index], theirs[index]
            row["same_layers"] = _overlap(one / one.sum(), other / other.sum()) if there else np.nan
            rows.append(row)
    return pd.DataFrame(rows, columns=list(TYPES))


def shared_heads_table(pairs: Sequence[ModelPair], partitions: Mapping[str, Partition]) -> pd.DataFrame:
    """Return each head's types in both models of each related pair, such as model and parent; one row for each head.

    pairs: a pair without a relation has no rows. partitions: {name in a pair, such as "bert on squad": partition}.
    Columns: model, other: the pair's names; layer, head: from 0; type, other_type: the head's type in model and other;
        same_cluster: whether the head's clusters in the two models are matched (clusters are matched one to one, so
        that most heads agree); doubtful, other_doubtful: whether the name of type, or of other_type, is uncertain.
    """
    tables = []
    for pair in pairs:
        if pair.relation:
            model, other = partitions[pair.model], partitions[pair.other]
            kept = matched_clusters(model, other)
            table = model.table[["layer", "head", "type", "doubtful"]].assign(
                model=pair.model,
                other=pair.other,
                other_type=other.type_of.reshape(-1),
                same_cluster=kept.reshape(-1),
                other_doubtful=other.table["doubtful"],
            )
            tables.append(table[list(HEADS)])
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=list(HEADS))


# Reads the table of `pairs_table`.
read_pairs = table_reader("is not a comparison of any two models", PAIRS, rows=0)


def _line(name: str, parents: Mapping[str, str | None]) -> list[str]:
    line = []
    while (name := parents.get(name)) and name not in line:
        line.append(name)
    return line


# Where numbers of layers differ, a layer's shares are split evenly: if the other model has twice as many layers, each
# layer becomes two with half of its heads each.
def _by_depth(model: Partition, other: Partition) -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    names, cells = order_types([*model.types, *other.types]), lcm(model.shape[0], other.shape[0])
    shares = []
    for partition in (model, other):
        layers, heads = partition.shape
        of_layer = np.stack([(partition.type_of == name).sum(axis=1) for name in names]) / (layers * heads)
        shares.append(np.repeat(of_layer, cells // layers, axis=1) / (cells // layers))
    return names, *shares


def _overlap(one: np.ndarray, other: np.ndarray) -> float:
    return 100 * float(np.minimum(one, other).sum())


def kept_by_chance(partition: Partition, parent_partition: Partition, *, permutations: int, seed: int) -> np.ndarray:
    """Return for each random permutation the percent of heads whose clusters in model and parent match: [permutation].

    partition, parent_partition: of a model and its parent. A permutation shuffles the model's clusters among the heads
        of each layer; they are then matched one to one with the parent's so that as many heads as possible match.
    """
    check_shapes(partition, parent_partition)
    names = order_types([*partition.types, *parent_partition.types])
    ours, theirs = np.vectorize(names.index, otypes=[int])([partition.type_of, parent_partition.type_of])
    rng, kept = np.random.default_rng(seed), np.zeros(permutations, dtype=int)
    for index in range(permutations):
        pairs = len(names) * rng.permuted(ours, axis=1) + theirs
        together = np.bincount(pairs.ravel(), minlength=len(names) ** 2).reshape(len(names), -1)
        kept[index] = together[most_together(together)].sum()
    return 100 * kept / partition.type_of.size


def type_layers_table(partitions: Mapping[str, Partition], parents: Mapping[str, str | None]) -> pd.DataFrame:
    """Return each layer's number of heads of each type, heads_{type}, one row for each model and layer (from 0).

    partitions: {model: partition}. parents: {model: its parent, or None}. The column same_cluster is the percent of the
        layer's heads that are in the same cluster as in the parent (clusters are matched one to one so that as many
        heads as possible agree). It is NaN for a model whose parent is not in `partitions`.
    """
    names = order_types(name for partition in partitions.values() for name in partition.types)
    tables = []
    for model, partition in partitions.items():
        table = pd.DataFrame({"model": model, "layer": range(partition.shape[0])})
        for name in names:
            table[f"heads_{name}"] = (partition.type_of == name).sum(axis=1)
        parent = partitions.get(parents.get(model))
        table["same_cluster"] = 100 * matched_clusters(partition, parent).mean(axis=1) if parent else np.nan
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


# The most pairs of models that the page has room for.
_PAIRS = 40
_COLUMNS = [
    TextColumn("model", "model"),
    TextColumn("other", "beside"),
    TextColumn("relation", "relation", note="what the model beside it is to it; if nothing, heads are not compared"),
    Column(
        "same_shares",
        "shares",
        digits=1,
        note="percent of heads that could keep their type if both had as many of each type",
    ),
    Column("same_layers", "by layer", digits=1, note="the same, if both had as many of each type at every depth"),
    Column("same_type", "each head", digits=1, note="percent of heads that have the type that they have in the other"),
    Column("same_cluster", "clusters", digits=1, note="the same for clusters, matched whatever their names are"),
    Column("adjusted_rand", "Rand", note="adjusted Rand index: 1 for equal clusterings, 0 on average for chance"),
    TextColumn("doubts", "doubtful names"),
]


def compared_table(pairs: pd.DataFrame, clustering: str) -> Table:
    """Return the first 40 rows of `pairs`, the result of `pairs_table`, as a table for a page.

    Pairs of related models, such as a model and its parent, come first. clustering: its name, for the title.
    """
    ordered = pairs.sort_values("relation", key=lambda relations: relations == "", kind="stable").head(_PAIRS)
    texts = {"doubtful": "{}", "other_doubtful": "beside: {}"}
    doubts = [
        ", ".join(text.format(names[column]) for column, text in texts.items() if names[column])
        for names in ordered[list(texts)].to_dict("records")
    ]
    about = (
        "How much of the heads' types two models have in common, in percent. Each model is clustered and its clusters "
        "are named by itself: where a name is doubtful, compare what the heads attend to, which is in types.csv beside "
        "this file."
    )
    if len(pairs) > _PAIRS:
        about += f" The first {_PAIRS} of {len(pairs)} pairs."
    return Table(f"Any two models: {clustering}", ordered.assign(doubts=doubts), _COLUMNS, about=about)
