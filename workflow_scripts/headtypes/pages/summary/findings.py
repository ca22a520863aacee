"""What the results say, in a sentence each, with the numbers."""

from collections.abc import Sequence

import pandas as pd

from headtypes.analyses.types.names import TYPES
from headtypes.analyses.types.partitions import Partition
from headtypes.comparisons.types.table import LAYER, PROFILE, shown_rows
from headtypes.core.statistics import ALPHA, holm
from headtypes.core.tables import p_value
from headtypes.data.kinds.metrics import METRICS, tested_metric
from headtypes.pages.summary.verdicts import Judged
from headtypes.papers.claims import FAILS, HOLDS, NO_VERDICT, OPEN, join
from headtypes.papers.guan2020.tables import least_p, of_asked

_QUANTITIES = {
    ("gradients", "mean"): "gradient for attention to {quantity} tokens",
    ("importance", "mean"): "mean importance",
    ("divergence", "inside"): "mean divergence from one another",
    ("relations", "best head"): "accuracy at {quantity} of the best head",
    ("coreference", "best head"): "accuracy at {quantity} of the best head",
}
_SINGULAR = {HOLDS: "holds", FAILS: "fails", OPEN: "is open", NO_VERDICT: "cannot be judged"}
_UNITS = {"relations": " %", "coreference": " %", "divergence": " nats"}


def verdict_sentence(paper: str, judged: Judged) -> str:
    """How many of the claims that a paper states about a subject hold, and how many once they are corrected."""
    count, alone, corrected = judged.stated(), judged.without_interval(), judged.corrected()
    about = f"that {paper} state and {judged.other} bears on"
    if count.total == 1:
        (verdict,) = (name for name, number in count.of.items() if number)
        doubt = ", by a value without an interval" * bool(alone)
        return f"The one claim {about} {_SINGULAR[verdict]} for {judged.model}, one checkpoint{doubt}."
    parts = [
        f"{count.of[HOLDS]} {_verb(count.of[HOLDS], 'hold')}",
        f"{count.of[FAILS]} {_verb(count.of[FAILS], 'fail')}",
    ]
    parts += [f"{count.of[OPEN]} {_verb(count.of[OPEN], 'are')} open"] if count.of[OPEN] else []
    parts += [f"{count.of[NO_VERDICT]} cannot be judged"] if count.of[NO_VERDICT] else []
    doubt = f"; {alone} of these {_verb(alone, 'are')} decided by a value without an interval" if alone else ""
    said = f"Of the {count.total} claims {about}, {join(parts)} for {judged.model}"
    if corrected is None:
        return f"{said}, one checkpoint{doubt}."
    held, failed = corrected[HOLDS], corrected[FAILS]
    return (
        f"{said}, one checkpoint{doubt}. Of those with an interval, corrected for the number of claims, {held} "
        f"{_verb(held, 'hold')} and {failed} {_verb(failed, 'fail')}."
    )


def types_sentence(model: str, partition: Partition) -> str:
    """How many heads are of which type, the most frequent first, and where those look that the paper has not."""
    of_types = partition.table.groupby("type")
    looks = of_types[["near", "special", "far"]].mean()

    def said(name: str) -> str:
        if name in partition.doubtful:
            return f"{name} (a doubtful name)"
        if name in TYPES:
            return name
        return f"{name} ({100 * looks.loc[name].max():.0f} % of their attention at {looks.loc[name].idxmax()} tokens)"

    counts = of_types.size().sort_values(ascending=False, kind="stable")
    named = [f"{count} {'are ' * (not index)}{said(name)}" for index, (name, count) in enumerate(counts.items())]
    return f"Of the {len(partition.table)} heads of {model}, {join(named)}."


def costs_sentence(table: pd.DataFrame, model: str, partition: str, types: Sequence[str]) -> str | None:
    """Which type costs most and which least, beside random heads; None where fewer than two were left out alone.

    A type is said to cost most, or least, only where the intervals of all others lie on one side of its own.

    table: Guan's Table 2 as CSV; types: those of the partition.
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
    low, high = (alone[f"drop_{metric}_{end}"].fillna(alone[f"drop_{metric}"]) for end in ("low", "high"))
    most, runner_up, least, next_to_it = drops.index[[0, 1, -1, -2]]
    clearly_most = (low[most] > high.drop(most)).all()
    clearly_least = (high[least] < low.drop(least)).all()
    measured, row, random = METRICS[metric], alone.loc[most], ""
    digits = measured.decimals - 1
    ends = f" ({low[most]:z.{digits}f} to {high[most]:z.{digits}f} over these)"
    within = f" on {of_asked(alone, 'n_questions')}" + ("" if pd.isna(row[f"drop_{metric}_low"]) else ends)
    if f"control_drop_{metric}" in alone and pd.notna(row[f"control_drop_{metric}"]):
        draws, own, cost = int(row["control_draws"]), row[f"own_drop_{metric}"], row[f"control_drop_{metric}"]
        beside = int(row["control_conditions"])
        p = p_value(row[f"holm_{metric}"]) + (f", corrected for {beside} conditions" if beside > 1 else "")
        few = least_p(alone.loc[[most]]) > ALPHA
        told = not few and row[f"holm_{metric}"] <= ALPHA
        random = (
            f" This is {'more than' if told else 'not told from what'} as many random heads of the same layers cost: "
            f"{own:z.{digits}f} on {row['control_questions']:.0f} of them, against {cost:z.{digits}f} on average "
            f"({draws} {'draw' if draws == 1 else 'draws'}{', too few to tell' if few else f', {p}'})."
        )

    def without(condition: int) -> str:
        return f"ithout its {alone.loc[condition, 'heads']:.0f} {of[condition]} heads"

    decimals = digits if measured.higher_is_better else 2
    others = [f"that w{without(index)} ({drops[index]:z.{decimals}f})" for index in (runner_up, next_to_it)]
    more, less = (f"not shown to be {word} than {other}" for word, other in zip(("more", "less"), others, strict=True))
    if measured.higher_is_better:
        compared = "any type" if is_every_type else "the types left out"
        more = f"the largest drop of {compared}" if clearly_most else more
        return (
            f"W{without(most)} {model} loses {drops[most]:z.1f} points of {measured.title}{within}, {more}."
            f"{random} W{without(least)} it loses {drops[least]:z.1f}, {'the smallest' if clearly_least else less}."
        )
    compared = "any other type" if is_every_type else "the other types left out"
    more = f"more than without {compared}" if clearly_most else more
    return (
        f"W{without(most)} the {measured.title} of {model} rises by {drops[most]:z.2f} {measured.unit}{within}, "
        f"{more}.{random} W{without(least)} it rises by {drops[least]:z.2f}, {'the least' if clearly_least else less}."
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

    table: as `compare_types` makes it. Where heads look does not count: types are defined by it.
    """
    rows = shown_rows(table[~table["analysis"].isin(["surface", "detectors"])])
    tested = rows[rows["p"].notna() & rows["statistic"].isin(["mean", "best head", "inside"])].reset_index()
    if tested.empty:
        return None
    p = tested[[f"{prefix}p" for prefix in (LAYER, PROFILE)]].to_numpy()
    of_layers, of_profile = holm(p.ravel()).reshape(p.shape).T
    apart = tested[of_layers < ALPHA]
    often = (
        f"in {len(apart)} of {len(tested)} comparisons the types of {model} differ from as many random heads of the "
        f"same layers, and in {(of_profile < ALPHA).sum()} of {tested[f'{PROFILE}p'].count()} from as many that look "
        f"alike (p < {ALPHA:g}, corrected for all of these)"
    )
    # By how far beyond the random heads they are, in widths of the interval of these; one at 100 % is narrow.
    width = (apart["random_high"] - apart["random_low"]).where(lambda it: it > 0)
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
        f"{p_value(of_layers[row.name])}); {often}."
    )


def _verb(count: int, plural: str) -> str:
    return {"hold": "holds", "fail": "fails", "are": "is"}[plural] if count == 1 else plural
