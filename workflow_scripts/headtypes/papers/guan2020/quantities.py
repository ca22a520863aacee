"""The quantities that this paper's claims are judged on, collected from our results and from its own numbers.

`model` lists their names.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

import numpy as np
import pandas as pd

from headtypes.analyses.ablation.intervals import weighted_sums
from headtypes.analyses.ablation.results import read_scores
from headtypes.analyses.types.choice import GAP_FREEDOM
from headtypes.analyses.types.partitions import Partition
from headtypes.analyses.types.stability import matched_clusters
from headtypes.comparisons.models.compared import kept_by_chance
from headtypes.core.files import StrPath, read_json, undamaged
from headtypes.core.seeds import derive_seed
from headtypes.core.table_files import read_csv
from headtypes.papers.comparison import read_named
from headtypes.papers.guan2020.model import Model
from headtypes.papers.guan2020.published import HALVES, MAIN_MODEL, METRICS, Guan2020
from headtypes.papers.paper import Key
from headtypes.papers.quantities import Measured

_SCORES = ["id", "condition", *METRICS, "n_questions"]
_STABILITY = [*(f"{half}_all_agree" for half in HALVES), "own_cluster"]
_PERMUTATIONS = 1999

Interval = Callable[[Mapping[str, float], str, bool], tuple]


def collect_quantities(
    partitions: Mapping[Key, Partition],
    ablations: pd.DataFrame | None,
    stabilities: pd.DataFrame | None,
    published: Guan2020,
    intervals: Mapping[Key, Interval],
    *,
    choices: Mapping[Key, Mapping[str, float]] = MappingProxyType({}),
    parents: Mapping[Key, Partition] = MappingProxyType({}),
    families: Mapping[Key, Mapping[str, Partition]] = MappingProxyType({}),
) -> dict[Key, Model]:
    """What is known of every model and partition.

    partitions: by model and name of the partition; the order of the result.
    ablations, stabilities: of these, as `tables.ablation_table` and `tables.stability_table` make them; partitions may
        be missing from either, and either may be None.
    intervals: by partition, where there are scores of single questions: `intervals.weighted_sums`.
    choices: by partition, what clusterings like it say: `read_stabilities`.
    parents: by partition, that of the model's parent: `parents_of`; families: as of `families_of`.
    """
    collected = {}
    for key, partition in partitions.items():
        evaluated, stability = _of(ablations, key, _SCORES), _of(stabilities, key, _STABILITY)
        # A task of sentence pairs has no exact match, and an F1 of another kind.
        evaluated = evaluated[evaluated["id"].notna() & evaluated["exact_match"].notna()]
        # Where two conditions of the config do the same, the first counts.
        scores = evaluated.drop_duplicates("id").astype({"id": int}).set_index("id")
        of_sum = _sums(intervals[key], scores["condition"].to_dict()) if key in intervals else None
        heads = _heads(partition)
        values = {f"share.{name}": 100 * int(counts.sum()) / partition.type_of.size for name, counts in heads.items()}
        values |= _layout(partition)
        special = partition.table.groupby("type")["special"].mean()
        values |= {f"special.{name}": 100 * special[name] for name in partition.types}
        values |= {name: value for name, value in choices.get(key, {}).items() if name != "gap_error"}
        if not stability.empty:
            measured = stability.iloc[0].dropna()
            k = len(partition.types)
            values |= {
                f"stability.{k}.{half}": measured[name] for half in HALVES if (name := f"{half}_all_agree") in measured
            }
            if "own_cluster" in measured:
                values["own_cluster"] = measured["own_cluster"]
        if key in parents:
            kept = 100 * matched_clusters(partition, parents[key])
            values["kept"] = kept.mean()
            values |= {f"changed.{layer}": 100 - percent for layer, percent in enumerate(kept.mean(axis=1))}
        for model, of_model in families.get(key, {}).items():
            values |= {f"family.{model}.{name}": value for name, value in _layout(of_model).items()}
        if not evaluated.empty:
            values["n_questions"] = evaluated["n_questions"].max()
        measured = {name: Measured(value) for name, value in values.items()}
        if "gap" in choices.get(key, {}):
            measured["gap"] = Measured.with_error(values["gap"], choices[key]["gap_error"], GAP_FREEDOM, "clouds drawn")
        if key in parents:
            seed = derive_seed(0, "kept_by_chance")
            chance = kept_by_chance(partition, parents[key], permutations=_PERMUTATIONS, seed=seed)
            measured["kept_beyond_chance"] = Measured.beyond_chance(values["kept"], chance)
        for number in scores.index:
            for metric in METRICS:
                name = f"{number}.{metric}"
                measured[name] = of_sum({name: 1.0}, False) if of_sum else Measured(scores.loc[number, metric])
        collected[key] = Model(measured, of_sum, published=published)
    return collected


def published_stability(stabilities: pd.DataFrame | None, keys: Iterable[Key]) -> dict[Key, list[float]]:
    """The published stability beside which each partition stands in Table 1: one number or none."""
    column = "published_stability"
    return {key: _of(stabilities, key, [column])[column].dropna().tolist() for key in keys}


def published_quantities(published: Guan2020, stability: Iterable[float]) -> Model:
    """The paper's own numbers; stability: those of its Table 1 that stand beside the model at hand."""
    values = {f"{it.id}.{metric}": getattr(it, metric) for it in published.conditions for metric in METRICS}
    values |= {f"share.{name}": share for name, share in published.shares.types.items()}
    k = len(published.shares.types)
    values |= {f"stability.{k}.published {number}": value for number, value in enumerate(stability, start=1)}
    return Model({name: Measured(value) for name, value in values.items()}, published=published)


def _of(table: pd.DataFrame | None, key: Key, columns: list[str]) -> pd.DataFrame:
    if table is None:
        return pd.DataFrame(columns=columns)
    return table.loc[(table["model"] == key[0]) & (table["partition"] == key[1]), columns]


def _sums(interval: Interval, conditions: Mapping[int, str]) -> Callable[..., Measured]:
    """Weighted sums of scores by the names of quantities; conditions: of the config, by the paper's numbers."""

    def of_sum(weights: Mapping[str, float], for_claim: bool = True) -> Measured:
        # Only scores are ever summed, and those in one sum are all of one metric.
        by_condition, metrics = {}, set()
        for name, weight in weights.items():
            number, _, metric = name.partition(".")
            by_condition[conditions[int(number)]] = weight
            metrics.add(metric)
        (metric,) = metrics
        return Measured(*interval(by_condition, metric, for_claim))

    return of_sum


def _heads(partition: Partition) -> dict[str, np.ndarray]:
    return {name: (partition.type_of == name).sum(axis=1) for name in partition.types}


def _layout(partition: Partition) -> dict[str, int]:
    values = {f"doubtful.{name}": 1 for name in partition.doubtful}
    by_type = _heads(partition).items()
    return values | {f"heads.{layer}.{name}": int(n) for name, counts in by_type for layer, n in enumerate(counts)}


def read_tables(paths: Iterable[StrPath]) -> pd.DataFrame | None:
    """Tables of ours with the same columns, one below the other; None where there is none."""
    read = [read_named(path) for path in paths]
    return pd.concat(read, ignore_index=True) if read else None


def read_intervals_of(scores: Mapping[tuple[str, str, str], StrPath], seed: int) -> dict[Key, object]:
    """`intervals.weighted_sums` of every partition that is evaluated; scores: by model, partition and condition."""
    by_partition: dict[Key, dict[str, StrPath]] = {}
    for (model, partition, condition), path in scores.items():
        by_partition.setdefault((model, partition), {})[condition] = path
    return {
        key: weighted_sums(dict(zip(files, read_scores(list(files.values())), strict=True)), seed=seed)
        for key, files in by_partition.items()
    }


def read_stabilities(
    partitions: Iterable[dict], stabilities: Mapping[Key, StrPath], numbers: Mapping[Key, StrPath]
) -> dict[Key, dict[str, float]]:
    """What clusterings like each partition say: quantities, as `model` names them.

    partitions: model, partition and k of each; stabilities, numbers: both files of `measure_stability`.
    returns by partition the stability of clusterings that differ from it in k alone, its gap less that of a single
      cluster and the standard error of that, and the agreement of k-means and each Gaussian mixture with its k.
    """
    found = {}
    for partition in partitions:
        key = partition["model"], partition["partition"]
        found[key] = {}
        if key not in stabilities:
            continue
        with undamaged(stabilities[key], "does not say how stable types are"):
            stability = read_json(stabilities[key])
            if stability["gap"] is not None:
                found[key] |= {name: stability[name] for name in ("gap", "gap_error")}
            found[key] |= {f"mixture_agreement.{kind}": rand for kind, rand in stability["mixtures"].items()}
        columns = {half: f"{half}_all_agree" for half in HALVES}
        by_k = read_csv(numbers[key], "is not a table of numbers of types", ["k", *columns.values()])
        for row in by_k[by_k["k"] != partition["k"]].to_dict("records"):
            of_k = {f"stability.{row['k']}.{half}": row[column] for half, column in columns.items()}
            found[key] |= {name: value for name, value in of_k.items() if not math.isnan(value)}
    return found


def parents_of(partitions: Iterable[dict], read: dict[Key, Partition]) -> dict[Key, Partition]:
    """The partition of each model's parent, made in the same way on the same task, where there is one."""
    parents = {(it["model"], it["partition"]): (it["parent"], it["partition"]) for it in partitions}
    return {key: read[parent] for key, parent in parents.items() if parent in read}


def families_of(partitions: Iterable[dict], read: dict[Key, Partition]) -> dict[Key, dict[str, Partition]]:
    """Beside each partition of the paper's main model, those made in the same way of all models of its Table 1.

    partitions: model, partition, method, k and published (the model's name in Table 1, or None) of each, in the
        config's order. Of a model's partitions that on the same task is taken, else the first: a fine-tuned model
        is read on its own task, though the paper does not say on which it read its models.
    """
    partitions, families = list(partitions), {}
    for main in partitions:
        if main["published"] != MAIN_MODEL or main["method"] is None:
            continue
        alike = [it for it in partitions if (it["method"], it["k"]) == (main["method"], main["k"]) and it["published"]]
        alike.sort(key=lambda it: (it is not main, it["partition"] != main["partition"]))
        family: dict[str, Partition] = {}
        for it in alike:
            family.setdefault(it["published"], read[it["model"], it["partition"]])
        families[main["model"], main["partition"]] = family
    return families
