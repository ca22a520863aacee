"""The values of the paper's Tables 1, 2 and 3, with ours beside the published ones."""

import math
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from headtypes.analyses.ablation.control_drops import (
    FAMILIES,
    SEEDS,
    control_drops,
    drops_over_seeds,
    prefix,
    read_scored,
)
from headtypes.analyses.types.choice import GAP_FREEDOM
from headtypes.analyses.types.partitions import Partition, order_types
from headtypes.attention.operations import operations_by_head, table_of
from headtypes.core.files import StrPath
from headtypes.core.statistics import holm
from headtypes.data.kinds.catalogue import counted_by
from headtypes.data.kinds.metrics import MAIN_METRICS, METRICS, Metric, tested_metric
from headtypes.data.kinds.registry import KINDS
from headtypes.papers.guan2020.published import HALVES, MAIN_MODEL, Guan2020
from headtypes.papers.keys import Key
from headtypes.papers.quantities import Measured

AGREEMENTS = {"all_agree": "all agree", "pairwise": "pairwise"}
# In the order of their columns: what kinds of task are first of all measured by, then the others; percentages first.
_METRICS = sorted(
    (*MAIN_METRICS.values(), *(METRICS[name] for name in sorted(METRICS.keys() - MAIN_METRICS))),
    key=lambda metric: metric.unit != "%",
)
# They have columns in every table; the others do where some model is evaluated by them.
_ALWAYS = {metric for kind in KINDS.values() if kind.is_learned for metric in kind.metrics}
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
_NUMBERS = {f"n_{kind.counted}" for kind in KINDS.values()}


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
    measured = [it for it in _METRICS if it in _ALWAYS or any(it.name in score for score in metrics)]
    table = []
    for row, score in zip(rows, metrics, strict=True):
        key, done = _key(row), row["operations"]
        of_paper = published.condition_with(done)
        entry = {"model": row["model"], "partition": row["partition"]}
        entry["table"] = table_of(done.values())
        entry["id"] = of_paper.id if of_paper else None
        entry["condition"] = row["condition"]
        by_head = operations_by_head(partitions[key].type_of, done, row["condition"])
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
    return [it for it in _METRICS if it.name in section and section[it.name].notna().any()]


def of_asked(section: pd.DataFrame, taken: str) -> str:
    """How many questions or pairs, and how many were asked for where that is more: "408 pairs (1,000 asked for)"."""
    there, wanted = section[taken].iloc[0], section[_ASKED[taken][0]].iloc[0]
    unit = counted_by(measured_in(section))
    counted = f"{there:,.0f} {unit if there != 1 else unit.removesuffix('s')}"
    return counted + (f" ({wanted:,.0f} asked for)" if pd.notna(wanted) and wanted > there else "")


def _key(row: Mapping) -> Key:
    return row["model"], row["partition"]
