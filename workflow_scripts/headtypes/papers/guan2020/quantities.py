"""The quantities that this paper's claims are judged on, collected from our results and from its own numbers.

`words` lists their names.
"""

from collections.abc import Callable, Iterable, Mapping

import pandas as pd

from headtypes.papers.guan2020.published import Guan2020
from headtypes.papers.guan2020.words import METRICS
from headtypes.papers.quantities import Measured, Quantities
from headtypes.types.descent import compare_partitions
from headtypes.types.partitions import Partition

READINGS = {
    f"{half}_{agreement}": f"stability, halves of the {half}, {words}"
    for half in ("heads", "samples")
    for agreement, words in (("all_agree", "all agree"), ("pairwise", "pairwise"))
}
_SCORES = ["id", "condition", *METRICS, "n_questions"]

Key = tuple[str, str]
Interval = Callable[[Mapping[str, float], str], tuple[float, float, float]]


def collect_quantities(
    partitions: Mapping[Key, Partition],
    ablations: pd.DataFrame | None,
    stabilities: pd.DataFrame | None,
    *,
    intervals: Mapping[Key, Interval],
    silhouettes: Mapping[Key, Mapping[int, float]],
    parents: Mapping[Key, Partition],
) -> dict[Key, Quantities]:
    """What is known of every model and partition.

    partitions: by model and name of the partition; the order of the result.
    ablations, stabilities: of these partitions, as `tables.ablation_table` and `tables.stability_table` make them;
        partitions may be missing from either, and either may be None.
    intervals: by partition, where there are scores of single questions: a function of {condition's name: weight}
        and a metric (exact_match or f1) that returns the sum of the conditions' mean scores times their weights,
        and the ends of its interval, NaN where it has none.
    silhouettes: by partition, the silhouettes of clusterings that differ from it in k alone, by k.
    parents: by partition, that of the model's parent, made in the same way on the same task.
    """
    return {
        key: _quantities(
            partition,
            _of(ablations, key, _SCORES),
            _of(stabilities, key, list(READINGS)),
            intervals.get(key),
            silhouettes.get(key, {}),
            parents.get(key),
        )
        for key, partition in partitions.items()
    }


def published_stability(stabilities: pd.DataFrame | None, keys: Iterable[Key]) -> dict[Key, list[float]]:
    """The published stability beside which each partition stands in Table 1: one number or none."""
    column = "published_stability"
    return {key: _of(stabilities, key, [column])[column].dropna().tolist() for key in keys}


def published_quantities(published: Guan2020, stability: Iterable[float]) -> Quantities:
    """The paper's own numbers; it gives none for layers, for other numbers of clusters, or for parents.

    stability: the numbers of its Table 1 that stand beside the model at hand.
    """
    values = {f"{it.id}.{metric}": getattr(it, metric) for it in published.conditions for metric in METRICS}
    values |= {f"share.{name}": share.percent for name, share in published.shares.types.items()}
    values |= {f"stability.published {number}": value for number, value in enumerate(stability, start=1)}
    return Quantities({name: Measured(value) for name, value in values.items()})


def _of(table: pd.DataFrame | None, key: Key, columns: list[str]) -> pd.DataFrame:
    if table is None:
        return pd.DataFrame(columns=columns)
    return table.loc[(table["model"] == key[0]) & (table["partition"] == key[1]), columns]


def _quantities(
    partition: Partition,
    evaluated: pd.DataFrame,
    stability: pd.DataFrame,
    interval: Interval | None,
    silhouettes: Mapping[int, float],
    parent: Partition | None,
) -> Quantities:
    # A task of sentence pairs has no exact match, and an F1 of another kind.
    evaluated = evaluated[evaluated["id"].notna() & evaluated["exact_match"].notna()]
    # Where two conditions of the config do the same, the first counts.
    scores = evaluated.drop_duplicates("id").astype({"id": int}).set_index("id")
    conditions = scores["condition"].to_dict()

    def of_sum(weights: Mapping[str, float]) -> Measured:
        # Only scores are ever summed, and those in one sum are all of one metric.
        by_condition, metrics = {}, set()
        for name, weight in weights.items():
            number, _, metric = name.partition(".")
            by_condition[conditions[int(number)]] = weight
            metrics.add(metric)
        (metric,) = metrics
        return Measured(*interval(by_condition, metric))

    heads = {name: (partition.type_of == name).sum(axis=1) for name in partition.types}
    values = {f"share.{name}": 100 * int(counts.sum()) / partition.type_of.size for name, counts in heads.items()}
    values |= {f"doubtful.{name}": 1 for name in partition.doubtful}
    values |= {f"heads.{layer}.{name}": int(n) for name, counts in heads.items() for layer, n in enumerate(counts)}
    values |= {} if stability.empty else {f"stability.{name}": stability[name].iloc[0] for name in READINGS}
    values |= {f"silhouette.{k}": value for k, value in silhouettes.items()}
    if parent:
        values["kept"] = compare_partitions(partition, parent)["same_type"]
        values |= {f"parent.doubtful.{name}": 1 for name in parent.doubtful}
    if not evaluated.empty:
        values["n_questions"] = evaluated["n_questions"].max()
    measured = {name: Measured(value) for name, value in values.items()}
    for number in scores.index:
        for metric in METRICS:
            name = f"{number}.{metric}"
            measured[name] = of_sum({name: 1.0}) if interval else Measured(scores.loc[number, metric])
    return Quantities(measured, of_sum if interval else None)
