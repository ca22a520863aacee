"""Tables 1 to 3 of Guan et al. 2020: their values, and how a page shows them."""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pandas as pd

from headtypes.analyses.ablation.controls import control_drops, read_scored
from headtypes.analyses.ablation.intervals import read_intervals
from headtypes.analyses.types.clustering import HALVES
from headtypes.analyses.types.gaps import p_of_gaps
from headtypes.analyses.types.partitions import Partition, order_types, read_partition
from headtypes.attention.operations import operations_by_head, table_of
from headtypes.core.files import numbered_rows, read_each, read_json
from headtypes.core.progress import warn
from headtypes.core.statistics import ALPHA, LEVELS
from headtypes.core.table_files import write_csv
from headtypes.core.tables import Column, Table, TextColumn, document, interval, probability, write_table
from headtypes.data.tasks import MAIN_METRICS, MEASURES, METRICS, Metric, counted_by
from headtypes.papers.guan2020.published import MAIN_MODEL, Guan2020
from headtypes.papers.paper import Key

# A tenth of the paper's.
_FEW_SAMPLES = 100
_AGREEMENTS = {"all_agree": "all agree", "pairwise": "pairwise"}
# The paper's one value is one of these.
_ALL_AGREE = [f"{half}_all_agree" for half in HALVES]
_STABILITY = [
    *(
        Column(
            f"{half}_{agreement}",
            f"{half}, {label}",
            brief=f"agree, {half}",
            brief_digits=0,
            note=f"percent on which all clusterings of half of the {half} agree",
        )
        for agreement, label in _AGREEMENTS.items()
        for half in HALVES
    ),
    Column("own_cluster", "own cluster"),
    TextColumn("gaps", "gaps", note="p of heads without gaps; there may be no types where it is not small"),
]


def stability_table(
    rows: Iterable[Mapping],
    partitions: Mapping[Key, Partition],
    stabilities: Mapping[Key, Mapping],
    samples: Mapping[Key, int],
    published: Guan2020,
) -> pd.DataFrame:
    table = []
    for row in rows:
        key = row["model"], row["partition"]
        partition, stability = partitions[key], stabilities[key]
        entry = {"model": row["model"], "partition": row["partition"]}
        entry["published_stability"] = published.stability.models.get(row["published"], math.nan)
        for agreement in _AGREEMENTS:
            entry |= {f"{half}_{agreement}": (stability[half] or {}).get(agreement, math.nan) for half in HALVES}
        entry["own_cluster"] = stability["own_cluster"]
        entry["gaps_p"] = p_of_gaps(stability["gaps"], len(partition.table)) if stability["gaps"] else math.nan
        shares = 100 * partition.table["type"].value_counts(normalize=True)
        entry |= {f"share_{name}": shares[name] for name in partition.types}
        entry["doubtful"] = ", ".join(partition.doubtful)
        entry |= {"samples": samples[key], "samples_asked": row["samples_asked"]}
        table.append(entry)
    return pd.DataFrame(table)


def reservations(table: pd.DataFrame) -> list[str]:
    found = []
    for row in table.itertuples():
        where = f"{row.model}, {row.partition}"
        if row.samples < row.samples_asked:
            found.append(f"{where}: {row.samples_asked:,.0f} samples were asked for, and there are {row.samples:,.0f}.")
        if row.gaps_p >= ALPHA:
            found.append(f"{where}: no gaps between heads are shown, so that there may be no types.")
        if row.samples < _FEW_SAMPLES:
            found.append(
                f"{where}: {row.samples:.0f} samples are few, where the paper has 1,000: others may give other types."
            )
    return found


def stability_shown(table: pd.DataFrame) -> Table:
    types = [column.removeprefix("share_") for column in table if column.startswith("share_")]
    doubtful = [str(names).split(", ") for names in table["doubtful"]]
    texts = {f"doubt_{name}": ["?" if name in names else "" for names in doubtful] for name in types}
    texts["gaps"] = ["" if math.isnan(p) else probability(p) for p in table["gaps_p"]]
    shares = [
        Column(
            f"share_{name}", name, brief=f"{name} %", brief_digits=1, note="share of the heads", after=f"doubt_{name}"
        )
        for name in types
    ]
    columns = [
        TextColumn("model", "model"),
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
    of_types = [share.name for share in shares]
    published = ["published_stability"] if table["published_stability"].notna().any() else []
    return Table(
        "Table 1. Types and their stability",
        table.assign(**texts),
        columns,
        brief=["model", "partition", *of_types, *_ALL_AGREE, "gaps", *published, "samples"],
        printed=["model", "partition", *_ALL_AGREE, *of_types],
        about=" ".join(
            [
                "Shares of the types, and how stable they are: percent on which clusterings of halves all agree.",
                "A question mark follows a share whose type's name is doubtful, since its heads do not look where the "
                "name says.",
                *reservations(table),
            ]
        ),
    )


def with_published(table: pd.DataFrame, published: Guan2020) -> pd.DataFrame:
    paper = {f"share_{name}": share for name, share in published.shares.types.items() if f"share_{name}" in table}
    if not paper or table["published_stability"].isna().all():
        return table
    return pd.concat([table, pd.DataFrame([{"model": "published", "partition": "", "doubtful": "", **paper}])])


def stability_page(table: pd.DataFrame, published: Guan2020) -> str:
    shares = [column for column in table if column.startswith("share_")]
    stability = ("published_stability", *(column.name for column in _STABILITY))
    parts = [
        "Stability of the types: percent of the heads to which clusterings, each fitted on a random half of the heads "
        "or of the samples, give the same type; or of the pairs of a head and a sample, for clusterings of half of the "
        "pairs. All of them agree, as the paper counts, or two of them on average (pairwise). Own cluster: percent of "
        "the pairs that are nearest to the head's cluster. Gaps: p of heads without gaps between them, such as a "
        "band, an arc or a skewed cloud.",
        stability_shown(table).markdown("model", "partition", *stability),
        "Shares of the types, in percent of the heads. A type is marked as doubtful if its name does not fit what "
        "its heads look at.",
        stability_shown(with_published(table, published)).markdown(
            "model", "partition", "samples", *shares, "doubtful"
        ),
        *reservations(table),
    ]
    return document("Table 1: stability and shares of the types", parts)


def run_types(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    published = Guan2020.read(inputs.reference)
    partitions, stabilities = read_each(read_partition, inputs.partitions), read_each(read_json, inputs.stabilities)
    samples = read_each(lambda path: sum(1 for _ in numbered_rows(path)), inputs.counted)
    table = stability_table(spec["rows"], partitions, stabilities, samples, published)
    warn(provenance, reservations(table))
    printed = [stability_shown(with_published(table, published))]
    write_table(outputs, table, stability_page(table, published), provenance, printed=printed)


# All metrics in the order of their columns: percentages first, and among these the main metric of each kind of task.
_METRICS = sorted(METRICS.values(), key=lambda metric: (metric.unit != "%", metric.name not in MAIN_METRICS))
# Metrics that have columns in every table; others have columns if some model is evaluated by them.
_ALWAYS = {metric for kind in ("question_answering", "sentence_pair") for metric in MEASURES[kind][0]}
_ENDS = ("low", "high", "low_by_article", "high_by_article")
# Keys of `metrics.json` with a number of inputs.
_NUMBERS = {f"n_{counted}" for _, counted in MEASURES.values()}
# Columns with a number of inputs that may be less than asked for (`{column}_asked`), and words for these inputs.
_ASKED = {"n_questions": "", "control_questions": " for random heads"}

_TITLES = {2: "Types left out or made uniform", 3: "Attention within and between sentences"}
_CONTROLS = (
    "Below each score, conditions stand beside random heads: the same operations on as many heads of each layer, on "
    "the same questions. *Own* is the condition's own drop on these questions; *random* the mean of the draws, with "
    "the lowest and the highest. *In common* is the percent of the drawn heads that are the condition's own: where it "
    "is large, a condition stands beside itself, so that nothing is tested here."
)
_CONDITION = [
    Column("id", "ID", digits=0),
    TextColumn("condition", "condition"),
    Column("heads", "heads", digits=0),
    Column("in_common", "in common", digits=0, note="percent of these random heads that are the type's own"),
]


def ablation_table(
    rows: list[dict],
    partitions: Mapping[Key, Partition],
    metrics: Mapping[tuple[str, str, str], dict],
    published: Guan2020,
    *,
    intervals: Mapping[Key, pd.DataFrame],
    controls: Mapping[tuple[str, str, str], dict],
) -> pd.DataFrame:
    baselines = {_key(row): metrics[*_key(row), row["condition"]] for row in rows if not row["operations"]}
    ends = {key: table.set_index("condition") for key, table in intervals.items()}
    types = order_types(name for partition in partitions.values() for name in partition.types)
    targets = dict.fromkeys([*types, *(target for row in rows for target in row["operations"])])
    known = set().union(*metrics.values())
    measured = [metric for metric in _METRICS if metric in _ALWAYS or metric.name in known]
    table = []
    for row in rows:
        key, done = _key(row), row["operations"]
        score = metrics[*key, row["condition"]]
        of_paper = published.condition_with(done)
        by_head = operations_by_head(partitions[key].type_of, done, f"conditions.{row['condition']}")
        entry = {
            "model": row["model"],
            "partition": row["partition"],
            "table": table_of(done.values()),
            "id": of_paper.id if of_paper else math.nan,
            "condition": row["condition"],
            "heads": int((by_head != "keep").sum()),
            **{f"operation_{name}": done.get(name, "") for name in targets},
        }
        of_row = ends[key].loc[row["condition"]] if key in ends else {}
        # The paper's F1 is that of answers, not of sentence pairs.
        theirs = of_paper if row["published"] == MAIN_MODEL and "exact_match" in score else None
        for about in measured:
            metric = about.name
            value, before = (of.get(metric, math.nan) for of in (score, baselines.get(key, {})))
            for name, number in ((metric, value), (f"drop_{metric}", about.drop(before, value))):
                entry[name] = number
                entry |= {f"{name}_{end}": of_row.get(f"{name}_{end}", math.nan) for end in _ENDS}
            shown, baseline = (getattr(of, metric, math.nan) for of in (theirs, published.baseline))
            entry |= {f"published_{metric}": shown, f"published_drop_{metric}": baseline - shown}
        if of_controls := controls.get((*key, row["condition"])):
            entry |= of_controls | {"control_questions_asked": row["control_questions"] or math.nan}
        entry["n_questions"] = next(number for name, number in score.items() if name in _NUMBERS)
        entry["n_questions_asked"] = row["questions"] or math.nan
        entry["doubtful"] = ", ".join(partitions[key].doubtful)
        entry |= {about.beside: score.get(about.beside, math.nan) for about in measured if about.beside}
        table.append(entry)
    order = ["model", "partition", "table", "id"]
    return pd.DataFrame(table).sort_values(order, kind="stable", ignore_index=True)


def shortages(table: pd.DataFrame) -> list[str]:
    sentences = []
    for taken, what in _ASKED.items():
        if taken in table:
            asked = f"{taken}_asked"
            short = table[table[asked] > table[taken]].groupby(["model", "partition", taken, asked], sort=False)
            for (model, partition, there, wanted), rows in short:
                counted = f"{wanted:,.0f} {counted_by(measured_in(rows))}{what}"
                sentences.append(f"{model}, {partition}: {counted} were asked for, and there are {there:,.0f}.")
    return sentences


def measured_in(section: pd.DataFrame) -> list[Metric]:
    return [metric for metric in _METRICS if metric.name in section and section[metric.name].notna().any()]


def counted_inputs(section: pd.DataFrame, taken: str) -> str:
    there, wanted = section[taken].iloc[0], section[f"{taken}_asked"].iloc[0]
    unit = counted_by(measured_in(section))
    counted = f"{there:,.0f} {unit if there != 1 else unit.removesuffix('s')}"
    return counted + (f" ({wanted:,.0f} asked for)" if pd.notna(wanted) and wanted > there else "")


def _key(row: Mapping) -> Key:
    return row["model"], row["partition"]


def ablation_shown(table: pd.DataFrame, number: int) -> Iterator[Table]:
    of_number = table[(table["table"] == number) | (table["id"] == 1)]
    for (model, partition), section in of_number.groupby(["model", "partition"], sort=False):
        measured = measured_in(section)
        main, *others = measured
        name, counted, random = main.name, counted_by(measured), _with_random_heads(section, main.name)
        data = section.assign(**{f"other_{metric.name}": section[f"drop_{metric.name}"] for metric in measured})
        if len(random):
            data["in_common"] = 100 * data["control_overlap"]
        yield Table(
            f"Table {number}. {_TITLES[number]}: {model}, {partition}",
            data,
            [*_CONDITION, *(column for metric in measured for column in _columns(metric, counted))],
            brief=[
                *("id", "condition", "heads", name, f"drop_{name}"),
                *([f"own_drop_{name}", f"control_drop_{name}", "in_common"] if len(random) else []),
                *(f"other_{metric.name}" for metric in others),
                *([f"published_drop_{name}"] if section[f"published_drop_{name}"].notna().any() else []),
            ],
            about=" ".join(_sentences(section, random, main, counted)),
            printed=["id", "condition", "heads", *_scores(measured)],
        )


def ablation_values(table: pd.DataFrame) -> pd.DataFrame:
    scores = [column for name in _scores(measured_in(table)) for column in (name, *interval(name), f"published_{name}")]
    return table[["model", "partition", "id", "condition", "heads", "n_questions", *scores]]


def ablation_page(table: pd.DataFrame, number: int) -> str:
    tables = list(ablation_shown(table, number))
    controlled = any(shown.data.filter(["control_draws"]).notna().any(axis=None) for shown in tables)
    parts = [
        "Scores in percent (EM is the paper's Acc.) and drops from the baseline in points, with intervals over "
        f"questions in brackets ({LEVELS})." + (f" {_CONTROLS}" if controlled else ""),
        *(metric.note for metric in measured_in(table) if metric.note),
    ]
    for shown in tables:
        section = shown.data
        first = section.iloc[0]
        about = [f"{counted_inputs(section, 'n_questions')}."]
        if first["doubtful"]:
            about.append(f"Doubtful, since the name does not fit what the heads look at: {first['doubtful']}.")
        parts += [f"## {first['model']}, {first['partition']}", " ".join(about)]
        # A table for each score, since one table of all scores would be wider than a screen.
        for metric in measured_in(section):
            name, beside = metric.name, [metric.beside] if metric.beside else []
            optional = [f"published_{name}", f"published_drop_{name}"]
            known = [column for column in optional if section[column].notna().any()]
            parts.append(shown.markdown("id", "condition", "heads", name, *beside, f"drop_{name}", *known))
            drawn = _with_random_heads(section, name)
            if len(drawn):
                parts.append(f"Beside {_draws(drawn)} on {counted_inputs(drawn, 'control_questions')}.")
                columns = "id", "condition", f"own_drop_{name}", f"control_drop_{name}", "in_common"
                parts.append(shown.where(section.index.isin(drawn.index)).markdown(*columns))
    return document(f"Table {number}: {_TITLES[number][0].lower()}{_TITLES[number][1:]}", parts)


def _scores(measured: list[Metric]) -> list[str]:
    return [name for metric in measured for name in (metric.name, f"drop_{metric.name}")]


def _draws(drawn: pd.DataFrame) -> str:
    draws = int(drawn["control_draws"].max())
    return f"{draws} {'draw' if draws == 1 else 'draws'} of as many heads of each layer"


def _columns(metric: Metric, counted: str) -> Iterator[Column]:
    name, unit = metric.name, "percent" if metric.unit == "%" else metric.unit
    change, over = f"{metric.change} of {metric.label}", f"with its interval over {counted} ({LEVELS})"
    drop, random = f"drop_{name}", f"control_drop_{name}"
    numbers = {"digits": metric.decimals, "brief_digits": metric.decimals - 1}
    note = f"{metric.change} without the type, on the inputs of the random heads beside it"
    yield Column(f"own_{drop}", f"{change}, own", **numbers, brief="same inputs", note=note)
    note, ends = f"mean {metric.change} of as many heads of the same layers; lowest to highest", interval(random)
    yield Column(random, "random", **numbers, ends=ends, between=" ({} to {})", brief="random heads", note=note)
    yield Column(name, metric.label, **numbers, ends=interval(name), note=f"{unit}, {over}")
    if metric.beside:
        yield Column(metric.beside, metric.beside)
    note = f"{metric.steps} from the baseline, {over}"
    yield Column(drop, metric.change, **numbers, ends=interval(drop), brief=change, note=note)
    yield Column(f"other_{name}", change, digits=1)
    yield Column(f"published_{name}", "published")
    note = "published by Guan et al. 2020"
    yield Column(f"published_{drop}", "drop published", brief="paper's drop", brief_digits=1, note=note)


def _with_random_heads(section: pd.DataFrame, metric: str) -> pd.DataFrame:
    name = f"control_drop_{metric}"
    return section[section[name].notna()] if name in section else section[:0]


def _sentences(section: pd.DataFrame, random: pd.DataFrame, metric: Metric, counted: str) -> Iterator[str]:
    asked = int(section["n_questions"].iloc[0])
    if metric.unit == "%":
        yield f"Percent and points on {asked:,} {counted}; intervals are over these ({LEVELS})."
    else:
        yield (
            f"Mean {metric.title} in {metric.unit} on {asked:,} {counted}, and how much it rises; intervals are over "
            f"these ({LEVELS})."
        )
    if len(random):
        yield f"Random heads: {_draws(random)}, on {int(random['control_questions'].max()):,} of them; none is tested."
    doubtful = section["doubtful"].iloc[0]
    if isinstance(doubtful, str) and doubtful:
        yield f"Doubtful names: {doubtful}."


def run_ablations(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    controls = {
        (*of, name): control_drops(
            *read_scored(inputs.controls[*of, name], inputs.scores[*of, name], inputs.scores[*of, baseline])
        )
        for *of, name, baseline in spec["controls"]
    }
    table = ablation_table(
        spec["rows"],
        read_each(read_partition, inputs.partitions),
        read_each(read_json, inputs.metrics),
        Guan2020.read(inputs.reference),
        intervals=read_each(read_intervals, inputs.intervals),
        controls=controls,
    )
    warn(provenance, shortages(table))
    for number in (2, 3):
        of_number = table[table["table"] == number]
        page, printed = ablation_page(table, number), ablation_shown(table, number)
        write_table(outputs, ablation_values(of_number), page, provenance, f"_{number}", printed)
        write_csv(outputs[f"all_{number}"], of_number)
