"""Our values beside those of Guan et al. 2020, and which of the paper's claims hold."""

from collections.abc import Iterable, Iterator, Mapping

import pandas as pd

from headtypes.core.markdown import document
from headtypes.papers import comparison
from headtypes.papers.comparison import (
    HOW_CLAIMS_ARE_JUDGED,
    HOW_CLAIMS_ARE_KNOWN,
    NUMBERS,
    claim_list,
    claim_rows,
    note_parts,
    subject_parts,
    value_row,
    verdict_counts,
)
from headtypes.papers.guan2020.published import Guan2020
from headtypes.papers.guan2020.quantities import Key, published_quantities
from headtypes.papers.guan2020.words import HALVES, METRICS, bracket, doubtful_of, name_operations, types_of
from headtypes.papers.quantities import Quantities

KEYS = ["model", "partition"]
_HALVES = {half: half for half in HALVES} | {"pairs": "pairs of a head and a sample"}
COLUMNS = [*KEYS, *comparison.COLUMNS, "doubtful", "n_questions"]


def compare_with_guan(
    quantities: Mapping[Key, Quantities], stability: Mapping[Key, list[float]], published: Guan2020
) -> pd.DataFrame:
    """Set what is published beside ours, and judge the paper's claims.

    quantities: by model and partition, as `quantities.collect_quantities` makes them; the order of the result.
    stability: the published stability beside which each of them stands, as `quantities.published_stability` makes it.
    returns the columns `COLUMNS`; for each partition first the claims in the order of the reference, then the
      values in that of the paper. kind: claim or figure. basis: of a claim, as `claims.Basis`. id: the claim's, or
      share.{type}, stability.{k}.{halves}, {condition}.{metric} and {condition}.drop_{metric}. ours, low, high,
      published, difference (ours less published): percent or points; of a claim those of the rule that makes the
      verdict, and so p and p_holm. verdict_holm: as `corrections.correct` leaves it. remark: how the published value
      contradicts others. doubtful: types that the row rests on and whose name is doubtful.
    """
    rows = []
    for key, ours in quantities.items():
        theirs, doubtful = published_quantities(published, stability.get(key, ())), doubtful_of(ours)
        same = dict(zip(KEYS, key, strict=True))
        same["n_questions"] = ours["n_questions"].value if "n_questions" in ours else None
        of_claims = claim_rows(published.claims, ours, theirs, published)
        for claim, row in zip(published.claims, of_claims, strict=True):
            rows.append(same | row | {"doubtful": _listed(claim.types, doubtful)})
        for types, row in _values(ours, theirs, published):
            rows.append(same | row | {"doubtful": _listed(types, doubtful)})
    table = pd.DataFrame(rows, columns=COLUMNS)
    return table.astype({**dict.fromkeys(NUMBERS, float), "n_questions": "Int64"})


def comparison_page(table: pd.DataFrame, published: Guan2020) -> str:
    """The comparison as Markdown: a section per model and partition, verdicts first, then the values."""
    parts = [
        f"Published: {published.paper}. Its values are for {published.model} on {published.task}. Another model has "
        "other heads, so that only the order and the direction of the drops can be compared.",
        f"{HOW_CLAIMS_ARE_KNOWN} {HOW_CLAIMS_ARE_JUDGED} A claim that rests on a doubtful name has no verdict.",
        verdict_counts(table, KEYS),
        "## The claims",
        "Where a limit is ours, the last column says how it follows from the paper's words.",
        claim_list(published.claims),
    ]
    for (model, partition), section in table.groupby(KEYS, sort=False):
        questions = section["n_questions"].iloc[0]
        parts.append(f"## {model}, {partition}")
        parts += [] if pd.isna(questions) else [f"{questions:,} questions."]
        parts += ["Types in brackets have a doubtful name."] if section["doubtful"].any() else []
        parts += subject_parts(section)
    return document("Beside the paper", [*parts, *note_parts(published.notes)])


def _values(ours: Quantities, theirs: Quantities, published: Guan2020) -> Iterator[tuple[tuple[str, ...], dict]]:
    """Types that a row names, and the row, for each published value that we have ours of."""
    doubtful = doubtful_of(ours)
    # Shares and stability of other types are other quantities.
    if set(types_of(ours)) == set(types_of(theirs)):
        place = published.shares.place
        for name, share in theirs.of_kind("share").items():
            words, id_ = f"share of {bracket(name, doubtful)}", f"share.{name}"
            yield (name,), value_row(place, id_, words, ours[id_], share, published)
        place, kind = published.stability.place, f"stability.{len(types_of(ours))}"
        for value in theirs.of_kind(kind).values():
            for half in ours.of_kind(kind):
                words = f"stability, halves of the {_HALVES[half]}, all agree"
                yield (), value_row(place, f"{kind}.{half}", words, ours[f"{kind}.{half}"], value, published)
    for condition in published.conditions:
        place, done = f"section 5, Table {condition.table}", name_operations(condition.operations, doubtful)
        for metric, words in METRICS.items():
            score, of_baseline = f"{condition.id}.{metric}", f"{published.baseline.id}.{metric}"
            if score not in ours:
                continue
            types = tuple(condition.operations)
            yield types, value_row(place, score, f"{words}, {done}", ours[score], theirs[score].value, published)
            if condition is not published.baseline and of_baseline in ours:
                weights, id_ = {of_baseline: 1.0, score: -1.0}, f"{condition.id}.drop_{metric}"
                drop, published_drop = ours.weighted_sum(weights), theirs.weighted_sum(weights).value
                yield types, value_row(place, id_, f"drop of {words}, {done}", drop, published_drop, published)


def _listed(types: Iterable[str], doubtful: tuple[str, ...]) -> str:
    return ", ".join(name for name in types if name in doubtful)
