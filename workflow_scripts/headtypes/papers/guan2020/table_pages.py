"""The paper's Tables 1, 2 and 3 as a reader sees them: on their pages and, in brief, in the summary."""

from collections.abc import Iterator

import pandas as pd

from headtypes.analyses.ablation.control_drops import MASS, SEEDS, prefix
from headtypes.core.markdown import document
from headtypes.core.statistics import ALPHA
from headtypes.core.tables import Column, Table, TextColumn, interval, probability
from headtypes.data.kinds.catalogue import counted_by
from headtypes.data.kinds.metrics import Metric, tested_metric
from headtypes.papers.guan2020.published import HALVES, Guan2020
from headtypes.papers.guan2020.tables import AGREEMENTS, least_p, measured_in, of_asked, reservations, shortages

_TITLES = {2: "Types left out or made uniform", 3: "Attention within and between sentences"}
_CONTROLS = (
    "Below each score, conditions stand beside random heads: the same operations on as many heads, on the same "
    "questions. *Own* is the condition's own drop on these questions; *random* the mean of the draws, with the lowest "
    "and the highest; *own less random* their difference, with its 95 % interval over questions and draws. *Rank* is "
    "the place of the own drop among the draws and itself, from the costliest, and *p* says how often heads drawn at "
    "random cost at least as much, by the one score that is tested; *p, Holm* is corrected for the conditions that "
    "have controls. No further heads are drawn once p cannot fall to 5 % any more. *Detectable* is what an own drop "
    "would have had to exceed for a p of 5 %, not corrected. *Overlap* is the percent of the drawn heads that are the "
    "condition's own."
)
_FAMILIES = {
    "layer": "random heads, as many heads of each layer, from all of its heads",
    "profile": "random heads, from heads of the whole model that are alike by near, special and far",
    MASS: "random pairs of tokens in the same heads, which lose as much attention at the same distances",
    SEEDS: (
        "random heads, those of each layer permuted in the same way in all models that differ from this one in their "
        "seed alone, means over these"
    ),
}
_SUBJECT = [TextColumn("model", "model"), TextColumn("partition", "partition")]
_STABILITY = [
    *(
        Column(
            f"{half}_{agreement}",
            f"{half}, {label}",
            brief=f"agree, {half}",
            brief_digits=0,
            note=f"percent on which all clusterings of half of the {half} agree",
        )
        for agreement, label in AGREEMENTS.items()
        for half in HALVES
    ),
    Column("own_cluster", "own cluster"),
    Column(
        "gap",
        "gap",
        ends=interval("gap"),
        note="gap statistic of the clusters less that of one: below 0, heads are one cloud, and there are no types",
    ),
]
_CONDITION = [
    Column("id", "ID", digits=0),
    TextColumn("condition", "condition"),
    Column("heads", "heads", digits=0),
]


def stability_shown(table: pd.DataFrame) -> Table:
    """Table 1; table: as `tables.stability_table` makes it."""
    types = [column.removeprefix("share_") for column in table if column.startswith("share_")]
    doubtful = [str(names).split(", ") for names in table["doubtful"]]
    doubts = {f"doubt_{name}": ["?" if name in names else "" for names in doubtful] for name in types}
    shares = [
        Column(f"share_{it}", it, brief=f"{it} %", brief_digits=1, note="share of the heads", after=f"doubt_{it}")
        for it in types
    ]
    columns = [
        _SUBJECT[0],
        TextColumn("partition", "partition", brief="types from"),
        Column(
            "published_stability",
            "published",
            brief="paper",
            brief_digits=1,
            note="the paper's stability; it does not say what was halved",
        ),
        *_STABILITY,
        Column("samples", "samples", digits=0),
        *shares,
        TextColumn("doubtful", "doubtful"),
    ]
    return Table(
        "Table 1. Types and their stability",
        table.assign(**doubts),
        columns,
        brief=[
            *("model", "partition"),
            *(column.name for column in (*shares, *_STABILITY[: len(HALVES)])),
            "gap",
            *(["published_stability"] if table["published_stability"].notna().any() else []),
            "samples",
        ],
        printed=["model", "partition", *(column.name for column in (*_STABILITY[: len(HALVES)], *shares))],
        about=" ".join(
            [
                "Shares of the types, and how stable they are: percent on which clusterings of halves all agree.",
                "A question mark follows a share whose type's name is doubtful, since its heads do not look where the "
                "name says.",
                *reservations(table),
            ]
        ),
    )


def stability_page(table: pd.DataFrame, rows: list[dict], published: Guan2020) -> str:
    """Table 1 as Markdown; table, rows: as `stability_table` makes and takes them. The paper's shares stand last."""
    shown = stability_shown(table)
    shares = [column for column in table if column.startswith("share_")]
    theirs = published.shares.types if any(row["published"] for row in rows) else {}
    paper = {f"share_{name}": share for name, share in theirs.items() if f"share_{name}" in shares}
    with_paper = stability_shown(
        pd.concat([table, pd.DataFrame([{"model": "published", **paper}])] if paper else [table])
    )
    parts = [
        "Stability of the types: percent of the heads to which clusterings, each fitted on a random half of the heads "
        "or of the samples, give the same type; or of the pairs of a head and a sample, for clusterings of half of the "
        "pairs. All of them agree, as the paper counts, or two of them on average (pairwise). Own cluster: percent of "
        "the pairs that are nearest to the head's cluster. Gap: the gap statistic of the clusters less that of "
        "one, with its interval over sets of heads drawn from one cloud.",
        shown.markdown("model", "partition", "published_stability", *(column.name for column in _STABILITY)),
        "Shares of the types, in percent of the heads. A type is marked as doubtful if its name does not fit what "
        "its heads look at.",
        with_paper.markdown("model", "partition", "samples", *shares, "doubtful"),
        *shortages(table),
        *reservations(table),
    ]
    return document("Table 1: stability and shares of the types", parts)


def ablation_shown(table: pd.DataFrame, number: int) -> Iterator[Table]:
    """Table 2 or 3, one for each model and partition; table: rows of it, as `tables.ablation_table` makes them."""
    for (model, partition), section in table.groupby(["model", "partition"], sort=False):
        measured = measured_in(section)
        main, *others = measured
        name, tested, rows = main.name, tested_metric([it.name for it in measured]).name, counted_by(measured)
        random, columns, data = _controlled(section, name), [*_CONDITION], section.copy()
        for family, before in ((family, prefix(family)) for family in _FAMILIES):
            if f"{before}control_overlap" in data:
                if family != MASS:
                    data[f"{before}overlap"] = 100 * data[f"{before}control_overlap"]
                    columns.append(Column(f"{before}overlap", "overlap"))
                for metric in (it for it in measured if f"{before}own_rank_{it.name}" in data):
                    ranks = zip(data[f"{before}own_rank_{metric.name}"], data[f"{before}control_draws"], strict=True)
                    ranked = [None if pd.isna(rank) else f"{rank} of {1 + of}" for rank, of in ranks]
                    data[f"{before}rank_{metric.name}"] = ranked
                    columns += (it for it in _columns_of_controls(metric, family) if it.name in data)
        for metric in measured:
            data[f"other_{metric.name}"] = data[f"drop_{metric.name}"]
            rate = f"drop_{metric.name}_fdr"
            by_article = data[f"{rate}_by_article"]
            data[rate] = by_article.fillna(data[rate])
            columns += _columns(metric, rows, "articles" if by_article.notna().any() else rows)
        yield Table(
            f"Table {number}. {_TITLES[number]}: {model}, {partition}",
            data,
            columns,
            brief=[
                *("id", "condition", "heads", name, f"drop_{name}", f"drop_{name}_fdr"),
                *([f"own_drop_{tested}", f"control_drop_{tested}", f"holm_{tested}"] if len(random) else []),
                *(f"other_{metric.name}" for metric in others),
                *([f"published_drop_{name}"] if section[f"published_drop_{name}"].notna().any() else []),
            ],
            about=" ".join(_about(section, random, main, rows)),
            printed=["id", "condition", "heads", *_scores(measured)],
        )


def ablation_values(table: pd.DataFrame) -> pd.DataFrame:
    """Of Table 2 or 3 what the paper prints: scores and drops, each with its interval and the published value."""
    scores = [column for it in _scores(measured_in(table)) for column in (it, *interval(it), f"published_{it}")]
    return table[["model", "partition", "id", "condition", "heads", "n_questions", *scores]]


def with_baseline(table: pd.DataFrame, number: int) -> pd.DataFrame:
    """The rows of Table 2 or 3, and the baseline, which heads both."""
    return table[(table["table"] == number) | (table["id"] == 1)]


def ablation_page(table: pd.DataFrame, number: int) -> str:
    """Table 2 or 3 as Markdown, a section per model and partition; table: as `tables.ablation_table` makes it."""
    of_number = with_baseline(table, number)
    controlled = of_number.filter(["control_draws"]).notna().any(axis=None)
    parts = [
        "Scores in percent (EM is the paper's Acc.) and drops from the baseline in points, with 95 % intervals over "
        "questions in brackets. Of the drops whose FDR is below 0.05, at most 5 % are none on average (false discovery "
        "rate over the conditions of a model, Benjamini and Hochberg 1995; by articles where these are known)."
        + (f" {_CONTROLS}" if controlled else ""),
        *(metric.note for metric in measured_in(table) if metric.note),
    ]
    for shown in ablation_shown(of_number, number):
        section = shown.data
        first = section.iloc[0]
        about = [f"{of_asked(section, 'n_questions')}."]
        if first["doubtful"]:
            about.append(f"Doubtful, since the name does not fit what the heads look at: {first['doubtful']}.")
        parts += [f"## {first['model']}, {first['partition']}", " ".join(about)]
        # A table for each score, since one table of all scores would be wider than a screen.
        for metric in measured_in(section):
            name, optional = metric.name, [f"drop_{metric.name}_fdr", f"published_{metric.name}"]
            fdr, published = (section[column].notna().any() for column in optional)
            scores = [name, *([metric.beside] if metric.beside else []), f"drop_{name}", *(optional[:1] if fdr else [])]
            scores += [f"published_{name}", f"published_drop_{name}"] if published else []
            parts.append(shown.markdown("id", "condition", "heads", *scores))
            random = _controlled(section, name)
            for family in _FAMILIES if len(random) else ():
                of_family = _controlled(section, name, prefix(family))
                if len(of_family):
                    parts += _beside(shown, of_family, family, name)
    return document(f"Table {number}: {_TITLES[number][0].lower()}{_TITLES[number][1:]}", parts)


def _beside(shown: Table, drawn: pd.DataFrame, family: str, metric: str) -> Iterator[str]:
    """What stands on the page about the draws of one family; drawn: the conditions with such."""
    most = int(drawn["control_draws_planned"].max())
    yield f"Beside {_FAMILIES[family]}: {_at_most(most)} on {of_asked(drawn, 'control_questions')}."
    of_family = ["control_drop", "own_excess", "rank", "own_rank_p", "holm", "detectable_drop"]
    names = [f"{prefix(family)}{kind}_{metric}" for kind in of_family]
    of_drawn = shown.where(shown.data.index.isin(drawn.index))
    own = f"{prefix(family)}own_drop_{metric}"
    shown_names = [name for name in (*names, f"{prefix(family)}overlap") if name in shown.data]
    yield of_drawn.markdown("id", "condition", own, *shown_names)


def _scores(measured: list[Metric]) -> list[str]:
    return [name for metric in measured for name in (metric.name, f"drop_{metric.name}")]


def _columns_of_controls(metric: Metric, family: str) -> Iterator[Column]:
    before, name = prefix(family), metric.name
    numbers = {"digits": metric.decimals, "brief_digits": metric.decimals - 1}
    random, excess = f"{before}control_drop_{name}", f"{before}own_excess_{name}"
    note = f"{metric.change} without the type, on the inputs of the random heads beside it"
    yield Column(
        f"{before}own_drop_{name}", f"{metric.change} of {metric.label}, own", **numbers, brief="same inputs", note=note
    )
    yield Column(
        random,
        "random",
        **numbers,
        ends=interval(random),
        between=" ({} to {})",
        brief="random heads",
        note=f"mean {metric.change} of as many heads of the same layers; lowest to highest",
    )
    yield Column(excess, "own less random", **numbers, ends=interval(excess))
    yield TextColumn(f"{before}rank_{name}", "rank")
    yield Column(f"{before}own_rank_p_{name}", "p", write=probability)
    note = "how often random heads cost at least as much, corrected for the conditions that have controls (Holm 1979)"
    yield Column(f"{before}holm_{name}", "p, Holm", write=probability, brief="p, random", note=note)
    yield Column(f"{before}detectable_drop_{name}", "detectable", **numbers)


def _at_most(draws: int) -> str:
    return "1 draw" if draws == 1 else f"at most {draws} draws"


def _columns(metric: Metric, rows: str, units: str) -> Iterator[Column]:
    """What there is of one metric; rows: what its intervals are over; units: what its false discovery rate is over."""
    name, digits, unit = metric.name, metric.decimals, "percent" if metric.unit == "%" else metric.unit
    change, over = f"{metric.change} of {metric.label}", f"with its 95 % interval over {rows}"
    numbers = {"digits": digits, "brief_digits": digits - 1}
    yield Column(name, metric.label, **numbers, ends=interval(name), note=f"{unit}, {over}")
    if metric.beside:
        yield Column(metric.beside, metric.beside)
    drop = f"drop_{name}"
    note = f"{metric.steps} from the baseline, {over}"
    yield Column(drop, metric.change, **numbers, ends=interval(drop), brief=change, note=note)
    yield Column(f"other_{name}", change, digits=1)
    yield Column(
        f"{drop}_fdr",
        f"FDR, {units}",
        brief="FDR",
        write=probability,
        note=f"false discovery rate over the conditions, of p-values over {units}",
    )
    yield Column(f"published_{name}", "published")
    note = "published by Guan et al. 2020"
    yield Column(f"published_{drop}", "drop published", brief="paper's drop", brief_digits=1, note=note)


def _controlled(section: pd.DataFrame, metric: str, family: str = "") -> pd.DataFrame:
    name = f"{family}control_drop_{metric}"
    return section[section[name].notna()] if name in section else section[:0]


def _about(section: pd.DataFrame, random: pd.DataFrame, metric: Metric, rows: str) -> Iterator[str]:
    asked = int(section["n_questions"].iloc[0])
    if metric.unit == "%":
        yield f"Percent and points on {asked:,} {rows}; intervals are 95 % over these."
    else:
        yield (
            f"Mean {metric.title} in {metric.unit} on {asked:,} {rows}, and how much it rises; intervals are 95 % over "
            "these."
        )
    if len(random):
        counts = ("control_draws_planned", "control_questions", "control_conditions")
        most, of, conditions = (int(random[count].max()) for count in counts)
        least = least_p(random)
        yield (
            f"Random heads: {_at_most(most)} of as many heads of each layer, on {of:,} of them; with so many, p, "
            f"corrected for {conditions} {'condition' if conditions == 1 else 'conditions'}, is at least {least:.3f}"
            f"{', so that none can be told from random heads' if least > ALPHA else ''}."
        )
    doubtful = section["doubtful"].iloc[0]
    if isinstance(doubtful, str) and doubtful:
        yield f"Doubtful names: {doubtful}."
