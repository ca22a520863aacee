"""The quantities that claims about treebanks and coreference are judged on, from our results and from the paper's.

What the paper's rules measure has the names that `rules` gives. The others are, in percent,

| name | what |
| --- | --- |
| `relation.{relation}.accuracy`, `.baseline` | the best head and offset, chosen and scored on the same sentences |
| `best_heads` | different best heads of the relations of Table 1 |
| `probe.{system}` | attachment score of a probe or of a baseline |
| `coreference.{system}.{mentions}` | accuracy of a baseline |
| `coreference.best_head.{candidates}.{mentions}` | the best head, chosen and scored on the same documents |
| `n_sentences`, `n_documents`, `n_mentions` | on which these are measured |
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from headtypes.analyses.relations.accuracy import QUANTITIES, Choice
from headtypes.core.bootstrap import RESAMPLES, bounds, draw_units, p_of_side
from headtypes.papers.claims import NoVerdictError
from headtypes.papers.clark2019.language.rules import ScoreRule, Scores
from headtypes.papers.clark2019.published import Clark2019
from headtypes.papers.clark2019.rules import About
from headtypes.papers.quantities import Measured, Quantities

ALL = "all"
# Our names of relations where they are not the paper's: annotation and relation.
_OURS = {ALL: ("universal", ALL), "poss": ("stanford", "poss*")}
_OF_CHOICE = {"accuracy": "accuracy", "lead": "above_offset", "direction": "forward_above_backward"}
_NO_PROBES = "no probes were trained: the treebank has no part for training, or probes.seeds is 0"
_NO_OTHERS = "no document is left to choose a head on: all coreferent mentions are in even places, or all in odd ones"
_Measure = Callable[[Scores], np.ndarray]


class Columns(NamedTuple):
    """Accuracies of the same units: names, and sums and numbers of the items of each unit, [unit, column]."""

    names: list[str]
    sums: np.ndarray
    sizes: np.ndarray


def our_relation(relation: str) -> tuple[str, str]:
    """The annotation and the name in our tables of a relation of the paper's."""
    return _OURS.get(relation, ("stanford", relation))


def treebank_quantities(
    choices: Sequence[Choice],
    probes: tuple[Mapping[str, np.ndarray], np.ndarray] | None,
    published: Clark2019,
    *,
    seed: int,
) -> Quantities:
    """What is known of a model on a treebank.

    choices: as `relations.accuracy.best_heads` returns them; probes: as `scores.right_words` returns them, where there
        are any.
    seed: of the sentences that are drawn for the intervals.
    """
    paper, elsewhere = choices
    same = _of_choice(paper, {"accuracy": "accuracy", "baseline": "offset_accuracy"}, published)
    measured = dict(_measure(same, _identities(same), seed))
    relations = _of_choice(elsewhere, _OF_CHOICE, published)
    found, missing = _judged(relations, published, "treebank", "relation", {}, seed)
    measured |= found
    rows = {(row["annotation"], row["relation"]): row for row in paper.rows}
    best = [rows.get(our_relation(row.relation)) for row in published.relations.rows if row.relation != ALL]
    heads = {(row["layer"], row["head"]) for row in best if row is not None}
    if heads:
        measured["best_heads"] = Measured(len(heads))
    else:
        missing["best_heads"] = "the table has none of the paper's relations"
    scored = Columns([], np.zeros((0, 0)), np.zeros((0, 0)))
    if probes is not None:
        right, words = probes
        sums = np.stack([of_system.mean(axis=0) for of_system in right.values()], axis=1)
        sizes = np.repeat(words[:, None], len(right), axis=1).astype(float)
        scored = Columns([f"probe.{name}" for name in right], sums, sizes)
        measured |= dict(_measure(scored, _identities(scored), seed))
    found, reasons = _judged(scored, published, "treebank", "probe", {"probe": _NO_PROBES}, seed)
    measured["n_sentences"] = Measured(paper.units)
    return Quantities(measured | found, missing=missing | reasons)


def coreference_quantities(
    scores: Mapping[tuple[str, str, str, str], np.ndarray], document: np.ndarray, published: Clark2019, *, seed: int
) -> Quantities:
    """What is known of a model on documents with mentions.

    scores, document: as `accuracy.score_mentions` returns them; seed: of the documents drawn for the intervals.
    """
    names, columns, reasons = [], [], {}
    for (system, candidates, mentions, chosen), of_mention in scores.items():
        if system == "best_head" and np.isnan(of_mention).all():
            # The half that a head would be chosen on has no mention.
            reasons = {"antecedents": _NO_OTHERS}
            continue
        if system == "best_head" and chosen == "documents":
            names.append(f"coreference.best_head.{candidates}.{mentions}")
        elif system == "best_head" and candidates == "words":
            names.append(f"antecedents.best_head.{mentions}")
        elif candidates == "mentions" and not chosen:
            names.append(f"coreference.{system}.{mentions}")
        else:
            continue
        columns.append(of_mention)
    values = np.stack(columns, axis=1)
    units, unit = np.unique(document, return_inverse=True)
    sums, sizes = np.zeros((2, len(units), len(names)))
    np.add.at(sums, unit, np.nan_to_num(values))
    np.add.at(sizes, unit, ~np.isnan(values))
    known = Columns(names, sums, sizes)
    measures = _identities(known)
    measured = dict(_measure(known, {name: it for name, it in measures.items() if name.startswith("coref")}, seed))
    judged = Columns([name.replace("coreference.", "antecedents.", 1) for name in names], sums, sizes)
    found, missing = _judged(judged, published, "coreference", "antecedents", reasons, seed)
    counts = {"n_documents": Measured(len(units)), "n_mentions": Measured(len(document))}
    return Quantities(measured | found | counts, missing=missing)


def published_language(published: Clark2019) -> Quantities:
    """The paper's own numbers of sections 4 and 5."""
    values = {}
    for row in published.relations.rows:
        values |= {f"relation.{row.relation}.accuracy": row.accuracy, f"relation.{row.relation}.baseline": row.baseline}
    for row in published.coreference.rows:
        of_type = {name: getattr(row, name) for name in (ALL, "pronoun", "proper", "nominal")}
        values |= {f"antecedents.{row.system}.{name}": value for name, value in of_type.items() if value is not None}
    values |= {f"probe.{row.probe}": row.uas for row in published.probes.rows}
    # The paper gives the best head's score for all words.
    values["probe.best_head"] = values[f"relation.{ALL}.accuracy"]
    leads = {
        f"relation.{row.relation}.lead": values[f"relation.{row.relation}.accuracy"] - row.baseline
        for row in published.relations.rows
    }
    reasons = {"relation": "the paper gives no such value"}
    scores = Scores({name: np.array(float(value)) for name, value in (values | leads).items()}, reasons)
    measured = {name: Measured(float(value)) for name, value in values.items()}
    for rule in _score_rules(published):
        try:
            measured[rule.name] = Measured(float(rule.measure(scores, published)))
        except NoVerdictError:
            continue
    heads = {row.head for row in published.relations.rows if row.relation != ALL}
    return Quantities(measured | {"best_heads": Measured(len(heads))})


def _of_choice(choice: Choice, statistics: Mapping[str, str], published: Clark2019) -> Columns:
    """Values of the paper's relations, as far as the table has them."""
    places = {(row["annotation"], row["relation"]): place for place, row in enumerate(choice.rows)}
    sums, sizes = choice.sums()
    names, columns = [], []
    for row in published.relations.rows:
        place = places.get(our_relation(row.relation))
        for name, quantity in statistics.items() if place is not None else ():
            column = QUANTITIES.index(quantity)
            if not np.isnan(choice.scores[place][column]).any():
                names.append(f"relation.{row.relation}.{name}")
                columns.append(place * len(QUANTITIES) + column)
    return Columns(names, sums[:, columns], sizes[:, columns])


def _judged(
    columns: Columns, published: Clark2019, kind: About, start: str, missing: Mapping[str, str], seed: int
) -> tuple[dict[str, Measured], dict[str, str]]:
    """What the rules about a kind of task measure, and why others measure nothing.

    start: how the names of the columns begin that the rules ask for; others are left to another call.
    """
    whole = _whole(columns, missing)
    measures, reasons = {}, {}
    for rule in _score_rules(published):
        if rule.about == kind and (start == "probe") == (rule.kind == "probe"):
            try:
                rule.measure(whole, published)
            except NoVerdictError as error:
                reasons[rule.name] = str(error)
            else:
                measures[rule.name] = _of_rule(rule, published)
    return dict(_measure(columns, measures, seed)), reasons


def _score_rules(published: Clark2019) -> Iterator[ScoreRule]:
    yield from (rule for claim in published.claims for rule in claim.rules if isinstance(rule, ScoreRule))


def _of_rule(rule: ScoreRule, published: Clark2019) -> _Measure:
    return lambda scores: rule.measure(scores, published)


def _identities(columns: Columns) -> dict[str, _Measure]:
    return {name: lambda scores, name=name: scores[name] for name in columns.names}


def _whole(columns: Columns, missing: Mapping[str, str]) -> Scores:
    with np.errstate(invalid="ignore"):
        values = 100 * columns.sums.sum(axis=0) / columns.sizes.sum(axis=0)
    return Scores(dict(zip(columns.names, values, strict=True)), missing)


def _measure(columns: Columns, measures: Mapping[str, _Measure], seed: int) -> Iterator[tuple[str, Measured]]:
    """Each number with its interval over the units that have some item of every column it is made of.

    Its interval is that of the column with the fewest such units, counted as `bootstrap.mean_intervals` counts them.
    """
    if not measures:
        return
    whole = _whole(columns, {})
    with threadpool_limits(1):
        drawn = [(units @ columns.sums, units @ columns.sizes) for units in draw_units(*_draws(columns, seed))]
    totals, counts = (np.concatenate(each) for each in zip(*drawn, strict=True))
    with np.errstate(invalid="ignore"):
        resampled = dict(zip(columns.names, (100 * totals / counts).T, strict=True))
    for name, measure in measures.items():
        value, used = float(measure(whole)), Scores(resampled)
        means = measure(used)
        places = [columns.names.index(column) for column in used.used]
        means = means[~np.any([np.isnan(resampled[column]) for column in used.used], axis=0)]
        sizes = min((columns.sizes[:, place] for place in places), key=_effective)
        sizes = sizes[sizes > 0]
        if len(sizes) < 2:
            yield name, Measured(value)
            continue
        low, high = bounds(means, sizes)
        yield name, Measured(value, float(low), float(high), _p_value(means, sizes))


def _draws(columns: Columns, seed: int) -> tuple[int, int, int]:
    return len(columns.sums), RESAMPLES, seed


def _effective(sizes: np.ndarray) -> float:
    return sizes.sum() ** 2 / (sizes**2).sum()


def _p_value(means: np.ndarray, sizes: np.ndarray) -> Callable[[float, str], float]:
    return lambda limit, side: float(p_of_side(means, sizes, limit, side))
