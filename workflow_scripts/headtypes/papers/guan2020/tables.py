"""The paper's Tables 1, 2 and 3: their values, ours beside the published ones, and how a reader sees them."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from headtypes.analyses.ablation.control_drops import (
    FAMILIES,
    MASS,
    SEEDS,
    control_drops,
    drops_over_seeds,
    prefix,
    read_scored,
)
from headtypes.analyses.ablation.results import read_intervals
from headtypes.analyses.types.partitions import Partition, order_types, read_partition
from headtypes.analyses.types.stability import GAP_FREEDOM
from headtypes.attention.operations import operations_by_head, table_of
from headtypes.core.files import StrPath, numbered_rows, read_each, read_json
from headtypes.core.progress import warn
from headtypes.core.statistics import ALPHA, holm
from headtypes.core.table_files import write_csv
from headtypes.core.tables import Column, Table, TextColumn, document, interval, probability, write_table
from headtypes.data.kinds.metrics import MAIN_METRICS, MEASURES, METRICS, Metric, counted_by, tested_metric
from headtypes.papers.guan2020.comparison import readings_page, readings_table
from headtypes.papers.guan2020.published import HALVES, MAIN_MODEL, Guan2020
from headtypes.papers.guan2020.quantities import read_answers
from headtypes.papers.paper import Key
from headtypes.papers.quantities import Measured

AGREEMENTS = {"all_agree": "all agree", "pairwise": "pairwise"}
# In the order of their columns: what kinds of task are first of all measured by, then the others; percentages first.
_METRICS = sorted(
    (*MAIN_METRICS.values(), *(METRICS[name] for name in sorted(METRICS.keys() - MAIN_METRICS))),
    key=lambda metric: metric.unit != "%",
)
# Those of the paper's kinds have columns in every table; the others do where some model is evaluated by them.
_ALWAYS = {metric for kind in ("question_answering", "sentence_pair") for metric in MEASURES[kind][0]}
_ENDS = ("low", "high", "low_by_article", "high_by_article")
_TESTS = ("p", "fdr", "p_by_article", "fdr_by_article")
_STABILITY = [f"{half}_{agreement}" for agreement in AGREEMENTS for half in HALVES]
_GAP = ("gap", "gap_low", "gap_high")
# A tenth of the paper's.
_FEW_SAMPLES = 100
_COUNTS = (
    *("n_questions_asked", "control_questions_asked"),
    *(
        f"{prefix(family)}{count}"
        for family in (*FAMILIES, SEEDS)
        for count in (
            *("control_draws", "control_draws_planned", "control_questions"),
            *(f"own_rank_{metric.name}" for metric in _METRICS),
        )
    ),
)

# What there may be less of than was asked for: the columns of both numbers, and what they count.
_ASKED = {
    "samples": ("samples_asked", "samples"),
    "n_questions": ("n_questions_asked", "{rows}"),
    "control_questions": ("control_questions_asked", "{rows} for random heads"),
}

# Of questions, pairs or documents, in the metrics.
_NUMBERS = {f"n_{counted}" for _, counted in MEASURES.values()}

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
_STABILITY_COLUMNS = [
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


def stability_table(
    rows: list[dict], partitions: list[Partition], stabilities: list[dict], published: Guan2020
) -> pd.DataFrame:
    """Table 1 of Guan et al. 2020: stability of the clustering, and shares of the types, all in percent.

    rows: one per clustering: model, partition, `published`, the paper's row beside which it stands, or None; and, where
        known, samples and samples_asked. partitions, stabilities: of the same, in the same order.
    returns one row per clustering: model, partition, published_stability, {heads,samples,pairs}_all_agree (the paper's
      one value is one of these; NaN where pairs were not clustered), the same with _pairwise, own_cluster, gap, gap_low
      and gap_high, the gap statistic of the clusters less that of a single one with its interval, share_{type}, the
      types whose name is doubtful, samples and samples_asked.
    """
    table = []
    for row, partition, stability in zip(rows, partitions, stabilities, strict=True):
        entry = {"model": row["model"], "partition": row["partition"]}
        entry["published_stability"] = published.stability.models.get(row["published"])
        values = {half: stability[half] or {} for half in HALVES}
        entry |= {f"{half}_{agreement}": values[half].get(agreement) for agreement in AGREEMENTS for half in HALVES}
        entry["own_cluster"] = stability["own_cluster"]
        if stability["gap"] is not None:
            gap = Measured.with_error(stability["gap"], stability["gap_error"], GAP_FREEDOM)
            entry |= {"gap": gap.value, "gap_low": gap.low, "gap_high": gap.high}
        shares = 100 * partition.table["type"].value_counts(normalize=True)
        entry |= {f"share_{name}": shares[name] for name in partition.types}
        entry["doubtful"] = ", ".join(partition.doubtful)
        entry |= {count: row.get(count) for count in ("samples", "samples_asked")}
        table.append(entry)
    numbers = dict.fromkeys(["published_stability", *_STABILITY, *_GAP], float)
    found = pd.DataFrame(table)
    return found.reindex(columns=dict.fromkeys([*found, *_GAP])).astype(
        numbers | dict.fromkeys(("samples", "samples_asked"), "Int64")
    )


def ablation_table(
    rows: list[dict],
    partitions: Mapping[Key, Partition],
    metrics: list[dict],
    published: Guan2020,
    *,
    intervals: Mapping[Key, pd.DataFrame],
    controls: Mapping[tuple[str, str, str], dict],
) -> pd.DataFrame:
    """Tables 2 and 3 of Guan et al. 2020 in one: scores in percent, drops from the baseline in points.

    A loss is in nats per token, and its drop is by how much it rises (`Metric`).

    rows: one per evaluation: model, partition, condition, operations {type or head: operation}; and how many inputs
        were asked for, where not all: questions, control_questions; and `published`, the paper's model that it stands
        beside.
    metrics: of the evaluations, in the order of the rows, as `metrics.json` has them.
    intervals: `intervals.condition_intervals` of each partition; controls: `control_drops.control_drops` by model,
        partition and condition.
    returns one row per evaluation, the paper's conditions first and in its order: model, partition, table (2 or 3), id
      (the paper's, or none), condition, the number of heads that something is done to, operation_{target} of every type
      and head that a condition names; for exact_match, f1 and accuracy, and for what some language model is evaluated
      by: the score, its drop, both with the ends of their intervals over questions and over articles, the drop with its
      p-values and false discovery rates too, and both as published; then what is known of the controls, with
      control_questions_asked, the own_rank_p of the one metric by which they are tested (`tested_metric`), and
      holm_{metric}, corrected for the control_conditions of the partition; n_questions (or pairs, or documents),
      n_questions_asked, the types whose name is doubtful and, with a loss, the perplexity.
    """
    baselines = {_key(row): score for row, score in zip(rows, metrics, strict=True) if not row["operations"]}
    ends = {key: table.set_index("condition") for key, table in intervals.items()}
    types = order_types(name for partition in partitions.values() for name in partition.types)
    targets = dict.fromkeys([*types, *(target for row in rows for target in row["operations"])])
    measured = [metric for metric in _METRICS if metric in _ALWAYS or any(metric.name in score for score in metrics)]
    table = []
    for row, score in zip(rows, metrics, strict=True):
        key, done = _key(row), row["operations"]
        of_paper = published.condition_with(done)
        entry = {"model": row["model"], "partition": row["partition"]}
        entry["table"] = table_of(done.values())
        entry["id"] = of_paper.id if of_paper else None
        entry["condition"] = row["condition"]
        by_head = operations_by_head(partitions[key].type_of, done, f"conditions.{row['condition']}")
        entry["heads"] = int((by_head != "keep").sum())
        entry |= {f"operation_{name}": done.get(name, "") for name in targets}
        of_row = ends[key].loc[row["condition"]] if key in ends else {}
        # The paper's F1 is that of answers, not of sentence pairs.
        theirs = of_paper if row.get("published") == MAIN_MODEL and "exact_match" in score else None
        for about in measured:
            metric = about.name
            value, before = (of.get(metric, math.nan) for of in (score, baselines.get(key, {})))
            for name, number, tests in ((metric, value, ()), (f"drop_{metric}", about.drop(before, value), _TESTS)):
                entry[name] = number
                entry |= {f"{name}_{end}": of_row.get(f"{name}_{end}", math.nan) for end in (*_ENDS, *tests)}
            shown, baseline = (getattr(of, metric, math.nan) for of in (theirs, published.baseline))
            entry |= {f"published_{metric}": shown, f"published_drop_{metric}": baseline - shown}
        if of_controls := controls.get((*key, row["condition"])):
            tested = tested_metric(score).name
            entry |= {
                name: value
                for name, value in of_controls.items()
                if "own_rank_p_" not in name or name.endswith(f"own_rank_p_{tested}")
            }
            entry["control_questions_asked"] = row.get("control_questions")
        entry["n_questions"] = next((number for name, number in score.items() if name in _NUMBERS), None)
        entry["n_questions_asked"] = row.get("questions")
        entry["doubtful"] = ", ".join(partitions[key].doubtful)
        entry |= {about.beside: score.get(about.beside) for about in measured if about.beside}
        table.append(entry)
    order = ["model", "partition", "table", "id"]
    whole = {name: "Int64" for name in _COUNTS if any(name in row for row in table)}
    found = pd.DataFrame(table).astype({"id": "Int64", **whole}).sort_values(order, kind="stable", ignore_index=True)
    tested = {name: name.replace("own_rank_p", "holm") for name in found if "own_rank_p_" in name}
    if not tested:
        return found
    of_partition = found.groupby(order[:2])
    corrected = of_partition[list(tested)].transform(lambda p: holm(p.to_numpy())).rename(columns=tested)
    conditions = of_partition["control_draws"].transform("count").where(found["control_draws"].notna())
    return found.join(corrected).assign(control_conditions=conditions.astype("Int64"))


def read_controls(
    files: Mapping[tuple[str, str, str], Sequence[StrPath]], repeats: Iterable[Sequence[str]], *, seed: int
) -> dict[tuple[str, str, str], dict[str, float | int]]:
    """What conditions cost beside random heads, `control_drops`, and over models that differ in a seed alone.

    files: of the scores with random heads, with the condition's own and of the baseline, by model, partition and
        condition; repeats: the models of each group that differ in a seed.
    """
    controls = {key: control_drops(*read_scored(*each), seed=seed) for key, each in files.items()}
    for models in repeats:
        for of in dict.fromkeys(key[1:] for key in files if key[0] in models):
            several = [key for model in models if (key := (model, *of)) in files]
            together = drops_over_seeds([read_scored(*files[key]) for key in several], seed=seed)
            controls |= {key: controls[key] | together for key in several}
    return controls


def least_p(rows: pd.DataFrame) -> float:
    """The smallest p beside random heads, corrected for the conditions, that the draws of these rows can give."""
    return min(1.0, float((rows["control_conditions"] / (1 + rows["control_draws_planned"])).min()))


def shortages(table: pd.DataFrame) -> list[str]:
    """A sentence for each time that more samples, questions or questions of controls were asked for than there are."""
    sentences = {}
    for taken, (asked, what) in _ASKED.items():
        if taken in table and asked in table:
            short = table[(table[asked] > table[taken]).fillna(False)]
            counted = [counted_by([it for it in _METRICS if pd.notna(row.get(it.name))]) for _, row in short.iterrows()]
            named = [what.format(rows=rows) for rows in counted]
            columns = (short[name] for name in ("model", "partition", taken, asked))
            for model, partition, there, wanted, name in zip(*columns, named, strict=True):
                sentences[f"{model}, {partition}: {wanted:,} {name} were asked for, and there are {there:,}."] = None
    return list(sentences)


def reservations(table: pd.DataFrame) -> list[str]:
    """A sentence for each partition of Table 1 whose heads may all be alike, or that is of few samples."""
    found = []
    for row in table.itertuples():
        where = f"{row.model}, {row.partition}"
        if row.gap_high < 0:
            found.append(
                f"{where}: the clusters are looser than those of one cloud of heads, so that these are no types."
            )
        elif row.gap_low <= 0:
            found.append(
                f"{where}: the clusters are not shown to be tighter than those of one cloud of heads, so that there "
                "may be no types."
            )
        if pd.notna(row.samples) and row.samples < _FEW_SAMPLES:
            found.append(
                f"{where}: {row.samples} samples are few, where the paper has 1,000: others may give other types."
            )
    return found


def measured_in(section: pd.DataFrame) -> list[Metric]:
    """The metrics by which conditions are measured, in the order of their columns."""
    return [metric for metric in _METRICS if metric.name in section and section[metric.name].notna().any()]


def of_asked(section: pd.DataFrame, taken: str) -> str:
    """How many questions or pairs, and how many were asked for where that is more: "408 pairs (1,000 asked for)"."""
    there, wanted = section[taken].iloc[0], section[_ASKED[taken][0]].iloc[0]
    unit = counted_by(measured_in(section))
    counted = f"{there:,.0f} {unit if there != 1 else unit.removesuffix('s')}"
    return counted + (f" ({wanted:,.0f} asked for)" if pd.notna(wanted) and wanted > there else "")


def _key(row: Mapping) -> Key:
    return row["model"], row["partition"]


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
        *_STABILITY_COLUMNS,
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
            *(column.name for column in (*shares, *_STABILITY_COLUMNS[: len(HALVES)])),
            "gap",
            *(["published_stability"] if table["published_stability"].notna().any() else []),
            "samples",
        ],
        printed=["model", "partition", *(column.name for column in (*_STABILITY_COLUMNS[: len(HALVES)], *shares))],
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
        shown.markdown("model", "partition", "published_stability", *(column.name for column in _STABILITY_COLUMNS)),
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
        name, tested, rows = main.name, tested_metric([metric.name for metric in measured]).name, counted_by(measured)
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
    scores = [column for name in _scores(measured_in(table)) for column in (name, *interval(name), f"published_{name}")]
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


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    """The job of the rule `tabulate_guan2020`."""
    published, seeds = Guan2020.read(inputs.reference), spec["seeds"]
    partitions, metrics = read_each(read_partition, inputs.partitions), read_each(read_json, inputs.metrics)
    if rows := spec["stability"]:
        keys = [(row["model"], row["partition"]) for row in rows]
        rows = [
            row | {"samples": sum(1 for _ in numbered_rows(inputs.counted[key]))}
            for row, key in zip(rows, keys, strict=True)
        ]
        stabilities = [read_json(inputs.stabilities[key]) for key in keys]
        table = stability_table(rows, [partitions[key] for key in keys], stabilities, published)
        warn(provenance, [*shortages(table), *reservations(table)])
        page, printed = stability_page(table, rows, published), [stability_shown(table)]
        write_table(outputs, table, page, provenance, "_1", printed)
    ablated = {tuple(key): partitions[tuple(key)] for key in spec["partitions"]}
    if rows := spec["ablations"]:
        files = {}
        for *key, condition, baseline in spec["controls"]:
            own = inputs.scores[*key, condition], inputs.scores[*key, baseline]
            files[*key, condition] = inputs.controls[*key, condition], *own
        table = ablation_table(
            rows,
            ablated,
            [metrics[row["model"], row["partition"], row["condition"]] for row in rows],
            published,
            intervals=read_each(read_intervals, inputs.intervals),
            controls=read_controls(files, spec["repeats"], seed=seeds["tabulate_ablations"]),
        )
        warn(provenance, shortages(table))
        for number in (2, 3):
            of_number = table[table["table"] == number]
            page, printed = ablation_page(table, number), ablation_shown(with_baseline(table, number), number)
            write_table(outputs, ablation_values(of_number), page, provenance, f"_{number}", printed)
            write_csv(outputs[f"all_{number}"], of_number)
    if rows := spec["rows_of_readings"]:
        table = readings_table(
            rows,
            spec["readings"],
            ablated,
            read_answers(inputs.scores, seeds["tabulate_readings"]),
            published,
        )
        write_table(outputs, table, readings_page(table), provenance, "_readings")
