"""The quantities that claims about treebanks and coreference are judged on, from our results and from the paper's.

Quantities that the paper's claims ask for have the names that `Trees` and `Documents` give. The others are, in percent,

| name | what |
| --- | --- |
| `relation.{relation}.accuracy`, `.baseline` | the best head and offset, chosen and scored on the same sentences |
| `probe.{system}` | attachment score of a probe or of a baseline |
| `coreference.{system}.{mentions}` | accuracy of a baseline |
| `coreference.best_head.{candidates}.{mentions}` | the best head, chosen and scored on the same documents |
| `sep.beyond_others` | attention to [SEP] where heads are not called for, as `sep_beyond_others` measures it |
| `relations.of_one_head` | relations of Table 1 at which the same head leads the best offset by ten points, the most |
| `n_sentences`, `n_documents`, `n_mentions` | on which these are measured |
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np

from headtypes.analyses.coreference.accuracy import MentionSums
from headtypes.analyses.coreference.mentions import CANDIDATES
from headtypes.analyses.probes.scores import RightWords
from headtypes.analyses.relations.accuracy import ALL, CHOSEN, GROUPS, QUANTITIES, TOTALS, BestHeads
from headtypes.core.files import StrPath, derive_seed
from headtypes.core.hdf5_files import read_arrays, read_groups
from headtypes.core.statistics import Evidence
from headtypes.papers.clark2019.claims.texts import HIGH
from headtypes.papers.clark2019.published import MENTIONS, READINGS, SYSTEMS, Clark2019, our_relation
from headtypes.papers.paper import Key
from headtypes.papers.quantities import (
    PERMUTATIONS,
    Finding,
    Measure,
    Measured,
    NoVerdictError,
    Quantities,
    Quantity,
    Ranked,
    Side,
    join,
    measured_by,
)

Statistic = Literal["accuracy", "lead", "direction"]
# Of the best head of a relation.
STATISTICS: dict[Statistic, str] = {
    "accuracy": "accuracy of the best head",
    "lead": "accuracy of the best head less that of the best offset",
    "direction": "accuracy of the best head from dependent to head less that of the best from head to dependent",
}
UNITS: dict[Statistic, str] = {"accuracy": "%", "lead": "points", "direction": "points"}
# Words that are no nouns: readings, and the groups of `relations.accuracy` that they are.
NON_NOUNS = {"pronouns among non-nouns": "no_noun", "pronouns among nouns": "no_noun_or_pronoun"}
_OF_CHOICE = {"accuracy": "accuracy", "lead": "above_offset", "direction": "forward_above_backward"}
# By how many points a head that has a function is above the best offset: the claim heads-specialise.
_FOUND = 10
# What an accuracy of a unit may be.
_ACCURACY = 0.0, 100.0
_NO_SEP = "no word can see a [SEP]: none stands behind, or words see what is before alone"
_NO_FORWARD = "no head is known that finds the relation from dependent to head, or the words have no UPOS tags"
_NO_PROBES = "no probes were trained: the treebank has no part for training, or probes.seeds is 0"
_NO_OTHERS = "no document is left to choose a head on: all with coreferent mentions are of even, or all of odd index"
Paths = Mapping[Key, StrPath]


@dataclass(frozen=True)
class Scores:
    """Accuracies in percent by name: one number over all units, or an array [unit] (units are sentences or documents).

    An array holds for each unit either the accuracy on that unit alone or the accuracy on all other units. The names
    are
    - `relation.{relation}.{statistic}` of a relation by the paper's name of it;
    - `antecedents.{system}.{mentions}` of a coreference baseline;
    - `antecedents.best_head.{candidates}.{mentions}` of the best head at coreference;
    - `probe.{system}` of a probe;
    - `non_nouns.{relation}.{group}`, attention of non-nouns to [SEP] in the relation's best head; group is a value of
      `NON_NOUNS`.

    missing: the reason why an accuracy is not known, by the first word of its name.
    used: the names that were asked for.
    """

    by_name: Mapping[str, np.ndarray | float]
    missing: Mapping[str, str] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def __contains__(self, name: str) -> bool:
        return name in self.by_name

    def __getitem__(self, name: str) -> np.ndarray | float:
        """Return an accuracy by its name, a number or [unit].

        Raises `NoVerdictError` with the reason if the accuracy is not known.
        """
        if name not in self.by_name:
            start, first, *rest = name.split(".")
            reasons = {
                "relation": f"the table has no row of {first}: its words are too few, or have no XPOS tags",
                "antecedents": f"no mention is of the type {rest[-1] if rest else first}",
            }
            raise NoVerdictError(self.missing.get(start, reasons.get(start, "it was not measured")))
        self.used.add(name)
        return self.by_name[name]


@dataclass(frozen=True)
class Columns:
    """Several accuracies on the same units (sentences or documents), a column for each.

    names: names of the columns.
    sums: sum of the scores of all items in each unit, [unit, column]; an item, such as a word, scores 1 if right.
    sizes: number of items in each unit, [unit, column].
    over: what the units are, such as "sentences".
    """

    names: Sequence[str]
    sums: np.ndarray
    sizes: np.ndarray
    over: str

    @cached_property
    def whole(self) -> dict[str, float]:
        return self._percent(self.sums.sum(axis=0), self.sizes.sum(axis=0))

    @cached_property
    def _single(self) -> tuple[Scores, Scores]:
        others = self._percent(self.sums.sum(axis=0) - self.sums, self.sizes.sum(axis=0) - self.sizes)
        return Scores(others), Scores(self._percent(self.sums, self.sizes))

    def values(self) -> dict[str, Measured]:
        whole = self.whole
        return {name: self.measured(lambda it, name=name: it[name], Scores(whole), _ACCURACY) for name in self.names}

    def measured(self, measure: Measure, whole: Scores, reach: tuple[float, float] | None = None) -> Measured:
        """Return the value of a measure of accuracies, with its 95 % interval over units.

        measure: a function of `Scores`.
        whole: the accuracies over all units, which record the accuracies that the measure uses.
        reach: the least and the largest value of the measure on a single unit. The default is 0 plus or minus 50 points
            for each accuracy that the measure uses, and at least 100 points.

        Units are weighted by their sizes under one used accuracy: the accuracy with the smallest effective number of
        units, (sum of sizes)^2 / sum of sizes^2. With fewer than two units there is no interval.
        """
        value = float(measure(whole))
        most = 50.0 * max(2, len(whole.used))
        reach = reach or (-most, most)
        all_sizes = [self.sizes[:, self.names.index(name)] for name in sorted(whole.used)]
        sizes = min(all_sizes, key=lambda of: of.sum() ** 2 / max((of**2).sum(), 1))
        if np.count_nonzero(sizes) < 2:
            return Measured(value, over=self.over, units=np.count_nonzero(sizes))
        without, own = self._single
        if not isinstance(measure, Ranked) and all(np.array_equal(of, sizes) for of in all_sizes):
            # A mean over the same items, as tables have it.
            return Measured.by(Evidence(measure(own), sizes, reach), self.over)
        return measured_by(measure, whole, without, self.over, own, sizes, reach)

    def _percent(self, sums: np.ndarray, sizes: np.ndarray) -> dict[str, np.ndarray]:
        with np.errstate(invalid="ignore", divide="ignore"):
            return dict(zip(self.names, (100 * sums / sizes).T, strict=True))


@dataclass(frozen=True)
class Accuracies(Quantities):
    """Quantities of a model on one task that are computed from accuracies.

    columns: the measured accuracies; all accuracies of one quantity come from the same element.
    printed: the paper's accuracies in percent by name, if the object is about the paper.
    missing: the reason why a quantity or an accuracy is not known, as in `Quantities` and `Scores`.
    """

    columns: Sequence[Columns] = ()
    printed: Mapping[str, float] = field(default_factory=dict)

    def measured(self, measure: Measure) -> Measured:
        if not self.columns and not self.printed:
            return super().measured(measure)
        known = [self.printed, *(one.whole for one in self.columns)]
        whole = Scores({name: it for one in known for name, it in one.items()}, self.missing)
        value = float(measure(whole))
        if self.printed:
            return Measured(value)
        columns = next(columns for columns in self.columns if whole.used <= {*columns.names})
        return columns.measured(measure, whole)


class Trees(Accuracies):
    """Quantities of a model on a treebank.

    A method raises `NoVerdictError` if an accuracy that the method needs was not measured.
    """

    about: ClassVar[str] = "treebank"
    unit: ClassVar[str] = "n_sentences"
    absent: ClassVar[str] = "the model reads no treebank"

    def best_head(self, relation: str, statistic: Statistic) -> Quantity:
        name = f"relation.{relation}.{statistic}"
        label = f"{STATISTICS[statistic]}, {relation}"
        return self.quantity(f"scored.{relation}.{statistic}", label, lambda scores: scores[name], UNITS[statistic])

    def to_sep(self, relation: str, reading: str) -> Quantity:
        """Return the percentage of attention that non-nouns give to [SEP] in the best head of a relation.

        reading: whether pronouns count as nouns, a key of `NON_NOUNS`.
        """
        name = f"non_nouns.{relation}.{NON_NOUNS[reading]}"
        label = f"percent of attention to [SEP] from non-nouns in the best head of {relation}, {reading}"
        return self.quantity(f"scored.{name}", label, lambda scores: scores[name], "%")

    def at_least(
        self, number: int, relations: Sequence[str], statistic: Statistic, side: Side, limit: float
    ) -> Finding:
        """Return the finding that at least `number` relations have a statistic above or below a limit.

        relations: the paper's names.
        statistic: a key of `STATISTICS`.
        side: the side of the limit on which the paper claims the statistic to be, "above" or "below".
        limit: in percent or points (`UNITS`).

        Each relation is judged by itself, at a level that is corrected for the number of relations. Raises
        `NoVerdictError` if fewer than `number` relations are known, or if relations that the treebank lacks could
        change the result.
        """

        def measure(scores: Scores) -> np.ndarray:
            names = [f"relation.{name}.{statistic}" for name in relations]
            missing = [name for name in names if name not in scores]
            known = [scores[name] for name in names if name not in missing]
            # Which relations are known is decided on all sentences.
            if len(known) < number or np.ndim(known[0]) == 0:
                count = sum(value > limit if side == "above" else value < limit for value in known)
                if len(known) < number or count < number <= count + len(missing):
                    scores[missing[0]]
            return np.stack(known, axis=-1)

        rank = number if side == "above" else -number
        which = "highest" if side == "above" else "lowest"
        other = "lowest" if side == "above" else "highest"
        label = f"{STATISTICS[statistic]}, the {other} of the {number} {which} of {join(relations)}"
        name = f"relations.{statistic}.{which}_{number}_of_{'_'.join(relations)}"
        found = self.quantity(name, label, Ranked(measure, rank), UNITS[statistic])
        return found.above(limit) if side == "above" else found.below(limit)

    def probe_difference(self, system: str, other: str) -> Quantity:
        """Return the attachment score of a probe or baseline less the attachment score of another, in points.

        system, other: the two probes or baselines, keys of `SYSTEMS`.
        """
        label = f"attachment score of {SYSTEMS[system]} less that of {SYSTEMS[other]}"
        return self.quantity(
            f"probe.{system}.less_{other}",
            label,
            lambda scores: scores[f"probe.{system}"] - scores[f"probe.{other}"],
            "points",
        )


class Documents(Accuracies):
    """Quantities of a model on documents with coreferent mentions.

    A method raises `NoVerdictError` if an accuracy that the method needs was not measured.
    """

    about: ClassVar[str] = "coreference"
    unit: ClassVar[str] = "n_documents"
    absent: ClassVar[str] = "the model reads no documents with mentions"

    def best_head_beyond(self, system: str, candidates: str) -> Quantity:
        """Return the best head's accuracy at selecting antecedents less the accuracy of a baseline, in points.

        system: the baseline, such as "head_match".
        candidates: the words among which the head chooses, one of `CANDIDATES`.
        """
        return self.quantity(
            f"antecedents.best_head.{candidates}.less_{system}",
            lead_label(system, candidates),
            lambda scores: scores[f"antecedents.best_head.{candidates}.{ALL}"] - scores[f"antecedents.{system}.{ALL}"],
            "points",
        )


def lead_label(system: str, candidates: str) -> str:
    return f"accuracy of the best head {READINGS[candidates]} less that of {SYSTEMS[system]}"


def of_each(scores: Scores, relations: Sequence[str], statistic: Statistic) -> np.ndarray:
    """Return a statistic of several relations, [relation], or [unit, relation] from scores of single units.

    relations: the paper's names. statistic: a key of `STATISTICS`.
    Raises `NoVerdictError` if a relation was not measured.
    """
    return np.stack([scores[f"relation.{name}.{statistic}"] for name in relations], axis=-1)


def collect_treebanks(sums: Paths, probes: Paths, published: Clark2019) -> dict[Key, Quantities]:
    """Return the quantities of every model on every treebank, in the order of `sums`.

    sums: paths of the files `relations_sums`, by model and treebank.
    probes: paths of the files `probe_sums`, by model and treebank; models without probes are absent.
    """
    found = {}
    for key, path in sums.items():
        of_probes = read_arrays(probes[key], RightWords) if key in probes else None
        found[key] = treebank_quantities(*read_groups(path, BestHeads).values(), of_probes, published)
    return found


def collect_coreference(sums: Paths, published: Clark2019) -> dict[Key, Quantities]:
    """Return the quantities of every model on every coreference task.

    sums: paths of the files `coreference_sums`, by model and task.
    """
    return {key: coreference_quantities(read_arrays(path, MentionSums), published) for key, path in sums.items()}


def treebank_quantities(
    paper: BestHeads, elsewhere: BestHeads, probes: RightWords | None, published: Clark2019
) -> Trees:
    """Return the quantities of a model on a treebank.

    paper: the best heads, chosen and scored on the same sentences, as in the paper.
    elsewhere: the best heads, chosen and scored on different sentences, by which claims are judged.
    probes: numbers of words that probes attach correctly; None without probes.
    """
    rows = _rows_of(elsewhere, published)
    finds = _finders(elsewhere, rows)
    judged = _of_rows(elsewhere, rows, _OF_CHOICE) | _non_nouns(elsewhere, finds)
    columns = [_columns(judged, len(elsewhere.words))]
    same = _of_rows(paper, _rows_of(paper, published), {"accuracy": "accuracy", "baseline": "offset_accuracy"})
    measured = _columns(same, len(paper.words)).values()
    known = [row for name, row in rows.items() if name not in TOTALS]
    if known:
        found = (elsewhere.leads[known] > _FOUND).all(axis=1).mean(axis=0)
        measured["relations.of_one_head"] = Measured(100 * float(found.max()))
    missing = {"non_nouns": _NO_SEP if _sees_none(elsewhere, finds) else _NO_FORWARD, "probe": _NO_PROBES}
    try:
        measured["sep.beyond_others"] = sep_beyond_others(elsewhere, rows)
    except NoVerdictError as error:
        missing["sep.beyond_others"] = str(error)
    if probes is not None:
        systems = zip(probes.system, probes.right.T, strict=True)
        scored = {f"probe.{name}": (right, probes.words) for name, right in systems}
        columns.append(_columns(scored, len(probes.words)))
        measured |= columns[-1].values()
    measured["n_sentences"] = Measured(len(paper.words))
    return Trees(measured, missing=missing, published=published, columns=columns)


def coreference_quantities(sums: MentionSums, published: Clark2019) -> Documents:
    # Baselines choose nothing, so that both are the same; the best head is judged where it was not chosen.
    values, judged, missing = {}, {}, {}
    rows = zip(sums.system, sums.candidates, sums.type, sums.chosen, strict=True)
    for row, (system, candidates, mentions, chosen) in enumerate(rows):
        if system == "best_head" and not sums.mentions[:, row].any():
            # The half that a head would be chosen on has no mention.
            missing = {"antecedents": _NO_OTHERS}
        elif system == "best_head" and chosen == "documents":
            values[f"coreference.best_head.{candidates}.{mentions}"] = row
        elif system == "best_head":
            judged[f"antecedents.best_head.{candidates}.{mentions}"] = row
        elif candidates == "mentions" and not chosen:
            values[f"coreference.{system}.{mentions}"] = judged[f"antecedents.{system}.{mentions}"] = row
    counts = {"n_documents": Measured(len(sums.mentions)), "n_mentions": Measured(sums.mentions.sum(axis=0).max())}
    values, judged = (
        Columns(list(some), sums.right[:, of], sums.mentions[:, of].astype(float), "documents")
        for some in (values, judged)
        for of in [[*some.values()]]
    )
    return Documents(values.values() | counts, missing=missing, published=published, columns=[judged])


def published_language(published: Clark2019) -> tuple[Trees, Documents]:
    """Return the paper's own numbers of sections 4 and 5: on its treebank, and on its coreference documents."""
    values, leads = {f"probe.{row.probe}": row.uas for row in published.probes.rows}, {}
    for row in published.relations.rows:
        values |= {f"relation.{row.relation}.accuracy": row.accuracy, f"relation.{row.relation}.baseline": row.baseline}
        leads[f"relation.{row.relation}.lead"] = row.accuracy - row.baseline
    # The paper gives the best head's score for all words.
    values["probe.best_head"] = values[f"relation.{ALL}.accuracy"]
    # Whatever the paper counts, that is its total; and whatever its head looks at, that is the head's accuracy.
    leads |= {f"relation.{total}.lead": leads[f"relation.{ALL}.lead"] for total in TOTALS}
    antecedents = {
        f"antecedents.{system}.{name}": value
        for row in published.coreference.rows
        for system in ([f"best_head.{among}" for among in CANDIDATES] if row.system == "best_head" else [row.system])
        for name in (ALL, *MENTIONS)
        if (value := getattr(row, name)) is not None
    }
    trees, documents = ({name: Measured(float(it)) for name, it in some.items()} for some in (values, antecedents))
    return (
        Trees(trees, published=published, printed=values | leads),
        Documents(documents, published=published, printed=antecedents),
    )


def _columns(values: Mapping[str, tuple[np.ndarray, np.ndarray]], units: int) -> Columns:
    sums, sizes = np.reshape(list(values.values()), (len(values), 2, units)).transpose(1, 2, 0).astype(float, order="C")
    return Columns(list(values), sums, sizes, "sentences")


def _rows_of(best: BestHeads, published: Clark2019) -> dict[str, int]:
    rows = {name: row for row, name in enumerate(zip(best.annotation, best.relation, strict=True))}
    named = {name: our_relation(name) for name in (*TOTALS, *(row.relation for row in published.relations.rows))}
    return {name: rows[ours] for name, ours in named.items() if ours in rows}


def _of_rows(
    best: BestHeads, rows: Mapping[str, int], statistics: Mapping[str, str]
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return {`relation.{relation}.{statistic}`: (sums of scores, numbers of words)}, both arrays [sentence].

    rows: row in `best` of each relation, by the paper's name.
    statistics: by the statistic's name, the quantity of `QUANTITIES` whose scores are summed over the relation's words.
    A relation without a best head is left out.
    """
    found = {}
    for relation, row in rows.items():
        for name, quantity in statistics.items():
            sums = best.right[:, row, QUANTITIES.index(quantity)]
            if not np.isnan(sums).any():
                found[f"relation.{relation}.{name}"] = sums, best.words[:, row]
    return found


def _finders(best: BestHeads, rows: Mapping[str, int]) -> dict[str, int]:
    leads = best.of_best(best.leads).min(axis=1)
    return {name: row for name, row in rows.items() if name not in TOTALS and leads[row] > _FOUND}


def _non_nouns(best: BestHeads, finds: Mapping[str, int]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return {`non_nouns.{relation}.{group}`: (sums of attention to [SEP], numbers of words)}, both [sentence].

    finds: row in `best` of each relation that a head finds, by the paper's name.
    A sum is over the words of a group of non-nouns, a value of `NON_NOUNS`, and over attention in the relation's best
    head. A relation whose best head looks from head to dependent is left out.
    """
    is_forward = (best.chosen[..., CHOSEN.index("direction")] == 0).all(axis=1)
    groups = [(group, GROUPS.index(group)) for group in NON_NOUNS.values()]
    return {
        f"non_nouns.{name}.{group}": (best.to_sep[:, row, number], best.to_sep_words[:, row, number])
        for name, row in finds.items()
        for group, number in groups
        if is_forward[row] and best.to_sep_words[:, row, number].any()
    }


def _sees_none(best: BestHeads, finds: Mapping[str, int]) -> bool:
    return bool(finds) and all(np.isnan(best.of_best(best.looks)[row]).any() for row in finds.values())


def sep_beyond_others(best: BestHeads, rows: Mapping[str, int]) -> Measured:
    """Return how much more attention heads give to [SEP] from words without their relation, in points beyond chance.

    best: the best heads of all relations.
    rows: row, in `best`, of each of the paper's relations and totals, by name.

    A head finds a relation if its accuracy is more than ten points above the best offset. A head's rise is its share of
    attention to [SEP] from words without the relation, less its share from words with the relation. The value is the
    mean rise of the best heads that find a relation and look at [SEP], less the mean rise under permutations. In a
    permutation, these heads change places at random with heads of their layers that look at [SEP] and find no relation.
    Raises `NoVerdictError` if no head that finds a relation looks at [SEP].
    """
    known = [row for name, row in rows.items() if name not in TOTALS]
    finds = _finders(best, rows)
    if not finds:
        raise NoVerdictError("no head is more than ten points above the best offset at a relation of Table 1")
    if _sees_none(best, finds):
        raise NoVerdictError(_NO_SEP)
    found, looks = [*finds.values()], best.looks.min(axis=0)
    layer, head = np.moveaxis(best.chosen[found][..., :2], -1, 0)
    asked = looks[layer, head] > HIGH
    if not asked.any():
        most = 100 * np.nanmax(best.of_best(best.looks)[found].min(axis=1))
        raise NoVerdictError(
            "heads that find a relation are not shown to look at [SEP]: on the sentences that they were chosen on, it "
            f"gets at most {most:.2f} percent of their attention"
        )
    changes = (looks > HIGH) & (best.leads[known].max(axis=(0, 1)) <= _FOUND)
    changes[layer[asked], head[asked]] = True
    rng, heads = np.random.default_rng(derive_seed(0, "sep_beyond_others")), np.arange(looks.size)
    drawn = np.tile(heads, (PERMUTATIONS, 1))
    for of_layer in heads.reshape(looks.shape):
        some = of_layer[changes.ravel()[of_layer]]
        drawn[:, some] = rng.permuted(drawn[:, some], axis=1)
    places = np.ravel_multi_index((layer[asked], head[asked]), looks.shape)
    of_asked = zip(best.rises[found][asked].reshape(-1, looks.size), places, strict=True)
    own = best.of_best(best.rises)[found][asked].mean()
    chance = np.mean([rises[drawn[:, place]] for rises, place in of_asked], axis=0)
    return Measured.beyond_chance(100 * float(own), 100 * chance)
