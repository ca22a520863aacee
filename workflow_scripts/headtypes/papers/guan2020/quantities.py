"""The quantities that this paper's claims are judged on: of a model under a partition, and the paper's own.

They are in percent, but for `heads.{layer}.{type}`, numbers of heads with layers from 0, and `mixture_agreement`, the
adjusted Rand index of k-means and a mixture. `kept` are heads in the same cluster as in the model's parent (clusters
matched by their heads), `changed` all others. Only the main model has quantities of the `family`, other models.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np

from headtypes.analyses.ablation.intervals import Scored, read_scores
from headtypes.analyses.types.clustering import HALVES, matched_clusters
from headtypes.analyses.types.gaps import measured_gaps
from headtypes.analyses.types.names import MIXTURES
from headtypes.analyses.types.partitions import Partition
from headtypes.comparisons.models import kept_by_chance
from headtypes.core.files import StrPath, derive_seed, read_json, undamaged
from headtypes.core.table_files import read_csv
from headtypes.papers.claims import (
    PERMUTATIONS,
    THIRDS,
    Measured,
    Quantities,
    Quantity,
    Scale,
    Third,
    beside_permuted_layers,
    join,
    layers_of_third,
)
from headtypes.papers.guan2020.published import MAIN_MODEL, METRICS, Guan2020
from headtypes.papers.paper import Key, NoVerdictError

_MISSING = {
    **dict.fromkeys(("dips.line", "dips.paths"), "gaps between heads were not measured, or heads are fewer than 20"),
    "own_cluster": "heads were not clustered, so that they are not compared with single samples",
    "kept": "there is no parent to compare with",
    **{
        f"mixture_agreement.{covariance}": f"k-means was not compared with a Gaussian mixture ({covariance})"
        for covariance in MIXTURES.values()
    },
}


@dataclass(frozen=True)
class Model(Quantities):
    """The quantities of one model and its types of heads, by which the paper's claims are judged.

    missing: {unknown quantity: reason}. Methods name a condition by its number in Table 2 (1 to 11) or 3 (12 to 19).
    """

    missing: Mapping[str, str] = field(default_factory=lambda: _MISSING)

    def left(self, condition: int, percent: int) -> Quantity:
        """Return exact match under ablation number `condition` less `percent` % of the baseline's, in points."""

        def beside(percent: int) -> Measured:
            return self._weighted_score({condition: 1.0, self.published.baseline.id: -percent / 100})

        label = f"exact match with {self._name(condition)} less {percent} % of the baseline's"
        return Quantity(label, beside(percent), Scale("% of the baseline's", percent, beside), "points")

    def score(self, condition: int) -> Quantity:
        return Quantity(f"exact match with {self._name(condition)}", self._weighted_score({condition: 1.0}), unit="%")

    def drop(self, condition: int, *others: int) -> Quantity:
        """Return exact match's drop under ablation number `condition` less its drops under `others`, in points."""
        # With one other condition, the baseline cancels out.
        weights = {self.published.baseline.id: 1.0 - len(others), condition: -1.0, **dict.fromkeys(others, 1.0)}
        less = f" less {join(f'that with {self._name(other)}' for other in others)}" if others else ""
        label = f"drop of exact match with {self._name(condition)}{less}"
        return Quantity(label, self._weighted_score(weights), unit="points")

    def in_third(self, type_name: str, third: Third) -> Quantity:
        """Return by how many points the % of a type's heads in `third` exceeds that in another third, less chance.

        The other third of the layers is the fuller one. Permuted layers give chance (their mean) and the interval.
        """

        def beyond(heads: np.ndarray) -> np.ndarray:
            thirds = by_thirds(heads)
            return 100 * beyond_others(thirds, third) / thirds.sum(axis=-1)

        label = f"percent of {type_name} in the {third} third of layers less the most in another third"
        return beside_permuted_layers(label, beyond, self.layout([type_name])[0], "points")

    def stability(self, k: int) -> dict[str, Quantity]:
        """Return {half: percent of heads that all clusterings into `k` clusters put into the same cluster}.

        Each clustering is fitted to a random half of the "heads", "samples" or "pairs" (head and sample; the percent is
        of pairs). Raises `NoVerdictError` if stability for `k` is unknown, or if the model's own types are not four.
        """
        self.check_number_of_types()
        if not (stability := self.of_kind(f"stability.{k}")):
            raise NoVerdictError("stability was not measured")
        label = f"stability with {k} clusters, over halves of"
        return {half: Quantity(f"{label} {half}", Measured(value), unit="%") for half, value in stability.items()}

    def consistency(self) -> Quantity:
        """Return how often heads on single samples are in their own cluster, as kappa: (own - chance) / (1 - chance).

        own: share of pairs of a head and a sample whose features are nearest to the head's own cluster.
        chance: sum of the squares of the types' shares of heads.
        """
        own = self.quantity("own_cluster", "").measured.value / 100
        chance = sum((share / 100) ** 2 for share in self.of_kind("share").values())
        label = f"kappa of the cluster of a head and of it on a sample, which are the same in {100 * own:.2f} percent"
        return Quantity(label, Measured((own - chance) / (1 - chance)))

    def check_number_of_types(self) -> None:
        wanted = len(self.published.shares.types)
        if len(self.types) != wanted:
            raise NoVerdictError(f"the partition has {len(self.types)} types, not {wanted}")

    def layout(self, types: Sequence[str], kind: str = "heads") -> np.ndarray:
        """Return counts of heads, [type, layer]: a row for each of `types`, then one row for all other types, if any.

        kind: "heads" for this model; "family.mrpc.heads", say, for the model for row "mrpc" of the paper's Table 1.
        """
        heads: dict[str, list[int]] = defaultdict(list)
        for name, count in self.of_kind(kind).items():
            heads[name.partition(".")[2]].append(int(count))
        if not set(types) <= heads.keys():
            raise NoVerdictError("the types of single heads are not known")
        others = [counts for name, counts in heads.items() if name not in types]
        return np.array([*(heads[name] for name in types), *([np.sum(others, axis=0)] if others else [])])

    def of_family(self, models: Sequence[str], types: Sequence[str]) -> dict[str, np.ndarray]:
        """Return {model of the paper: numbers of heads, [type, layer]}, counted in this run's model that stands for it.

        models: names in the paper's Table 1, such as "mrpc". types: names of types; a last row counts others, if any.
        Raises `NoVerdictError` if this run has no model for one of them, or if that model's name of a type is doubtful.
        """
        if not self.of_kind("family"):
            raise NoVerdictError("the paper's models are compared where the one for SQuAD is judged")
        if missing := [model for model in models if not self.of_kind(f"family.{model}")]:
            raise NoVerdictError(f"no model stands beside {join(missing)}")
        for model in models:
            if doubtful := [name for name in self.of_kind(f"family.{model}.doubtful") if name in types]:
                raise NoVerdictError(f"doubtful name in {model}: {join(doubtful)}")
        return {model: self.layout(types, f"family.{model}.heads") for model in models}

    def _weighted_score(self, weights: Mapping[int, float]) -> Measured:
        ids = {condition: f"{condition}.exact_match" for condition, weight in weights.items() if weight}
        if not any(f"{condition.id}.exact_match" in self for condition in self.published.conditions):
            raise NoVerdictError("the model was not evaluated on questions")
        if missing := [self._name(condition) for condition, id_ in ids.items() if id_ not in self]:
            raise NoVerdictError(f"not evaluated: {join(missing)}")
        baseline = f"{self.published.baseline.id}.exact_match"
        if baseline in self and self[baseline].value == 0:
            raise NoVerdictError("the model answers no question correctly, even with all its heads")
        return self.weighted_sum({id_: weights[condition] for condition, id_ in ids.items()})

    def _name(self, condition: int) -> str:
        operations = next(stated.operations for stated in self.published.conditions if stated.id == condition)
        return name_operations(operations, self.doubtful)


def by_thirds(by_layer: np.ndarray) -> np.ndarray:
    """Return [..., third] sums of [..., layer] numbers; a layer is in the first, middle or last third by its middle."""
    depth = by_layer.shape[-1]
    return np.stack([by_layer[..., layers_of_third(third, depth)].sum(axis=-1) for third in THIRDS], axis=-1)


def beyond_others(thirds: np.ndarray, third: Third) -> np.ndarray:
    """Return [...], the value in `third`, say "middle", of `thirds`, [..., third], less the larger of both others."""
    number = THIRDS.index(third)
    return thirds[..., number] - np.delete(thirds, number, axis=-1).max(axis=-1)


def name_operations(operations: Mapping[str, str], doubtful: Sequence[str] = ()) -> str:
    """Return {type or head: operation} in words, such as "zero dense+[vertical]"; names in `doubtful` get brackets."""
    types: dict[str, list[str]] = {}
    for name, operation in operations.items():
        types.setdefault(operation, []).append(bracket(name, doubtful))
    return ", ".join(f"{operation} {'+'.join(names)}" for operation, names in types.items()) or "baseline"


def bracket(name: str, doubtful: Sequence[str]) -> str:
    return f"[{name}]" if name in doubtful else name


class ScoredAnswers(NamedTuple):
    """Exact match and F1 of a model on `n_questions` questions, without ablation and under each ablation.

    scores: {"exact_match" or "f1": `Scored`, which returns weighted sums of conditions' mean scores, in percent}.
    """

    scores: Mapping[str, Scored]
    n_questions: int


def collect_quantities(
    partitions: Mapping[Key, Partition],
    answers: Mapping[Key, ScoredAnswers],
    rows: Iterable[Mapping],
    published: Guan2020,
    *,
    stabilities: Mapping[Key, Mapping[str, Measured]] = {},
    parents: Mapping[Key, Partition | None] = {},
    families: Mapping[Key, Mapping[str, Partition]] = {},
) -> dict[Key, Model]:
    """Return {(model, partition): quantities on which the paper's claims are judged}.

    All mappings have the keys (model, partition). partitions: the types of heads. published: the paper's data.
    rows: one for each ablation, with the keys model, partition, condition and operations, {type or head: operation}.
    parents: the partition of the same name in the model before fine-tuning, or None.
    answers, stabilities, families: results of `read_answers`, `read_stabilities` and `models_beside`.
    """
    numbered, collected = _numbered_conditions(rows, published), {}
    for key, partition in partitions.items():
        heads, special = partition.table["type"].value_counts(), partition.table.groupby("type")["special"].mean()
        values = {f"share.{name}": 100 * heads[name] / len(partition.table) for name in partition.types}
        values |= _layout(partition) | {f"special.{name}": 100 * special[name] for name in partition.types}
        for model, of_model in families.get(key, {}).items():
            values |= {f"family.{model}.{name}": value for name, value in _layout(of_model).items()}
        measured = {name: Measured(value) for name, value in values.items()} | dict(stabilities.get(key, {}))
        if (parent := parents.get(key)) is not None:
            measured |= _kept(partition, parent)
        of_sum = None
        if key in answers and (conditions := numbered.get(key)):
            measured["n_questions"] = Measured(answers[key].n_questions)
            of_sum = partial(_weighted_sum, answers[key], conditions, conditions.get(published.baseline.id))
            scores = [f"{number}.{metric}" for number in sorted(conditions) for metric in METRICS]
            measured |= {name: of_sum({name: 1.0}) for name in scores}
        collected[key] = Model(measured, of_sum, published=published)
    return collected


def _weighted_sum(
    answers: ScoredAnswers, conditions: Mapping[int, str], baseline: str | None, weights: Mapping[str, float]
) -> Measured:
    # Only scores are ever summed, named `{number of the condition}.{metric}`, and those in one sum are of one metric.
    (metric,) = {name.partition(".")[2] for name in weights}
    by_condition = {conditions[int(name.partition(".")[0])]: weight for name, weight in weights.items()}
    return answers.scores[metric].sum(by_condition, baseline)


def published_quantities(published: Guan2020, row: str | None = None) -> Model:
    """Return a `Model` with the paper's own numbers. row: the row of Table 1 with the stability; None leaves it out."""
    values = {f"{row.id}.{metric}": getattr(row, metric) for row in published.conditions for metric in METRICS}
    values |= {f"share.{name}": share for name, share in published.shares.types.items()}
    if row is not None:
        values[f"stability.{len(published.shares.types)}.published"] = published.stability.models[row]
    return Model({name: Measured(value) for name, value in values.items()}, published=published)


def _numbered_conditions(rows: Iterable[Mapping], published: Guan2020) -> dict[Key, dict[int, str]]:
    # The config's names of the paper's conditions, by their numbers: the first that has the condition's operations.
    named: dict[Key, dict[int, str]] = defaultdict(dict)
    for row in rows:
        if of_paper := published.condition_with(row["operations"]):
            named[row["model"], row["partition"]].setdefault(of_paper.id, row["condition"])
    return named


def _layout(partition: Partition) -> dict[str, int]:
    by_layer = {name: (partition.type_of == name).sum(axis=1) for name in partition.types}
    heads = {f"heads.{layer}.{name}": int(n) for name, counts in by_layer.items() for layer, n in enumerate(counts)}
    return {f"doubtful.{name}": 1 for name in partition.doubtful} | heads


def _kept(partition: Partition, parent: Partition) -> dict[str, Measured]:
    kept = 100 * matched_clusters(partition, parent)
    chance = kept_by_chance(partition, parent, permutations=PERMUTATIONS, seed=derive_seed(0, "kept_by_chance"))
    measured = {"kept": Measured(kept.mean()), "kept_beyond_chance": Measured.beyond_chance(kept.mean(), chance)}
    return measured | {f"changed.{layer}": Measured(100 - of) for layer, of in enumerate(kept.mean(axis=1))}


def read_answers(scores: Mapping[tuple[str, str, str], StrPath]) -> dict[Key, ScoredAnswers]:
    """Return {(model, partition): scores under all conditions}, without partitions whose task has no exact match.

    scores: {(model, partition, condition): path of a table of scores with a row for each question, pair or document}.
    """
    by_partition: dict[Key, dict[str, StrPath]] = defaultdict(dict)
    for (model, partition, condition), path in scores.items():
        by_partition[model, partition][condition] = path
    answers = {}
    for key, files in by_partition.items():
        read = dict(zip(files, read_scores(list(files.values())), strict=True))
        table = next(iter(read.values()))
        if "exact_match" in table:
            answers[key] = ScoredAnswers({metric: Scored(read, metric) for metric in METRICS}, len(table))
    return answers


def read_stabilities(
    partitions: Mapping[Key, Partition], stabilities: Mapping[Key, StrPath], numbers: Mapping[Key, StrPath]
) -> dict[Key, dict[str, Measured]]:
    """Return {(model, partition): {name: quantity}} on how stable clusterings are, and on gaps between heads.

    partitions: types of heads. stabilities: paths of JSON files on clusterings. numbers: paths of tables with the
    stability for each k (number of types). All have the keys (model, partition). Names of quantities:
    stability.{k}.{half}: percent of heads that all clusterings into k types give the same type. Each is fitted to a
    random half of the "heads", "samples" or "pairs" (a head on a sample; then the percent is of pairs).
    own_cluster: percent of pairs of a head and a sample that are nearest to the centre of the head's cluster.
    mixture_agreement.{covariance}, such as "diag": adjusted Rand index of k-means and a Gaussian mixture.
    dips.line, dips.paths: two distances of the heads from having one peak, in percent (`line` and `paths` of
    `head_gaps`), each less the mean distance of as many uniform random numbers as there are heads.
    """
    found = {}
    for key, path in stabilities.items():
        k = len(partitions[key].types)
        with undamaged(path, "does not say how stable types are"):
            stability = read_json(path)
            values = {f"stability.{k}.{half}": stability[half]["all_agree"] for half in HALVES if stability[half]}
            values["own_cluster"] = stability["own_cluster"]
            values |= {f"mixture_agreement.{kind}": rand for kind, rand in stability["mixtures"].items()}
            gaps, heads = stability["gaps"], len(partitions[key].table)
        columns = {half: f"{half}_all_agree" for half in HALVES}
        by_k = read_csv(numbers[key], "is not a table of numbers of types", ["k", *columns.values()])
        for row in by_k[by_k["k"] != k].to_dict("records"):
            of_k = {f"stability.{row['k']}.{half}": row[column] for half, column in columns.items()}
            values |= {name: value for name, value in of_k.items() if not math.isnan(value)}
        found[key] = {name: Measured(value) for name, value in values.items()}
        if gaps is not None:
            found[key] |= {f"dips.{name}": gap for name, gap in measured_gaps(gaps, heads).items()}
    return found


def models_beside(partitions: Sequence[dict], read: dict[Key, Partition]) -> dict[Key, dict[str, Partition]]:
    """Return {(model, partition): {row of the paper's Table 1: types of the heads of a model that stands for the row}}.

    Outer keys: clusterings with "squad" as `published`, themselves the inner "squad". Another row has the clustering
    with this row as `published` and the same method and k, if any (of several, that of the same name, else the first).
    Types are from `read`. partitions: dicts with model, partition, method (or None), k, published (a row, or None).
    """
    families = {}
    for main in partitions:
        if main["published"] != MAIN_MODEL or main["method"] is None:
            continue
        way = main["method"], main["k"]
        alike = [one for one in partitions if one["published"] and (one["method"], one["k"]) == way]
        # The paper does not name the task of its models: of a row's entries, one of the same name counts, or the first.
        alike.sort(key=lambda one: (one is not main, one["partition"] != main["partition"]))
        family = families.setdefault((main["model"], main["partition"]), {})
        for one in alike:
            family.setdefault(one["published"], read[one["model"], one["partition"]])
    return families
