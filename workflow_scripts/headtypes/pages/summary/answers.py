"""Are there types, how many, and do they matter? The answers for each partition, with their reasons."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from headtypes.analyses.company.costs import costly_heads
from headtypes.analyses.company.results import DEEP, LOSS
from headtypes.analyses.types.clustering import COUNTS
from headtypes.analyses.types.gaps import FEWEST_HEADS, measured_gaps, p_of_gaps
from headtypes.analyses.types.partitions import Partition
from headtypes.core.statistics import ALPHA
from headtypes.core.table_files import head_name
from headtypes.core.tables import p_value
from headtypes.pages.summary.overview import TypeCosts
from headtypes.papers.claims import join
from headtypes.papers.quantities import VERDICTS, Measured

ANSWERS = YES, NO, UNDECIDED, UNMEASURED = "yes", "no", "undecided", "not measured"
_CRITERIA = {
    "silhouette": "silhouette",
    "heads": "stability, heads",
    "samples": "stability, inputs",
}
_HALVES = {"samples": "other inputs", "pairs": "other pairs", "heads": "other heads"}
_NOT_COMPARED = (
    f"Compared with others are clusterings of at least {FEWEST_HEADS} heads into {COUNTS[0]} to {COUNTS[-1]} types, "
    "which clustering: k asks for; heads that a file divides are not."
)
# What is not known unless a question is answered so; that they are not k does not say how many they are.
_SETTLES = {
    "whether there are types": {YES, NO},
    "how many there are": {YES},
    "whether single heads matter": {YES, NO},
}
# Heads that the third card's picture has.
_SHOWN = 4
_ELSEWHERE = "what another model would give"


class Mark(NamedTuple):
    """A line in the picture of an answer on the page of results: a dot and, if given, a tick and the ends of a bar.

    Distances are from the left end of the picture, in percent of its width. text: the value in words.
    """

    label: str
    text: str
    dot: float
    tick: float | None = None
    bar: tuple[float, float] | None = None


class Card(NamedTuple):
    """A question about a model's types or heads, with the answer "yes", "no", "undecided" or "not measured".

    says: the answer in a sentence; why: how the answer is decided.
    number: the value that decides, with its interval if there is one, in words.
    marks, ends, key: lines of the picture, labels at its left and right end, and its legend.
    files: paths of results that decide, relative to the page.
    """

    question: str
    answer: str
    says: str
    number: str
    why: str
    marks: Sequence[Mark] = ()
    ends: tuple[str, str] = ("", "")
    key: str = ""
    files: Sequence[str] = ()

    @property
    def verdict(self) -> str:
        return VERDICTS[ANSWERS.index(self.answer)]


class Company(NamedTuple):
    """The results of sets of random heads that were left out together from one model.

    costs: a row for each head. fit: how well these costs explain the loss of the sets.
    labels: a row for each type, or other label of heads, with the p-values of its relation to the costs.
    """

    costs: pd.DataFrame
    fit: Mapping
    labels: pd.DataFrame


class Answers(NamedTuple):
    """The pictures, cards and files of one partition on the page of results.

    name: its title. overview: the values of its pictures in the page's template. sentences: further findings.
    figures: paths of the PNG and the PDF, by what the figure shows. files: paths of tables, by what the tables hold.
    """

    model: str
    partition: str
    name: str
    overview: Mapping[str, Any]
    cards: Sequence[Card]
    sentences: Sequence[str]
    figures: Mapping[str, tuple[str, str]]
    files: Mapping[str, Sequence[str]]

    @property
    def unknown(self) -> str:
        asked = zip(_SETTLES.items(), self.cards, strict=True)
        return join([*(it for (it, settled), card in asked if card.answer not in settled), _ELSEWHERE])

    @property
    def measured(self) -> int:
        return sum(card.answer != UNMEASURED for card in self.cards)


def types_answer(gaps: Collection[Measured]) -> str:
    """Return whether there are gaps between heads: YES, NO or UNDECIDED.

    gaps: dips between heads (Hartigan and Hartigan 1985) with intervals, less the dip of numbers with one peak.
    YES: the whole interval of every dip is above 0. NO: the whole interval of a dip is below 0 and, since one of
    several dips is so by chance more often, its p-value times the number of dips is below 0.05.
    """
    if any(it.high < 0 and len(gaps) * it.p_value(0) < ALPHA for it in gaps):
        return NO
    return YES if all(it.low > 0 for it in gaps) else UNDECIDED


def number_answer(k: int, chosen: Sequence[int | None]) -> str:
    if None in chosen:
        return UNDECIDED
    return YES if set(chosen) == {k} else UNDECIDED if k in chosen else NO


def types_card(partition: Partition, stability: dict | None, files: Sequence[str]) -> Card:
    """Return the card that says whether a partition's heads form types.

    stability: the content of the partition's file of stability; None for a partition that no clustering made.
    files: links to the results that decide.
    """
    question = "Are there types?"
    if stability is None or stability["gaps"] is None:
        return Card(question, UNMEASURED, "", "", _NOT_COMPARED)
    gaps = measured_gaps(stability["gaps"], len(partition.table))
    answer = types_answer(gaps.values())
    shares = partition.table["type"].value_counts(normalize=True)
    chance, heads = 100 * float((shares**2).sum()), stability["heads"]["pairwise"]
    marks = [
        Mark(
            name,
            f"{agreement['pairwise']:.0f} %, all {agreement['all_agree']:.0f} %",
            agreement["pairwise"],
            # Pairs are clustered by themselves, into clusters of other sizes.
            None if half == "pairs" else chance,
            (agreement["all_agree"], agreement["pairwise"]),
        )
        for half, name in _HALVES.items()
        if (agreement := stability[half])
    ]
    said = {YES: "There are gaps between heads", NO: "Heads lie around one peak"}
    return Card(
        question,
        answer,
        f"{said.get(answer, 'No gaps between heads are shown')}; clusterings of halves of the heads agree on "
        f"{heads:.0f} % of the heads.",
        f"Test for gaps: {p_value(p_of_gaps(stability['gaps'], len(partition.table)))}",
        "Two dips (Hartigan and Hartigan 1985), in percent and less those of numbers with one peak: of the heads along "
        "the line between two clusters, and of the lengths of paths between heads. Yes where the intervals of both are "
        "above 0, no where one is below.",
        marks,
        ("0 %", "100 %"),
        f"Dot: on how many heads two clusterings of halves agree; the bar begins where all {stability['models']} do; "
        "tick: chance, where known.",
        files,
    )


def number_card(k: int | None, chosen: Mapping[str, int | None] | None, files: Sequence[str]) -> Card:
    """Return the card that says whether there are as many types as a partition has.

    k: number of types in the partition. chosen: {criterion: number of types that it chooses, or None for no choice}.
        Both are None for a partition that no clustering made.
    files: links to the results that decide.
    """
    if k not in COUNTS or chosen is None:
        return Card("How many?", UNMEASURED, "", "", _NOT_COMPARED)
    numbers = [chosen[criterion] for criterion in _CRITERIA]
    known = sorted({number for number in numbers if number is not None})
    least, most = COUNTS[0], COUNTS[-1]
    place, agree = 100 / (most - least), numbers.count(k)
    marks = [
        Mark(name, "none" if it is None else str(it), place * ((it or k) - least), place * (k - least))
        for name, it in zip(_CRITERIA.values(), numbers, strict=True)
        if it is not None
    ]
    return Card(
        f"How many: are they {k}?",
        number_answer(k, numbers),
        f"{agree or 'None'} of {len(numbers)} criteria {'choose' if agree > 1 else 'chooses'} {k} types.",
        f"They choose {' to '.join(map(str, dict.fromkeys((known[0], known[-1]))))} types"
        if known
        else "They choose none",
        f"Yes where all choose {k}, no where none does; criteria have no intervals.",
        marks,
        (str(least), str(most)),
        f"Dot: the number that a criterion chooses; tick: {k}.",
        files,
    )


def matter_card(
    model: str,
    name: str,
    partition: Partition,
    company: Company | None,
    left_out: TypeCosts | None,
    files: Sequence[str],
) -> Card:
    """Return the card that says whether single heads cost more than other heads of their layers.

    name: name of the partition, whose types are also compared by their costs.
    company: the heads' costs in random company; None if they were not measured.
    left_out: the cost of each type left out by itself, or None.
    files: links to the results that decide.
    """
    question = "Do single heads matter?"
    if company is None:
        why = f"No heads were away in random company. models: {model}: evaluate and company: sets ask for it."
        return Card(question, UNMEASURED, "", "", why)
    costs, fit, labels = company
    costly, shown = costly_heads(costs), costs.sort_values("cost", ascending=False).head(_SHOWN)
    types = labels[labels["family"] == f"types of {name}"]
    apart = [f"{row.label} ({p_value(row.p_beyond)})" for row in types.itertuples() if row.p_beyond <= ALPHA]
    beyond = " beyond " + ("that head" if len(costly) == 1 else "these heads") if len(costly) else ""
    least = f" (smallest p = {types['p_beyond'].min():.2f})" if len(types) else ""
    said = f"Types differ{beyond}: {join(apart)}" if apart else f"Types are not shown to differ{beyond}{least}"
    others = "its layer" if costs["layer"].nunique() <= DEEP else "the model"
    lead = f"No head is shown to cost more than others of {others}"
    if len(costly):
        named = join(map(head_name, costly["layer"], costly["head"]))
        lead = f"{named} costs more than others of {others}"
        if len(costly) > 1:
            lead = lead.replace("costs", "cost").replace("its layer", "their layers")
    half = f"{fit['half']} of {len(costs)} heads {'explains' if fit['half'] == 1 else 'explain'} half of these costs"
    most = next(shown.itertuples())
    pair, r2 = fit["pair"], fit["r2"]["loss"]
    together = (
        f" {join(pair['heads'])} together cost {pair['effect']:.2f} nats beyond their costs, in {pair['sets']} "
        f"{'set' if pair['sets'] == 1 else 'sets'} (p = {pair['p']:.3f})."
        if pair["heads"] and pair["p"] <= ALPHA
        else ""
    )
    whole = _whole(left_out, partition, costs, fit)
    ends = min(0, shown["low"].min()), max(0, shown["high"].max())
    width = (ends[1] - ends[0]) or 1
    marks = [
        Mark(
            head_name(row.layer, row.head),
            f"{row.cost:.2f}",
            *(100 * (value - ends[0]) / width for value in (row.cost, 0)),
            tuple(100 * (value - ends[0]) / width for value in (row.low, row.high)),
        )
        for row in shown.itertuples()
    ]
    return Card(
        question,
        YES if len(costly) else UNDECIDED,
        f"{lead}. {said}.",
        f"{head_name(most.layer, most.head)} most: {most.cost:.2f} nats of loss ({most.low:.2f} to {most.high:.2f})",
        f"{fit['sets']} sets of {fit['away']:.0f} random heads were left out, for {fit['units']} inputs. Costs of "
        f"single heads explain {100 * max(r2, 0):.0f} % of the loss between sets (adjusted), and halves of the sets "
        f"agree (r = {fit['halves']['loss']:.2f}). {half}.{together}{whole} Yes where some head costs more than others "
        f"of {others}, corrected for all heads; p of types is by permutation within layers, for all types at once.",
        marks,
        (f"{ends[0]:.2f}", f"{ends[1]:.2f} nats"),
        f"Dot: how much more the loss rises without the head than without another of {others}; bar: its interval over "
        "inputs.",
        files,
    )


def _whole(left_out: TypeCosts | None, partition: Partition, costs: pd.DataFrame, fit: Mapping) -> str:
    if left_out is None:
        return ""
    about = left_out.metric
    column = "cost" if about.name == LOSS else f"cost_{about.name}"
    if column not in costs:
        return ""
    # Costs are beside others of the layer: with all heads alike, each would cost its part of a set.
    each = fit["set_cost"][about.name] / fit["away"]
    said = []
    for type_, drop in left_out.costs["drop"].items():
        heads = (partition.type_of == type_).ravel()
        total = costs.loc[heads, column].sum() + heads.sum() * each
        said.append(f"{type_} {left_out.text(drop)} ({left_out.text(total)})")
    sums = "(in brackets: the sum of their heads' costs)"
    return f" Left out whole, types cost {join(said)} {about.steps} of {about.title} {sums}."
