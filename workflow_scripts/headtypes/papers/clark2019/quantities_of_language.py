"""The quantities that claims about treebanks and coreference are judged on, from our results and from the paper's.

What the paper's claims ask for has the names that `claims_of_language` gives. The others are, in percent,

| name | what |
| --- | --- |
| `relation.{relation}.accuracy`, `.baseline` | the best head and offset, chosen and scored on the same sentences |
| `probe.{system}` | attachment score of a probe or of a baseline |
| `coreference.{system}.{mentions}` | accuracy of a baseline |
| `coreference.best_head.{candidates}.{mentions}` | the best head, chosen and scored on the same documents |
| `sep.beyond_others` | attention to [SEP] where heads are not called for, as `sep_beyond_others` measures it |
| `n_sentences`, `n_documents`, `n_mentions` | on which these are measured |
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from headtypes.analyses.coreference.accuracy import by_document, score_mentions
from headtypes.analyses.coreference.mentions import CANDIDATES, AntecedentGuesses
from headtypes.analyses.probes.scores import read_probes, right_words
from headtypes.analyses.relations.accuracy import GROUPS, QUANTITIES, Choice, ToSep, best_heads
from headtypes.analyses.relations.guesses import ArcGuesses, read_parts
from headtypes.analyses.relations.pairs import ALL, TOTALS
from headtypes.core.files import StrPath
from headtypes.core.hdf5_files import read_arrays, read_groups
from headtypes.core.seeds import derive_seed
from headtypes.core.statistics import RESAMPLES, effective_units, resampled_sums
from headtypes.data.kinds.coreference.records import AnnotatedDocument
from headtypes.data.records import read_records
from headtypes.papers.claims import Claim, wanted_by
from headtypes.papers.clark2019.claims_of_language import (
    NON_NOUNS,
    Documents,
    Scores,
    Trees,
    of_coreference,
    of_probes,
    of_relations,
)
from headtypes.papers.clark2019.claims_of_texts import HIGH
from headtypes.papers.clark2019.published import MENTIONS, Clark2019, our_relation
from headtypes.papers.keys import Key
from headtypes.papers.quantities import Measure, Measured, NoVerdictError, Quantities, measure_known, resampled

_OF_CHOICE = {"accuracy": "accuracy", "lead": "above_offset", "direction": "forward_above_backward"}
# By how many points a head that has a function is above the best offset: the claim heads-specialise.
_FOUND = 10
_PERMUTATIONS = 1999
# The most by which a unit's difference of two accuracies may differ from those of the others, in points.
_FROM_WRONG_TO_RIGHT = 200
_NO_SEP = "no word can see a [SEP]: none stands behind, or words see what is before alone"
_NO_PROBES = "no probes were trained: the treebank has no part for training, or probes.seeds is 0"
_NO_OTHERS = "no document is left to choose a head on: all with coreferent mentions are of even, or all of odd index"


Paths = Mapping[Key, StrPath]


class Columns(NamedTuple):
    """Accuracies of the same units (`over`): names, and sums and numbers of the items of each, [unit, column]."""

    names: list[str]
    sums: np.ndarray
    sizes: np.ndarray
    over: str = "sentences"


def collect_treebanks(
    arcs: Paths,
    rows: Paths,
    tests: Mapping[str, StrPath],
    probes: Paths,
    published: Clark2019,
    *,
    seed: int,
    least: int = 0,
) -> dict[Key, Quantities]:
    """What is known of every model on every treebank, in the order of the arcs.

    arcs, rows, probes: files by model and treebank, rows those of the sentences; of probes there may be fewer.
    tests: by treebank, where it has such a part; least: as in `relations.accuracy.measure_relations`.
    """
    found = {}
    for key, path in arcs.items():
        guesses, parts = read_groups(path, ArcGuesses), read_parts(rows[key], tests.get(key[1]))
        of_probes = None
        if key in probes:
            of_probes = right_words(read_probes(probes[key]), parts["file"], guesses["file"])
        choices = best_heads(parts, guesses, least=least)
        found[key] = treebank_quantities(choices, of_probes, published, seed=seed)
    return found


def collect_coreference(antecedents: Paths, rows: Paths, published: Clark2019, *, seed: int) -> dict[Key, Quantities]:
    """What is known of every model on every set of documents; rows: their files, by model and set as well."""
    found = {}
    for key, path in antecedents.items():
        scores, document = score_mentions(
            read_records(rows[key], AnnotatedDocument), read_arrays(path, AntecedentGuesses)
        )
        found[key] = coreference_quantities(scores, document, published, seed=seed)
    return found


def treebank_quantities(
    choices: Sequence[Choice],
    probes: tuple[Mapping[str, np.ndarray], np.ndarray] | None,
    published: Clark2019,
    *,
    seed: int,
) -> Trees:
    """What is known of a model on a treebank, of `relations.accuracy.best_heads` and `scores.right_words`, if any."""
    paper, elsewhere = choices
    same = _of_choice(paper, {"accuracy": "accuracy", "baseline": "offset_accuracy"}, published)
    measured = dict(_measure(same, _identities(same), seed))
    relations = _of_choice(elsewhere, _OF_CHOICE, published)
    known, finds = _finders(elsewhere, published)
    non_nouns, reason = _non_nouns(finds, elsewhere.units)
    relations = _beside(relations, non_nouns)
    wanted = wanted_by(of_relations, Trees, published=published)
    found, missing = _judged(relations, wanted, seed, {"non_nouns": reason})
    measured |= found
    try:
        measured["sep.beyond_others"] = sep_beyond_others(known, finds)
    except NoVerdictError as error:
        missing["sep.beyond_others"] = str(error)
    scored = Columns([], np.zeros((0, 0)), np.zeros((0, 0)))
    if probes is not None:
        right, words = probes
        sums = np.stack([of_system.mean(axis=0) for of_system in right.values()], axis=1)
        sizes = np.repeat(words[:, None], len(right), axis=1).astype(float)
        scored = Columns([f"probe.{name}" for name in right], sums, sizes)
        measured |= dict(_measure(scored, _identities(scored), seed))
    found, reasons = _judged(scored, wanted_by(of_probes, Trees, published=published), seed, {"probe": _NO_PROBES})
    measured["n_sentences"] = Measured(paper.units)
    return Trees(measured | found, missing=missing | reasons, published=published)


def coreference_quantities(
    scores: Mapping[tuple[str, str, str, str], np.ndarray], document: np.ndarray, published: Clark2019, *, seed: int
) -> Documents:
    """What is known of a model on documents with mentions; scores, document: of `accuracy.score_mentions`."""
    names, columns, reasons = [], [], {}
    for (system, candidates, mentions, chosen), of_mention in scores.items():
        if system == "best_head" and np.isnan(of_mention).all():
            # The half that a head would be chosen on has no mention.
            reasons = {"antecedents": _NO_OTHERS}
            continue
        if system == "best_head" and chosen == "documents":
            names.append(f"coreference.best_head.{candidates}.{mentions}")
        elif system == "best_head":
            names.append(f"antecedents.best_head.{candidates}.{mentions}")
        elif candidates == "mentions" and not chosen:
            names.append(f"coreference.{system}.{mentions}")
        else:
            continue
        columns.append(of_mention)
    sums, sizes = by_document(np.stack(columns, axis=1), document)
    known = Columns(names, sums, sizes, "documents")
    measures = _identities(known)
    measured = dict(_measure(known, {name: it for name, it in measures.items() if name.startswith("coref")}, seed))
    # Baselines choose nothing, so that they have one name; the best head is judged where it was not chosen.
    judged = [name if ".best_head." in name else name.replace("coreference.", "antecedents.", 1) for name in names]
    judged = Columns(judged, sums, sizes, "documents")
    found, missing = _judged(judged, wanted_by(of_coreference, Documents, published=published), seed, reasons)
    counts = {"n_documents": Measured(len(sums)), "n_mentions": Measured(len(document))}
    return Documents(measured | found | counts, missing=missing, published=published)


def published_language(published: Clark2019) -> tuple[Trees, Documents]:
    """The paper's own numbers of sections 4 and 5."""
    values = {}
    for row in published.relations.rows:
        values |= {f"relation.{row.relation}.accuracy": row.accuracy, f"relation.{row.relation}.baseline": row.baseline}
    values |= {f"probe.{row.probe}": row.uas for row in published.probes.rows}
    # The paper gives the best head's score for all words.
    values["probe.best_head"] = values[f"relation.{ALL}.accuracy"]
    leads = {
        f"relation.{row.relation}.lead": values[f"relation.{row.relation}.accuracy"] - row.baseline
        for row in published.relations.rows
    }
    # Whatever the paper counts, that is its total; and whatever its head looks at, that is the head's accuracy.
    leads |= {f"relation.{total}.lead": leads[f"relation.{ALL}.lead"] for total in TOTALS}
    trees = _published(values, leads, (*of_relations, *of_probes), Trees, published)
    values = {}
    for row in published.coreference.rows:
        of_type = {name: getattr(row, name) for name in (ALL, *MENTIONS)}
        of_type = {name: value for name, value in of_type.items() if value is not None}
        systems = [f"best_head.{it}" for it in CANDIDATES] if row.system == "best_head" else [row.system]
        values |= {f"antecedents.{system}.{name}": value for system in systems for name, value in of_type.items()}
    return trees, _published(values, {}, of_coreference, Documents, published)


def _published(
    values: Mapping[str, float], more: Mapping[str, float], claims: Iterable[Claim], kind: type, published: Clark2019
) -> Quantities:
    """Published values, and what claims ask of these and more."""
    scores = Scores({name: np.array(float(value)) for name, value in (values | more).items()})
    found, _ = measure_known(wanted_by(claims, kind, published=published), scores)
    return kind({name: Measured(float(value)) for name, value in (values | found).items()}, published=published)


def _of_choice(choice: Choice, statistics: Mapping[str, str], published: Clark2019) -> Columns:
    """Values of the paper's relations, as far as the table has them."""
    indices = {(row["annotation"], row["relation"]): index for index, row in enumerate(choice.rows)}
    sums, sizes = choice.sums()
    names, columns = [], []
    for relation in dict.fromkeys([*TOTALS, *(row.relation for row in published.relations.rows)]):
        index = indices.get(our_relation(relation))
        for name, quantity in statistics.items() if index is not None else ():
            column = QUANTITIES.index(quantity)
            if not np.isnan(choice.scores[index][column]).any():
                names.append(f"relation.{relation}.{name}")
                columns.append(index * len(QUANTITIES) + column)
    return Columns(names, sums[:, columns], sizes[:, columns])


def _finders(choice: Choice, published: Clark2019) -> tuple[dict[str, ToSep], dict[str, ToSep]]:
    """How much the best heads of relations of Table 1 look at [SEP]: of all, and of those that find their relation."""
    rows = {(row["annotation"], row["relation"]): it for row, it in zip(choice.rows, choice.to_sep, strict=True)}
    of_paper = {row.relation: rows.get(our_relation(row.relation)) for row in published.relations.rows}
    known = {name: it for name, it in of_paper.items() if name != ALL and it is not None}
    return known, {name: it for name, it in known.items() if it.lead > _FOUND}


def _non_nouns(finds: Mapping[str, ToSep], units: int) -> tuple[Columns, str]:
    """How much non-nouns look at [SEP] in the heads that have a function, and why in no such head."""
    wanted = {
        f"non_nouns.{name}.{group}": (it, GROUPS.index(group))
        for name, it in finds.items()
        if it.is_forward
        for group in NON_NOUNS.values()
    }
    known = {name: (it, n) for name, (it, n) in wanted.items() if it.sizes[:, n].any()}
    sums, sizes = (
        np.reshape([getattr(it, field)[:, n] for it, n in known.values()], (len(known), units)).T
        for field in ("sums", "sizes")
    )
    reason = "no head is known that finds the relation from dependent to head, or the words have no UPOS tags"
    return Columns(list(known), sums, sizes), _NO_SEP if _sees_none(finds) else reason


def _sees_none(finds: Mapping[str, ToSep]) -> bool:
    return bool(finds) and all(np.isnan(it.mean) for it in finds.values())


def sep_beyond_others(known: Mapping[str, ToSep], finds: Mapping[str, ToSep]) -> Measured:
    """How much less [SEP] gets where the heads that find relations are called for, beside other heads of their layers.

    known: of relations; finds: those whose best head finds them.

    The heads that find a relation and look at [SEP] change places with heads of their layers that do so and find none,
    at random, and for each relation the head that stands in the place of its best head is asked. Raises
    `NoVerdictError` where no head that finds a relation looks at [SEP].
    """
    folds = [each for it in known.values() for each in it.of_heads]
    if not finds:
        raise NoVerdictError("no head is more than ten points above the best offset at a relation of Table 1")
    if _sees_none(finds):
        raise NoVerdictError(_NO_SEP)
    looks = np.min([each.looks for each in folds], axis=0)
    asked = [each for it in finds.values() for each in it.of_heads if looks[each.best] > HIGH]
    if not asked:
        most = 100 * max(it.mean for it in finds.values() if not np.isnan(it.mean))
        raise NoVerdictError(
            "heads that find a relation are not shown to look at [SEP]: on the sentences that they were chosen on, it "
            f"gets at most {most:.2f} percent of their attention"
        )
    changes = (looks > HIGH) & (np.max([each.leads for each in folds], axis=0) <= _FOUND)
    for each in asked:
        changes[each.best] = True
    rng, heads = np.random.default_rng(derive_seed(0, "sep_beyond_others")), np.arange(looks.size)
    drawn = np.tile(heads, (_PERMUTATIONS, 1))
    for layer in heads.reshape(looks.shape):
        some = layer[changes.ravel()[layer]]
        drawn[:, some] = rng.permuted(drawn[:, some], axis=1)
    of_heads = [(each.rises.ravel(), np.ravel_multi_index(each.best, looks.shape)) for each in asked]
    own = np.mean([rises[best] for rises, best in of_heads])
    chance = np.mean([rises[drawn[:, best]] for rises, best in of_heads], axis=0)
    return Measured.beyond_chance(100 * float(own), 100 * chance)


def _beside(one: Columns, other: Columns) -> Columns:
    sums, sizes = (np.hstack(each) for each in zip(one[1:3], other[1:3], strict=True))
    return Columns([*one.names, *other.names], sums, sizes)


def _judged(
    columns: Columns, wanted: Mapping[str, Measure], seed: int, missing: Mapping[str, str] | None = None
) -> tuple[dict[str, Measured], dict[str, str]]:
    """What claims ask for, and why some of it is not known; missing: as of `Scores`."""
    known, reasons = measure_known(wanted, _whole(columns, missing or {}))
    return dict(measure_judged(columns, {name: wanted[name] for name in known}, seed)), reasons


def _identities(columns: Columns) -> dict[str, Measure]:
    return {name: lambda scores, name=name: scores[name] for name in columns.names}


def _whole(columns: Columns, missing: Mapping[str, str]) -> Scores:
    with np.errstate(invalid="ignore"):
        values = 100 * columns.sums.sum(axis=0) / columns.sizes.sum(axis=0)
    return Scores(dict(zip(columns.names, values, strict=True)), missing)


def _measure(columns: Columns, measures: Mapping[str, Measure], seed: int) -> Iterator[tuple[str, Measured]]:
    """Each number with its interval over the units that have some item of every column it is made of.

    Its interval is that of the column with the fewest such units, counted as `statistics.mean_intervals` counts them.
    """
    if not measures:
        return
    whole = _whole(columns, {})
    totals, counts = resampled_sums(columns.sums, columns.sizes, seed=seed, resamples=RESAMPLES)
    with np.errstate(invalid="ignore"):
        of_columns = dict(zip(columns.names, (100 * totals / counts).T, strict=True))
    for name, measure in measures.items():
        value, used = float(measure(whole)), Scores(of_columns)
        means = resampled(measure)(used)
        indices = [columns.names.index(column) for column in used.used]
        means = means[~np.any([np.isnan(of_columns[column]) for column in used.used], axis=0)]
        sizes = min((columns.sizes[:, index] for index in indices), key=effective_units)
        sizes = sizes[sizes > 0]
        if len(sizes) < 2:
            yield name, Measured(value, over=columns.over, units=len(sizes))
            continue
        yield name, Measured.drawn_for(measure, value, means, sizes, columns.over)


def measure_judged(columns: Columns, measures: Mapping[str, Measure], seed: int) -> Iterator[tuple[str, Measured]]:
    """As `_measure`, for claims, which an interval without width does not decide."""
    for name, measured in _measure(columns, measures, seed):
        if measured.low == measured.high:
            measured = Measured.without_difference(measured.value, measured.units, _FROM_WRONG_TO_RIGHT, columns.over)
        yield name, measured
