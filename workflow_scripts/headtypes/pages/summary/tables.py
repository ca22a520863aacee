"""The papers' tables for the summary: few enough columns that a page 1,280 pixels wide shows them."""

from collections.abc import Iterator

import pandas as pd

from headtypes.core.tables import Cell, Shown
from headtypes.data.kinds.metrics import Metric
from headtypes.data.kinds.registry import METRICS
from headtypes.pages.summary.cells import Column, number, probability, words

_UNITS = {"%": "percent", "nats per token": "nats per token"}
# The most pairs of models that the page has room for.
_PAIRS = 40
_HALVES = {"heads": "heads", "samples": "samples", "pairs": "pairs"}


def types_table(table: pd.DataFrame, published: set[str]) -> Shown:
    """Guan's Table 1.

    table: as `papers.guan2020.tables.stability_table` makes it, read from CSV.
    published: the models beside which the paper's values stand.
    """
    shares = [column for column in table if column.startswith("share_")]
    theirs = table["published_stability"].where(table["model"].isin(published))
    columns = [
        Column("model", is_number=False),
        Column("types from", is_number=False),
        *(Column(f"{name.removeprefix('share_')} %", note="share of the heads") for name in shares),
        *(
            Column(f"agree, {half}", note=f"percent on which all clusterings of half of the {half} agree")
            for half in _HALVES
        ),
        *(
            [Column("paper", note="the paper's stability; it does not say what was halved")]
            if theirs.notna().any()
            else []
        ),
        Column("samples"),
    ]
    rows = []
    for place, row in table.iterrows():
        doubtful = str(row["doubtful"] or "").split(", ") if pd.notna(row["doubtful"]) else []
        cells = [words(row["model"]), words(row["partition"])]
        for name in shares:
            share = number(row[name])
            named = name.removeprefix("share_") in doubtful and bool(share.text)
            cells.append(Cell(share.text + "?" if named else share.text, share.sort))
        cells += [number(row[f"{half}_all_agree"], 0) for half in _HALVES]
        cells += [number(theirs[place])] if theirs.notna().any() else []
        rows.append([*cells, number(row["samples"], 0)])
    about = (
        "Shares of the types, and how stable they are: percent on which clusterings of random halves all agree. A "
        "question mark follows a share whose type's name is doubtful, since its heads do not look where the name says."
    )
    return Shown("Table 1. Types and their stability", columns, rows, about, "guan2020/table1.csv")


def ablation_tables(table: pd.DataFrame, number_of_table: int, published: set[str]) -> Iterator[Shown]:
    """Guan's Table 2 or 3, one for each model and partition.

    table: as `papers.guan2020.tables.ablation_table` makes it, read from CSV.
    published: the models beside which the paper's values stand.
    """
    for (model, partition), rows in table.groupby(["model", "partition"], sort=False):
        measured, *others = [it for it in METRICS.values() if it.name in rows and rows[it.name].notna().any()]
        main, label, digits = measured.name, measured.label, measured.decimals - 1
        beside = model in published and rows[f"published_drop_{main}"].notna().any()
        random = f"control_drop_{main}" in rows and rows[f"control_drop_{main}"].notna().any()
        columns = [
            Column("ID"),
            Column("condition", is_number=False),
            Column("heads"),
            Column(label, note=f"{_UNITS[measured.unit]}, with its 95 % interval over {_rows_of(measured)}"),
            Column(
                f"{measured.change} of {label}",
                note=f"{measured.steps} from the baseline, with its 95 % interval over {_rows_of(measured)}",
            ),
            Column("FDR", note="false discovery rate over the conditions"),
            *(
                [
                    Column(
                        "random heads",
                        note=f"mean {measured.change} of as many heads of the same layers; lowest to highest",
                    )
                ]
                if random
                else []
            ),
            *([Column("p, random", note="how often random heads cost at least as much")] if random else []),
            *(Column(f"{metric.change} of {metric.label}") for metric in others),
            *([Column("paper's drop", note="published by Guan et al. 2020")] if beside else []),
        ]
        shown = [
            [
                number(row["id"], 0),
                words(row["condition"]),
                number(row["heads"], 0),
                _with_ends(row, main, digits),
                _with_ends(row, f"drop_{main}", digits),
                probability(row[f"drop_{main}_fdr"]),
                *(
                    [_with_ends(row, f"control_drop_{main}", digits), probability(row[f"own_rank_p_{main}"])]
                    if random
                    else []
                ),
                *(number(row[f"drop_{metric.name}"]) for metric in others),
                *([number(row[f"published_drop_{main}"])] if beside else []),
            ]
            for _, row in rows.iterrows()
        ]
        title = "Types left out or made uniform" if number_of_table == 2 else "Attention within and between sentences"
        yield Shown(
            f"Table {number_of_table}. {title}: {model}, {partition}",
            columns,
            shown,
            _about(rows, random, measured),
            f"guan2020/table{number_of_table}.csv",
        )


def compared_table(pairs: pd.DataFrame, clustering: str, file: str) -> Shown:
    """Any two models side by side, those that have their heads in common first.

    pairs: as `types.compared.pairs_table` makes it, at least one.
    """
    columns = [
        Column("model", is_number=False),
        Column("beside", is_number=False),
        Column(
            "relation",
            is_number=False,
            note="what the model beside it is to it; if nothing, heads are not compared",
        ),
        Column("shares", note="percent of heads that could keep their type if both had as many of each type"),
        Column("by layer", note="the same, if both had as many of each type at every depth"),
        Column("each head", note="percent of heads that have the type that they have in the other"),
        Column("clusters", note="the same for clusters, matched whatever their names are"),
        Column("Rand", note="adjusted Rand index: 1 for equal clusterings, 0 on average for chance"),
        Column("doubtful names", is_number=False),
    ]
    doubts = {"doubtful": "{}", "other_doubtful": "beside: {}"}
    ordered = pairs.sort_values("relation", key=lambda it: it == "", kind="stable")
    rows = [
        [
            *(words(row[name]) for name in ("model", "other", "relation")),
            *(number(row[name]) for name in ("same_shares", "same_layers", "same_type", "same_cluster")),
            number(row["adjusted_rand"], 2),
            words(", ".join(doubt.format(row[name]) for name, doubt in doubts.items() if row[name])),
        ]
        for _, row in ordered.head(_PAIRS).iterrows()
    ]
    about = (
        "How much of the heads' types two models have in common, in percent. Each model is clustered and its clusters "
        "are named by itself: where a name is doubtful, compare what the heads attend to, which is in types.csv beside "
        "this file."
    )
    if len(pairs) > _PAIRS:
        about += f" The first {_PAIRS} of {len(pairs)} pairs."
    return Shown(f"Any two models: {clustering}", columns, rows, about, file)


def _about(rows: pd.DataFrame, random: bool, metric: Metric) -> str:
    asked = int(rows["n_questions"].iloc[0])
    if metric.higher_is_better:
        parts = [f"Percent and points on {asked:,} questions or pairs; intervals are 95 % over these."]
    else:
        parts = [
            f"Mean {metric.title} in {metric.unit} on {asked:,} documents, and how much it rises; intervals are 95 % "
            "over these."
        ]
    if random:
        some = rows[rows["control_draws"].notna()].iloc[0]
        draws, of = int(some["control_draws"]), int(some["control_questions"])
        drawn = "1 draw" if draws == 1 else f"{draws} draws"
        parts.append(
            f"Random heads: {drawn} of as many heads of each layer, on {of:,} of them; with so many, p is at least "
            f"{1 / (1 + draws):.3f}."
        )
    doubtful = rows["doubtful"].iloc[0]
    if isinstance(doubtful, str) and doubtful:
        parts.append(f"Doubtful names: {doubtful}.")
    return " ".join(parts)


def _with_ends(row: pd.Series, name: str, digits: int) -> Cell:
    return number(row[name], digits, row[f"{name}_low"], row[f"{name}_high"])


def _rows_of(metric: Metric) -> str:
    return "questions" if metric.higher_is_better else "documents"
