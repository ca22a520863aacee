"""Findings of a run, in a short sentence each, with a number; and what must not be concluded from them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import pandas as pd

from headtypes.pages.summary.left_out import LeftOut, left_out_alone
from headtypes.pages.summary.overview import Best
from headtypes.pages.summary.verdicts import Judged
from headtypes.papers.claims import NO_VERDICT, OPEN, join

# What Table 3 takes away.
_SENTENCES = {
    "drop_intra": "attention inside sentences in its",
    "drop_inter": "attention between sentences in its",
}


def costs_sentences(found: LeftOut | None, model: str, differences: pd.DataFrame) -> Iterator[str]:
    """Say which type costs most and which least; nothing where fewer than two were left out alone.

    A type is said to cost most, or least, only where the intervals of its paired differences from all others lie on one
    side of 0; differences: of `intervals.differences`.
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
    """Name the type whose attention inside sentences, or between them, costs most to take away; table: Guan's Table
    3.
    """
    each = {said: left_out_alone(table, model, partition, types, operation) for operation, said in _SENTENCES.items()}
    known = {said: found for said, found in each.items() if found is not None}
    if not known:
        return None
    said, found = max(known.items(), key=lambda it: it[1].costs["drop"].max())
    return f"{found.sentence(said, found.costs['drop'].idxmax(), model)}."


def kept_sentence(pairs: pd.DataFrame, model: str) -> str | None:
    """Say how many heads keep the cluster that they have in the parent; pairs: of `comparisons.models.compared`."""
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
    """Yield a sentence or two on each thing that must not be concluded from an experiment.

    doubtful: types whose name is doubtful, by model and partition, in words.
    papers_models: of the Hugging Face Hub, those that the papers' numbers are about; hubs: those of the experiment.
    finetuned: models that the workflow made.
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
