"""What a run says of papers and models: verdicts on claims, findings in short sentences, and cautions."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from headtypes.core.tables import Column, Shown, Table, TextColumn, anchor
from headtypes.pages.summary.overview import Best, TypeCosts, left_out_alone
from headtypes.papers.claims import BASES, join
from headtypes.papers.comparison import subject_title
from headtypes.papers.quantities import FAILS, FEW, HOLDS, NO_VERDICT, OPEN, VERDICTS

# What stands before each verdict, so that none is told by its colour alone.
SIGNS = dict(zip(VERDICTS, ("✓", "✕", "≈", "–"), strict=True))  # noqa: RUF001


def _signed(index: int) -> str:
    return f"{SIGNS[VERDICTS[index]]} {VERDICTS[index]}"


_COLUMNS = [
    TextColumn("order", "verdict", write=_signed, below="corrected", verdict="verdict"),
    TextColumn("quantity", "claim", below="where"),
    Column("ours", "ours", after="unit", below="interval"),
    TextColumn("limit", "claimed", below="fails_in"),
    Column("published", "paper's", after="unit"),
]
# A finding among the reasons of a verdict, as `Finding` writes it.
_FINDING = re.compile(
    r"(?:^|; )(?P<of>[^;]*?): (?P<value>-?[\d.]+)[^;]*; claimed (?P<limit>\w+ [^\s;]+)[^;†‡]*(?P<few>[†‡]?)"
)


@dataclass(frozen=True)
class Judged:
    """The verdicts on a paper's claims for one model, under one partition or on one task (`other`).

    claims, values: rows of `comparison_table` about claims, and about published values, indexed by id.
    table: a short table of the claims with a verdict.
    file: link, relative to the page of results, to the section with all verdicts and their reasons.
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
        """Numbers of claims, {"stated", "inferred from the text" or "from the table": {verdict: number}}."""
        of_basis = {basis: self.claims["verdict"][self.claims["basis"] == basis] for basis in BASES}
        return {
            BASES[basis]: verdict_counts(verdicts)
            for basis, verdicts in of_basis.items()
            if basis == "stated" or len(verdicts)
        }

    @property
    def corrected(self) -> str:
        """In words, how many stated claims hold and fail after Holm's correction; empty if none has an interval."""
        stated = self.claims[self.claims["basis"] == "stated"]["verdict_holm"].dropna()
        counts = verdict_counts(stated)
        known = counts[HOLDS] + counts[FAILS] + counts[OPEN]
        return f"corrected: {counted(HOLDS, counts[HOLDS])}, {counted(FAILS, counts[FAILS])}" if known else ""


def verdict_counts(verdicts: pd.Series) -> dict[str, int]:
    return verdicts.value_counts().reindex(VERDICTS, fill_value=0).to_dict()


def counted(verdict: str, number: int) -> str:
    """Return in words how many claims have a verdict, such as "2 hold"."""
    plural = {HOLDS: "hold", FAILS: "fail"}
    return f"{number} {plural.get(verdict, verdict) if number != 1 else verdict}"


def judged_subjects(comparison: pd.DataFrame, key: str, file: str) -> list[Judged]:
    """Return an object for each model under each partition, or on each task; the one with most verdicts is first.

    comparison, file: the contents of a paper's `comparison.csv`, and its path relative to the page.
    key: "partition" or "task", the column that claims about this paper are judged by.
    """
    subjects = [
        _judged(str(model), str(other), rows, file)
        for (model, other), rows in comparison.groupby(["model", key], sort=False)
        if (rows["kind"] == "claim").any()
    ]
    return sorted(subjects, key=lambda subject: -(subject.claims["verdict"] != NO_VERDICT).sum())


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
    """Return (quantity, limit, sign) of the finding, among those in a verdict's reason, that has the deciding value.

    A limit is a text such as "above 0"; the sign is † or ‡ if the finding has few units. Without a finding all are "".
    """
    found = [it.group("of", "limit", "few", "value") for it in _FINDING.finditer(str(reason))]
    found.sort(key=lambda it: it[3] != f"{value:.2f}")
    return found[0][:3] if found else ("", "", "")


# What Table 3 takes away.
_SENTENCES = {
    "drop_intra": "attention inside sentences in its",
    "drop_inter": "attention between sentences in its",
}


def costs_sentences(found: TypeCosts | None, model: str, differences: pd.DataFrame) -> Iterator[str]:
    """Yield sentences on the types that cost a model most and least if left out; none for fewer than two types.

    found: the cost of each type left out by itself.
    differences: paired differences between conditions; a type is said to cost most, or least, only if the intervals of
        its differences from all other types lie on one side of 0.
    """
    if found is None or len(found.costs) < 2:
        return
    drops = found.costs["drop"].sort_values(ascending=False)
    if drops.iloc[0] == drops.iloc[-1]:
        # As of a model that answers nothing.
        yield f"Whichever type is left out, the {found.metric.title} of {model} changes by the same."
        return
    of_metric = differences[differences["metric"] == found.metric.name].set_index(["condition", "other"])["low"]
    named = found.costs["condition"]
    for type_, word in ((drops.index[0], "most"), (drops.index[-1], "least")):
        pairs = [(type_, other) if word == "most" else (other, type_) for other in drops.index if other != type_]
        clearly = all(of_metric[named[costly], named[cheap]] > 0 for costly, cheap in pairs)
        yield f"{found.sentence('its', type_, model)}{f', the {word} of any type' * clearly}."


def sentences_sentence(table: pd.DataFrame, model: str, partition: str, types: Sequence[str]) -> str | None:
    """Return a sentence on the type that costs most without its attention inside sentences, or between sentences.

    table: Table 3 of Guan et al. 2020. None if the table has no such condition.
    """
    each = {said: left_out_alone(table, model, partition, types, operation) for operation, said in _SENTENCES.items()}
    known = {said: found for said, found in each.items() if found is not None}
    if not known:
        return None
    said, found = max(known.items(), key=lambda it: it[1].costs["drop"].max())
    return f"{found.sentence(said, found.costs['drop'].idxmax(), model)}."


def kept_sentence(pairs: pd.DataFrame, model: str) -> str | None:
    """Return a sentence on the percent of a model's heads that keep the cluster of its parent; None without a parent.

    pairs: the table that `read_pairs` reads, with a row for each pair of partitions.
    """
    own = pairs["model"].str.startswith(f"{model} on ")
    of_parent = pairs[own & (pairs["relation"] == "parent")].dropna(subset=["same_cluster"])
    for row in of_parent.itertuples():
        return f"{row.same_cluster:.1f} % of the heads of {row.model} are in the same cluster as in {row.other}."
    return None


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
    """Yield a sentence or two on each thing that must not be concluded from a run.

    doubtful: types whose name is doubtful, by model and partition, in words.
    papers_models, hubs: models of the Hugging Face Hub that the papers report, and that this run has.
    finetuned: models that the workflow trained.
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
