"""What a run says: the answers to three questions on types, verdicts on claims, findings in sentences, and cautions."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from headtypes.analyses.company.costs import costly_heads
from headtypes.analyses.company.results import DEEP, LOSS
from headtypes.analyses.types.clustering import COUNTS
from headtypes.analyses.types.gaps import FEWEST_HEADS, measured_gaps, p_of_gaps
from headtypes.analyses.types.partitions import Partition
from headtypes.core.statistics import ALPHA
from headtypes.core.table_files import head_name
from headtypes.core.tables import Column, Shown, Table, TextColumn, anchor, p_value
from headtypes.pages.rendering import SIGNS, counted
from headtypes.pages.summary.overview import Best, TypeCosts, left_out_alone
from headtypes.papers.claims import BASES, FAILS, FEW, HOLDS, NO_VERDICT, OPEN, VERDICTS, Measured, join
from headtypes.papers.comparison import subject_title

ANSWERS = YES, NO, UNDECIDED, UNMEASURED = "yes", "no", "undecided", "not measured"
_CRITERIA = {"silhouette": "silhouette", "heads": "stability, heads", "samples": "stability, inputs"}
_HALVES = {"samples": "other inputs", "pairs": "other pairs", "heads": "other heads"}
_NOT_COMPARED = (
    f"Compared with others are clusterings of at least {FEWEST_HEADS} heads into {COUNTS[0]} to {COUNTS[-1]} types, "
    "which clustering: k asks for; heads that a file divides are not."
)
_SHOWN_HEADS = 4
_SIGNED = [f"{SIGNS[verdict]} {verdict}" for verdict in VERDICTS]
_COLUMNS = [
    TextColumn("order", "verdict", write=_SIGNED.__getitem__, below="corrected", verdict="verdict"),
    TextColumn("quantity", "claim", below="where"),
    Column("ours", "ours", after="unit", below="interval"),
    TextColumn("limit", "claimed", below="fails_in"),
    Column("published", "paper's", after="unit"),
]
# A finding among the reasons of a verdict, as `Finding` writes it.
_FINDING = re.compile(
    r"(?:^|; )(?P<of>[^;]*?): (?P<value>-?[\d.]+)[^;]*; claimed (?P<limit>\w+ [^\s;]+)[^;†‡]*(?P<few>[†‡]?)"
)


class Mark(NamedTuple):
    """A row of a card's picture: a label, a value as text, and places in percent of the picture's width.

    dot: place of the value. tick: place of a value to compare with, such as chance. bar: places of a range's two ends.
    """

    label: str
    text: str
    dot: float
    tick: float | None = None
    bar: tuple[float, float] | None = None


class Card(NamedTuple):
    """A question about a model's types or heads, with the answer "yes", "no", "undecided" or "not measured".

    says: the answer in a sentence. number: the value behind the answer, as text. why: how the answer is decided.
    marks: rows of the card's picture. ends: labels at the picture's left and right end. key: the picture's legend.
    files: links to the files that the answer follows from.
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


def types_answer(gaps: Collection[Measured]) -> str:
    """Return whether there are gaps between heads: "yes", "no" or "undecided".

    gaps: from `measured_gaps`, dips (distances from having one peak, Hartigan and Hartigan 1985) less those of chance.
    "yes": all gaps' intervals are above 0. "no": a gap's is below 0, with p times number of gaps (Bonferroni) < 0.05.
    """
    if any(gap.high < 0 and len(gaps) * gap.p_value(0) < ALPHA for gap in gaps):
        return NO
    return YES if all(gap.low > 0 for gap in gaps) else UNDECIDED


def types_card(partition: Partition, stability: dict | None, links: Sequence[str]) -> Card:
    """Return the card that says whether heads form types; links: to the files that the answer follows from.

    stability: contents of the partition's file in `results/stability`; None if heads were not clustered.
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
        links,
    )


def number_card(k: int | None, chosen: Mapping[str, int | None] | None, links: Sequence[str]) -> Card:
    """Return the card that asks whether heads have k types: "yes" if all criteria choose k, "no" if all choose others.

    The answer is "not measured" if `chosen` is None or k is not in `COUNTS` (2 to 8), else "undecided".
    chosen: {criterion: number of types that it chooses, or None for no choice}. links: to the files with these numbers.
    """
    if k not in COUNTS or chosen is None:
        return Card("How many?", UNMEASURED, "", "", _NOT_COMPARED)
    numbers = [chosen[criterion] for criterion in _CRITERIA]
    known = sorted({*numbers} - {None})
    least, most = COUNTS[0], COUNTS[-1]
    place, agree = 100 / (most - least), numbers.count(k)
    answer = UNDECIDED if None in numbers or 0 < agree < len(numbers) else YES if agree else NO
    marks = [
        Mark(name, str(number), place * (number - least), place * (k - least))
        for name, number in zip(_CRITERIA.values(), numbers, strict=True)
        if number is not None
    ]
    return Card(
        f"How many: are they {k}?",
        answer,
        f"{agree or 'None'} of {len(numbers)} criteria {'choose' if agree > 1 else 'chooses'} {k} types.",
        f"They choose {' to '.join(map(str, dict.fromkeys((known[0], known[-1]))))} types"
        if known
        else "They choose none",
        f"Yes where all choose {k}, no where none does; criteria have no intervals.",
        marks,
        (str(least), str(most)),
        f"Dot: the number that a criterion chooses; tick: {k}.",
        links,
    )


def matter_card(
    model: str,
    name: str,
    partition: Partition,
    company: tuple[pd.DataFrame, Mapping, pd.DataFrame] | None,
    left_out: TypeCosts | None,
    links: Sequence[str],
) -> Card:
    """Return the card that says whether some heads of a model cost more than others, and whether types differ in cost.

    name: of the partition. links: to the files that the answer follows from.
    company: results of `read_costs`, `read_fit` and `read_labels` for heads in random company; None if not measured.
    left_out: costs of each type when all its heads are left out; None if not measured.
    """
    question = "Do single heads matter?"
    if company is None:
        why = f"No heads were away in random company. models: {model}: evaluate and company: sets ask for it."
        return Card(question, UNMEASURED, "", "", why)
    costs, fit, labels = company
    costly, shown = costly_heads(costs), costs.sort_values("cost", ascending=False).head(_SHOWN_HEADS)
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
        links,
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


@dataclass(frozen=True)
class Judged:
    """The verdicts on a paper's claims for one model with one partition or task (`other`).

    claims, values: rows of the paper's `comparison.csv` on claims, and on published values, indexed by column `id`.
    table: the claims that have a verdict, as a table for the page. file: link to all verdicts with their reasons.
    """

    model: str
    other: str
    claims: pd.DataFrame
    values: pd.DataFrame
    table: Shown
    file: str

    @property
    def decided(self) -> int:
        return int(self.claims["verdict"].isin([HOLDS, FAILS]).sum())

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """Numbers of claims, {basis, such as "from the table": {verdict: number}}; "stated" is always among them."""
        counts = {basis: self._counts(basis, "verdict") for basis in BASES}
        return {BASES[basis]: of for basis, of in counts.items() if basis == "stated" or any(of.values())}

    @property
    def corrected(self) -> str:
        counts = self._counts("stated", "verdict_holm")
        known = counts[HOLDS] + counts[FAILS] + counts[OPEN]
        return f"corrected: {counted(HOLDS, counts[HOLDS])}, {counted(FAILS, counts[FAILS])}" if known else ""

    def _counts(self, basis: str, column: str) -> dict[str, int]:
        verdicts = self.claims[column][self.claims["basis"] == basis]
        return verdicts.value_counts().reindex(VERDICTS, fill_value=0).to_dict()


def judged_subjects(comparison: pd.DataFrame, key: str, file: str) -> list[Judged]:
    """Return one `Judged` for each pair of a model and a partition (or task), sorted by their numbers of verdicts.

    The pair with the most verdicts is first; all pairs of its model follow, then those of the next model.
    comparison, file: the contents of the paper's `comparison.csv`, and its path relative to the page of results.
    key: the column of `comparison` that is paired with the model, "partition" or "task".
    """
    subjects = [
        _judged(str(model), str(other), rows, file)
        for (model, other), rows in comparison.groupby(["model", key], sort=False)
        if (rows["kind"] == "claim").any()
    ]
    subjects.sort(key=lambda subject: -(subject.claims["verdict"] != NO_VERDICT).sum())
    models = [subject.model for subject in subjects]
    return sorted(subjects, key=lambda subject: models.index(subject.model))


def _judged(model: str, other: str, rows: pd.DataFrame, file: str) -> Judged:
    claims, values = rows[rows["kind"] == "claim"], rows[rows["kind"] == "figure"].set_index("id")
    ordered = claims.sort_values("verdict", key=lambda verdicts: verdicts.map(VERDICTS.index), kind="stable")
    judged = ordered[ordered["verdict"] != NO_VERDICT]
    deciding = [_deciding(reason, value) for reason, value in zip(judged["reason"], judged["ours"], strict=True)]
    found = pd.DataFrame(deciding, index=judged.index, columns=["of", "limit", "few"])
    holm, basis = judged["verdict_holm"], judged["basis"]
    interval = judged["low"].map("{:.2f}".format) + " to " + judged["high"].map("{:.2f} ".format) + found["few"]
    data = judged.assign(
        order=judged["verdict"].map(VERDICTS.index),
        corrected=("corrected: " + holm.astype(str)).where(holm.notna() & (holm != judged["verdict"]), ""),
        where=judged["place"].astype(str) + (" · " + basis.map(BASES)).where(basis != "stated", ""),
        interval=interval.str.rstrip().where(judged["low"].notna(), "no interval"),
        limit=found["limit"],
        fails_in=found["of"].where(judged["verdict"] == FAILS, ""),
        unit=(" " + judged["unit"].fillna("")).str.rstrip(),
    )
    has_published = claims["published"].notna().any()
    columns = [column for column in _COLUMNS if column.name != "published" or has_published]
    page = f"{file.removesuffix('.csv')}.html#{anchor(subject_title(model, other))}"
    table = Table(f"{model}, {other}", data, columns, about=FEW * found["few"].any()).in_brief(page)
    return Judged(model, other, claims, values, table, page)


def _deciding(reason: str, value: float) -> tuple[str, str, str]:
    # That with the deciding value; a sign is there if it has few units.
    found = [match.group("of", "limit", "few", "value") for match in _FINDING.finditer(str(reason))]
    found.sort(key=lambda groups: groups[3] != f"{value:.2f}")
    return found[0][:3] if found else ("", "", "")


def costs_sentences(found: TypeCosts | None, model: str, differences: pd.DataFrame) -> Iterator[str]:
    """Yield a sentence on the type that costs a model most if left out, and one on the type that costs least.

    found: the cost of each type left out by itself. Nothing is yielded for None or for fewer than two types.
    differences: the result of `read_differences`, intervals of the difference in cost between any two types. If all
        intervals of a type's differences exclude 0, its sentence ends in ", the most of any type" (or "the least").
    If all types cost the same, a single sentence says so.
    """
    if found is None or len(found.costs) < 2:
        return
    drops = found.costs["drop"].sort_values(ascending=False)
    if drops.iloc[0] == drops.iloc[-1]:
        yield f"Whichever type is left out, the {found.metric.title} of {model} changes by the same."
        return
    of_metric = differences[differences["metric"] == found.metric.name].set_index(["condition", "other"])["low"]
    named = found.costs["condition"]
    for type_, word in ((drops.index[0], "most"), (drops.index[-1], "least")):
        pairs = [(type_, other) if word == "most" else (other, type_) for other in drops.index if other != type_]
        clearly = all(of_metric[named[costly], named[cheap]] > 0 for costly, cheap in pairs)
        yield f"{found.sentence('its', type_, model)}{f', the {word} of any type' * clearly}."


def sentences_sentence(table: pd.DataFrame, model: str, partition: str, types: Sequence[str]) -> str | None:
    known = {
        where: found
        for operation, where in (("drop_intra", "inside"), ("drop_inter", "between"))
        if (found := left_out_alone(table, model, partition, types, operation))
    }
    if not known:
        return None
    where, found = max(known.items(), key=lambda item: item[1].costs["drop"].max())
    return f"{found.sentence(f'attention {where} sentences in its', found.costs['drop'].idxmax(), model)}."


def kept_sentence(pairs: pd.DataFrame, model: str) -> str | None:
    own = pairs["model"].str.startswith(f"{model} on ")
    of_parent = pairs[own & (pairs["relation"] == "parent")].dropna(subset=["same_cluster"])
    said = "{:.1f} % of the heads of {} are in the same cluster as in {}."
    return next((said.format(row.same_cluster, row.model, row.other) for row in of_parent.itertuples()), None)


def best_sentence(model: str, best: Best) -> str:
    beside = "" if best.beside is None else f", {best.value - best.beside:.1f} points above the best offset"
    return f"Head {best.head} of {model} leads in {best.at}, with {best.value:.1f} %{beside}."


def cautions(
    judged: Sequence[Judged],
    doubtful: Mapping[str, Sequence[str]],
    papers_models: Iterable[str],
    hubs: Iterable[str],
    finetuned: Sequence[str],
) -> Iterator[str]:
    """Yield cautions for readers of a run's results, such as that an open claim is neither confirmed nor refuted.

    judged: verdicts on claims. doubtful: {"model, partition": types whose heads do not look where the name says}.
    papers_models, hubs: ids on the Hub of the papers' models and of the run's. finetuned: models that the run trains.
    """
    if set(hubs) & set(papers_models):
        yield "Verdicts and types are those of the models listed here. Another model has other heads."
    else:
        yield (
            "None of the models is one that the papers report. Another model has other heads, so a claim that fails "
            "here is not refuted for the papers' models, and one that holds here is not confirmed for them."
        )
    if undecided := sum(subject.claims["verdict"].isin([OPEN, NO_VERDICT]).sum() for subject in judged):
        yield (
            f"{'One verdict is' if undecided == 1 else f'{undecided} verdicts are'} open or missing. An open claim is "
            "neither confirmed nor refuted: the limit lies inside the interval, or readings of the paper do not agree. "
            "A claim without a verdict could not be judged."
        )
    if doubtful:
        named = "; ".join(f"{where}: {join(types)}" for where, types in doubtful.items())
        yield (
            "Heads of some types do not look where the name of the type says, so that nothing can be concluded about "
            f"what the papers call so ({named})."
        )
    if finetuned:
        yield (
            f"{join(finetuned)} {'was' if len(finetuned) == 1 else 'were each'} fine-tuned once, with one seed. "
            "Another seed, or another processor, gives another model, whose heads, types and costs differ."
        )
