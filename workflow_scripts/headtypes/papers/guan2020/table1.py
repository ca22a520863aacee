"""Table 1 of the paper, how stable types are and how many heads are of each: its values, and how a reader sees them."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from headtypes.analyses.types.gaps import p_of_gaps
from headtypes.analyses.types.partitions import Partition, read_partition
from headtypes.analyses.types.stability import HALVES
from headtypes.core.files import numbered_rows, read_each, read_json
from headtypes.core.progress import warn
from headtypes.core.statistics import ALPHA
from headtypes.core.tables import Column, Table, TextColumn, document, probability, write_table
from headtypes.papers.guan2020.published import Guan2020
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
    """Return Table 1 of Guan et al. 2020: stability of the clustering, and shares of the types, all in percent.

    rows: one per clustering: model, partition, `published`, the paper's row beside which it stands, or None, and
        samples_asked. partitions, stabilities, samples: the same by model and partition, files of stability and numbers
        of samples.
    Returns one row per clustering: model, partition, published_stability, {heads,samples,pairs}_all_agree (the paper's
    one value is one of these; NaN where pairs were not clustered), the same with _pairwise, own_cluster, gaps_p, the
    larger p-value of the two dips of `types.gaps`, by which there are gaps between heads, share_{type}, the types whose
    name is doubtful, samples and samples_asked.
    """
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
    """List a sentence for each partition of Table 1 of few samples, or whose heads may all be alike."""
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
    """Return Table 1 for a reader; table: as `stability_table` makes it."""
    types = [column.removeprefix("share_") for column in table if column.startswith("share_")]
    doubtful = [str(names).split(", ") for names in table["doubtful"]]
    doubts = {f"doubt_{name}": ["?" if name in names else "" for names in doubtful] for name in types}
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
        _with_text(table).assign(**doubts),
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
    """Add the paper's shares as the last row of Table 1, if it has such types of a model that stands beside the
    paper.
    """
    paper = {f"share_{name}": share for name, share in published.shares.types.items() if f"share_{name}" in table}
    if not paper or table["published_stability"].isna().all():
        return table
    return pd.concat([table, pd.DataFrame([{"model": "published", "partition": "", "doubtful": "", **paper}])])


def _with_text(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(gaps=["" if math.isnan(p) else probability(p) for p in table["gaps_p"]])


def stability_page(table: pd.DataFrame, published: Guan2020) -> str:
    """Write Table 1 as Markdown, with the paper's shares below ours; table: as `stability_table` makes it."""
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


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    published = Guan2020.read(inputs.reference)
    partitions, stabilities = read_each(read_partition, inputs.partitions), read_each(read_json, inputs.stabilities)
    samples = read_each(lambda path: sum(1 for _ in numbered_rows(path)), inputs.counted)
    table = stability_table(spec["rows"], partitions, stabilities, samples, published)
    warn(provenance, reservations(table))
    printed = [stability_shown(with_published(table, published))]
    write_table(outputs, table, stability_page(table, published), provenance, printed=printed)
