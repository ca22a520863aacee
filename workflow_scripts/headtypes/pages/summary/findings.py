"""What the results say, in a sentence each, with the numbers; and what must not be concluded from them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import pandas as pd

from headtypes.core.statistics import ALPHA
from headtypes.core.tables import p_value
from headtypes.data.kinds.metrics import METRICS, tested_metric
from headtypes.pages.summary.verdicts import Judged, counted, verdict_counts
from headtypes.papers.claims import FAILS, HOLDS, NO_VERDICT, OPEN, join
from headtypes.papers.guan2020.tables2_3 import of_asked

_QUANTITIES = {
    ("gradients", "mean"): "gradient for attention to {quantity} tokens",
    ("divergence", "inside"): "mean divergence from one another",
    ("relations", "best head"): "accuracy at {quantity} of the best head",
    ("coreference", "best head"): "accuracy at {quantity} of the best head",
}
_SINGULAR = {HOLDS: "holds", FAILS: "fails", OPEN: "is open", NO_VERDICT: "cannot be judged"}
_UNITS = {"relations": " %", "coreference": " %", "divergence": " nats"}


def verdict_sentence(paper: str, judged: Judged) -> str:
    """How many of the claims that a paper states about a subject hold, and how many once they are corrected."""
    stated = judged.claims[judged.claims["basis"] == "stated"]
    verdicts, corrected = (verdict_counts(stated[name].dropna()) for name in ("verdict", "verdict_holm"))
    alone = int((stated["verdict_holm"].isna() & stated["verdict"].isin([HOLDS, FAILS])).sum())
    about = f"that {paper} state and {judged.other} bears on"
    if len(stated) == 1:
        doubt = ", by a value without an interval" * alone
        verdict = _SINGULAR[stated["verdict"].item()]
        return f"The one claim {about} {verdict} for {judged.model}, one checkpoint{doubt}."
    parts = [counted(HOLDS, verdicts[HOLDS]), counted(FAILS, verdicts[FAILS])]
    parts += [f"{verdicts[OPEN]} {_are(verdicts[OPEN])} open"] if verdicts[OPEN] else []
    parts += [f"{verdicts[NO_VERDICT]} cannot be judged"] if verdicts[NO_VERDICT] else []
    doubt = f"; {alone} of these {_are(alone)} decided by a value without an interval" if alone else ""
    said = f"Of the {len(stated)} claims {about}, {join(parts)} for {judged.model}, one checkpoint{doubt}."
    if not any(corrected[verdict] for verdict in (HOLDS, FAILS, OPEN)):
        return said
    kept = f"{counted(HOLDS, corrected[HOLDS])} and {counted(FAILS, corrected[FAILS])}"
    return f"{said} Of those with an interval, corrected for the number of claims, {kept}."


def costs_sentence(
    table: pd.DataFrame, model: str, partition: str, types: Sequence[str], differences: pd.DataFrame
) -> str | None:
    """Which type costs most and which least, beside random heads; None where fewer than two were left out alone.

    A type is said to cost most, or least, only where the intervals of its paired differences from all others lie on one
    side of 0.

    table: Guan's Table 2 as CSV; types: those of the partition; differences: of `intervals.differences`.
    """
    rows = table[(table["model"] == model) & (table["partition"] == partition)]
    alone, of, metric = left_out_alone(rows, types)
    if metric is None or len(alone) < 2:
        return None
    is_every_type = set(of) == set(types)
    drops = alone[f"drop_{metric}"].sort_values(ascending=False)
    if drops.iloc[0] == drops.iloc[-1]:
        # As of a model that answers nothing: no type is the costliest.
        which, title = "type" if is_every_type else f"of {join(of)}", METRICS[metric].title
        told = f"the {title} of {model} changes by the same: no type costs more than another."
        return f"Whichever {which} is left out, {told}"
    most, runner_up, least, next_to_it = drops.index[[0, 1, -1, -2]]
    of_metric = differences[differences["metric"] == metric].set_index(["condition", "other"])["low"]
    name = alone["condition"]

    def costs_more(costly: int, cheap: int) -> bool:
        return of_metric[name[costly], name[cheap]] > 0

    clearly_most = all(costs_more(most, other) for other in drops.index[1:])
    clearly_least = all(costs_more(other, least) for other in drops.index[:-1])
    measured, row, random = METRICS[metric], alone.loc[most], ""
    digits = measured.decimals - 1
    low, high = (row[f"drop_{metric}_{end}"] for end in ("low", "high"))
    ends = "" if pd.isna(low) else f" ({low:z.{digits}f} to {high:z.{digits}f} over these)"
    within = f" on {of_asked(alone, 'n_questions')}{ends}"
    if f"control_drop_{metric}" in alone and pd.notna(row[f"control_drop_{metric}"]):
        draws, own, cost = int(row["control_draws"]), row[f"own_drop_{metric}"], row[f"control_drop_{metric}"]
        random = (
            f" As many random heads of the same layers, of which {100 * row['control_overlap']:.0f} % are the type's "
            f"own, cost {cost:z.{digits}f} on average on {row['control_questions']:.0f} of them, where the type costs "
            f"{own:z.{digits}f} ({draws} {'draw' if draws == 1 else 'draws'}, described and not tested)."
        )

    def without(condition: int) -> str:
        return f"ithout its {alone.loc[condition, 'heads']:.0f} {of[condition]} heads"

    others = [f"that w{without(index)} ({drops[index]:z.{digits}f})" for index in (runner_up, next_to_it)]
    more, less = (f"not shown to be {word} than {other}" for word, other in zip(("more", "less"), others, strict=True))
    if clearly_most:
        more = f"more than without {'any other type' if is_every_type else 'the other types left out'}"
    elif costs_more(most, runner_up):
        more = f"more than {others[0]}, but not shown to be more than without every other type"
    changes = "falls" if measured.higher_is_better else "rises"
    return (
        f"W{without(most)} the {measured.title} of {model} {changes} by {drops[most]:z.{digits}f} {measured.steps}"
        f"{within}, {more}.{random} W{without(least)} it {changes} by {drops[least]:z.{digits}f}, "
        f"{'the least' if clearly_least else less}."
    )


def left_out_alone(rows: pd.DataFrame, types: Sequence[str]) -> tuple[pd.DataFrame, pd.Series, str | None]:
    """The conditions that leave out one type alone, the types, and the metric that tells the cost; rows: of Table 2."""
    operations = rows[[column for column in rows if column.startswith("operation_")]]
    # A partition that nothing was done to may have types that the table has not.
    is_left_out = operations.reindex(columns=[f"operation_{name}" for name in types]) == "zero"
    alone = rows[is_left_out.any(axis=1) & (operations.notna().sum(axis=1) == 1)]
    known = [name for name in METRICS if name in alone and alone[f"drop_{name}"].notna().any()]
    of = is_left_out.loc[alone.index].idxmax(axis=1).str.removeprefix("operation_")
    return alone, of, tested_metric(known).name if known else None


def compared_types_sentence(table: pd.DataFrame, model: str) -> str | None:
    """Something that sets a type apart from random heads, and how often types differ; None where none are beside them.

    table: as `compare_types` makes it.
    """
    tested = table[table["p"].notna() & table["statistic"].isin(["mean", "best head", "inside"])]
    if tested.empty:
        return None
    apart = tested[tested["p_holm"] < ALPHA]
    often = (
        f"in {len(apart)} of {len(tested)} comparisons the types of {model} differ from as many random heads of the "
        f"same layers (p < {ALPHA:g}, corrected for all comparisons)"
    )
    # By how far beyond the random heads they are, in widths of the interval of these; one at 100 % is narrow.
    width = (apart["random_high"] - apart["random_low"]).where(lambda widths: widths > 0)
    width = width.clip(lower=width.groupby(apart["analysis"]).transform("median"))
    beyond = (apart["value"] - apart["random"]).abs() / width
    if beyond.notna().sum() == 0:
        return f"{often[0].upper()}{often[1:]}."
    row = apart.loc[beyond.idxmax()]
    doubtful = " (a doubtful name)" if row["doubtful"] else ""
    what = " ".join(
        _QUANTITIES.get((row["analysis"], row["statistic"]), "{statistic} {quantity}").format(**row).split()
    )
    return (
        f"Among what sets types of {model} apart is the {what.replace('_', ' ')} of its {row['type']} heads{doubtful}: "
        f"{row['value']:.2f}{_UNITS.get(row['analysis'], '')}, where as many random heads of the same layers have "
        f"{row['random']:.2f} ({row['random_low']:.2f} to {row['random_high']:.2f} over draws; "
        f"{p_value(row['p_holm'])}); {often}."
    )


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def cautions(
    judged: Sequence[Judged],
    doubtful: Mapping[str, Sequence[str]],
    papers_models: Iterable[str],
    hubs: Iterable[str],
    finetuned: Sequence[str],
) -> Iterator[str]:
    """What must not be concluded from an experiment, in a sentence or two on each.

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
