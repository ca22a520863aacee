"""The quantities that this paper's claims are judged on, collected from our results and from its own numbers.

`model` lists their names.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from headtypes.analyses.ablation.intervals import weighted_sums
from headtypes.analyses.ablation.results import read_scores
from headtypes.analyses.types.matching import matched_clusters
from headtypes.analyses.types.partitions import Partition
from headtypes.analyses.types.stability import GAP_FREEDOM
from headtypes.comparisons.models.compared import kept_by_chance
from headtypes.core.files import StrPath, read_json, undamaged
from headtypes.core.seeds import derive_seed
from headtypes.core.table_files import read_csv
from headtypes.papers.guan2020.model import Model
from headtypes.papers.guan2020.published import HALVES, MAIN_MODEL, METRICS, Guan2020
from headtypes.papers.paper import Key
from headtypes.papers.quantities import Measured

_PERMUTATIONS = 1999


class Answers(NamedTuple):
    """Of a model under a partition: `intervals.weighted_sums` of its answers' scores, and how many they are."""

    weighted_sum: Callable[..., tuple]
    n_questions: int


def collect_quantities(
    partitions: Mapping[Key, Partition],
    answers: Mapping[Key, Answers],
    conditions: Mapping[Key, Mapping[int, str]],
    published: Guan2020,
    *,
    stabilities: Mapping[Key, Mapping[str, Measured]] = MappingProxyType({}),
    parents: Mapping[Key, Partition] = MappingProxyType({}),
    families: Mapping[Key, Mapping[str, Partition]] = MappingProxyType({}),
) -> dict[Key, Model]:
    """What is known of every model and partition.

    partitions: by model and name of the partition; the order of the result.
    answers: of these, as `read_answers` gives them; conditions: `numbered_conditions`.
    stabilities: by partition, as `read_stabilities` gives them.
    parents: by partition, that of the model's parent: `parents_of`; families: as of `families_of`.
    """
    collected = {}
    for key, partition in partitions.items():
        special = partition.table.groupby("type")["special"].mean()
        heads = {name: int(counts.sum()) for name, counts in _heads(partition).items()}
        values = {f"share.{name}": 100 * number / partition.type_of.size for name, number in heads.items()}
        values |= _layout(partition) | {f"special.{name}": 100 * special[name] for name in partition.types}
        for model, of_model in families.get(key, {}).items():
            values |= {f"family.{model}.{name}": value for name, value in _layout(of_model).items()}
        measured = {name: Measured(value) for name, value in values.items()} | dict(stabilities.get(key, {}))
        if key in parents:
            measured |= _kept(partition, parents[key])
        of_sum = None
        if key in answers and conditions.get(key):
            measured["n_questions"] = Measured(answers[key].n_questions)
            of_sum = _sums(answers[key].weighted_sum, conditions[key])
            scores = [f"{number}.{metric}" for number in sorted(conditions[key]) for metric in METRICS]
            measured |= {name: of_sum({name: 1.0}, False) for name in scores}
        collected[key] = Model(measured, of_sum, published=published)
    return collected


def published_quantities(published: Guan2020, row: str | None = None) -> Model:
    """The paper's own numbers; row: that of its Table 1 beside which the model at hand stands, if any."""
    values = {f"{it.id}.{metric}": getattr(it, metric) for it in published.conditions for metric in METRICS}
    values |= {f"share.{name}": share for name, share in published.shares.types.items()}
    if row is not None:
        values[f"stability.{len(published.shares.types)}.published"] = published.stability.models[row]
    return Model({name: Measured(value) for name, value in values.items()}, published=published)


def numbered_conditions(rows: Iterable[Mapping], published: Guan2020) -> dict[Key, dict[int, str]]:
    """By model and partition, the config's name of each of the paper's conditions, by its number; the first of equals.

    rows: one per evaluation: model, partition, condition (as evaluated) and operations.
    """
    named: dict[Key, dict[int, str]] = defaultdict(dict)
    for row in rows:
        if of_paper := published.condition_with(row["operations"]):
            named[row["model"], row["partition"]].setdefault(of_paper.id, row["condition"])
    return named


def _sums(interval: Callable[..., tuple], conditions: Mapping[int, str]) -> Callable[..., Measured]:
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


def _kept(partition: Partition, parent: Partition) -> dict[str, Measured]:
    kept = 100 * matched_clusters(partition, parent)
    seed = derive_seed(0, "kept_by_chance")
    chance = kept_by_chance(partition, parent, permutations=_PERMUTATIONS, seed=seed)
    measured = {"kept": Measured(kept.mean()), "kept_beyond_chance": Measured.beyond_chance(kept.mean(), chance)}
    return measured | {f"changed.{layer}": Measured(100 - of) for layer, of in enumerate(kept.mean(axis=1))}


def read_answers(scores: Mapping[tuple[str, str, str], StrPath], seed: int) -> dict[Key, Answers]:
    """The answers of every model that answers questions; scores: files by model, partition and condition.

    A task of sentence pairs has no exact match, and an F1 of another kind.
    """
    by_partition: dict[Key, dict[str, StrPath]] = defaultdict(dict)
    for (model, partition, condition), path in scores.items():
        by_partition[model, partition][condition] = path
    answers = {}
    for key, files in by_partition.items():
        read = dict(zip(files, read_scores(list(files.values())), strict=True))
        table = next(iter(read.values()))
        if "exact_match" in table:
            answers[key] = Answers(weighted_sums(read, seed=seed), len(table))
    return answers


def read_stabilities(
    partitions: Mapping[Key, Partition], stabilities: Mapping[Key, StrPath], numbers: Mapping[Key, StrPath]
) -> dict[Key, dict[str, Measured]]:
    """How stable each clustering and others like it are: quantities, as `model` names them.

    stabilities, numbers: both files of `cluster_heads`, by partition.
    returns by partition its stability and that of clusterings that differ from it in k alone, its gap less that of a
      single cluster, the pairs that are nearest to their own cluster, and the agreement of k-means and each Gaussian
      mixture with its k.
    """
    found = {}
    for key, path in stabilities.items():
        k = len(partitions[key].types)
        with undamaged(path, "does not say how stable types are"):
            stability = read_json(path)
            values = {f"stability.{k}.{half}": stability[half]["all_agree"] for half in HALVES if stability[half]}
            values["own_cluster"] = stability["own_cluster"]
            values |= {f"mixture_agreement.{kind}": rand for kind, rand in stability["mixtures"].items()}
            gap, error = stability["gap"], stability["gap_error"]
        columns = {half: f"{half}_all_agree" for half in HALVES}
        by_k = read_csv(numbers[key], "is not a table of numbers of types", ["k", *columns.values()])
        for row in by_k[by_k["k"] != k].to_dict("records"):
            of_k = {f"stability.{row['k']}.{half}": row[column] for half, column in columns.items()}
            values |= {name: value for name, value in of_k.items() if not math.isnan(value)}
        found[key] = {name: Measured(value) for name, value in values.items()}
        if gap is not None:
            found[key]["gap"] = Measured.with_error(gap, error, GAP_FREEDOM, "clouds drawn")
    return found


def parents_of(partitions: Iterable[dict], read: dict[Key, Partition]) -> dict[Key, Partition]:
    """The partition of each model's parent, made in the same way on the same task, where there is one."""
    parents = {(entry["model"], entry["partition"]): (entry["parent"], entry["partition"]) for entry in partitions}
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
