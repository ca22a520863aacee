"""The paper's Tables 1, 2 and 3, ours beside the published figures."""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from headtypes.files import write_text
from headtypes.partitions import Partition
from headtypes.reference import Reference

_LABELS = {
    "model": "Model",
    "partition": "Partition",
    "stability": "Stability (published)",
    "heads_all_agree": "Half of the heads, all agree",
    "heads_pairwise": "Half of the heads, pairwise",
    "samples_all_agree": "Half of the samples, all agree",
    "samples_pairwise": "Half of the samples, pairwise",
    "id": "ID",
    "condition": "Condition",
    "exact_match": "Acc.",
    "f1": "F1",
    "drop_exact_match": "Drop of Acc.",
    "drop_f1": "Drop of F1",
    "published_exact_match": "Acc. (published)",
    "published_f1": "F1 (published)",
    "published_drop_exact_match": "Drop of Acc. (published)",
    "published_drop_f1": "Drop of F1 (published)",
    "n_questions": "Questions",
}
DOUBTFUL = "?"


def table_1(rows: list[dict], partitions: list[Partition], stabilities: list[dict], reference: Reference) -> pd.DataFrame:
    """Table 1 of Guan et al. 2020: stability of the clustering and shares of the types, in percent.

    rows: one per clustering: model, partition, and `published`, the paper's row beside which it stands, or None.
    partitions, stabilities: of the same clusterings, in the same order.
    The paper's one figure of stability can be read in four ways, so all four stand beside it.
    """
    table = []
    for row, partition, stability in zip(rows, partitions, stabilities, strict=True):
        entry = {"model": row["model"], "partition": row["partition"]}
        entry["stability"] = row["published"] and reference.published_stability(row["published"])
        for half in ("heads", "samples"):
            for figure in ("all_agree", "pairwise"):
                entry[f"{half}_{figure}"] = stability[half][figure]
        types = partition.table["type"]
        for name in partition.types:
            entry[f"share_{name}"] = 100 * (types == name).mean()
        entry["doubtful"] = ", ".join(doubtful_types(partition))
        table.append(entry)
    return pd.DataFrame(table)


def table_2_and_3(
    rows: list[dict], partitions: dict[tuple[str, str], Partition], metrics: list[dict], reference: Reference
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Tables 2 and 3 of Guan et al. 2020: exact match and F1 in percent, and drops from the baseline in points.

    rows: one per evaluation: model, partition, condition, operations {type: operation}.
    partitions: by model and name of the partition.
    metrics: of the evaluations, in the order of the rows.
    returns (conditions that leave out or flatten attention and the baseline, conditions that drop attention
        within or between sentences). A condition that the paper has too carries its number and figures; one that
        it has not follows after them.
    """
    baseline = {
        (row["model"], row["partition"]): score for row, score in zip(rows, metrics, strict=True) if not _done(row)
    }
    published_baseline = reference.published_condition({})
    entries = []
    for row, score in zip(rows, metrics, strict=True):
        partition = partitions[row["model"], row["partition"]]
        published = reference.published_condition(row["operations"])
        entry = {"model": row["model"], "partition": row["partition"], "id": published and published.id}
        entry["condition"] = row["condition"]
        # A type whose name is doubtful is marked wherever it stands.
        doubtful = doubtful_types(partition)
        for name in partition.types:
            operation = _done(row).get(name, "")
            entry[name] = operation + (DOUBTFUL if operation and name in doubtful else "")
        base = baseline.get((row["model"], row["partition"]))
        for figure in ("exact_match", "f1"):
            entry[figure] = score[figure]
            entry[f"drop_{figure}"] = base and base[figure] - score[figure]
            theirs = published and getattr(published, figure)
            entry[f"published_{figure}"] = theirs
            entry[f"published_drop_{figure}"] = published and getattr(published_baseline, figure) - theirs
        entry["n_questions"] = score["n_questions"]
        entries.append(entry)
    table = pd.DataFrame(entries)
    if table.empty:
        return table, table
    table["id"] = table["id"].astype("Int64")
    table = table.sort_values(["model", "partition", "id"], kind="stable", na_position="last", ignore_index=True)
    sentences = pd.Series([any(name.startswith("drop") for name in _done(row).values()) for row in rows])
    of_condition = dict(zip((row["condition"] for row in rows), sentences, strict=True))
    in_third = table["condition"].map(of_condition)
    return (
        table[~in_third].dropna(axis="columns", how="all").reset_index(drop=True),
        table[in_third].dropna(axis="columns", how="all").reset_index(drop=True),
    )


def doubtful_types(partition: Partition) -> list[str]:
    """The types whose name does not follow from what their heads look at."""
    table = partition.table
    return [name for name in partition.types if table.loc[table["type"] == name, "doubtful"].any()]


def to_markdown(table: pd.DataFrame, title: str, notes: Iterable[str] = ()) -> str:
    """A table as Markdown with a title, figures to two decimals, and notes below."""
    lines = [f"# {title}", ""]
    if table.empty:
        lines.append("Nothing was evaluated.")
    else:
        columns = [column for column in table if column != "n_questions" or table[column].nunique() > 1]
        lines.append(_line(_label(column) for column in columns))
        numeric = [pd.api.types.is_numeric_dtype(table[column]) for column in columns]
        lines.append(_line("---:" if number else "---" for number in numeric))
        lines.extend(_line(_cell(row[column]) for column in columns) for _, row in table.iterrows())
        if "n_questions" in table and "n_questions" not in columns:
            notes = [f"{table['n_questions'].iloc[0]:,} questions.", *notes]
    for note in notes:
        lines.extend(["", note])
    return "\n".join(lines) + "\n"


def write_both(table: pd.DataFrame, title: str, csv: str | Path, markdown: str | Path) -> None:
    """Write a table as CSV, in full precision, and as Markdown."""
    write_text(csv, table.to_csv(index=False, float_format="%.9g", lineterminator="\n"))
    write_text(markdown, to_markdown(table, title))


def _done(row: dict) -> dict[str, str]:
    return {type_: operation for type_, operation in row["operations"].items() if operation != "keep"}


def _label(column: str) -> str:
    if column.startswith("share_"):
        return f"{column.removeprefix('share_')} (% of heads)"
    return _LABELS.get(column, column)


def _cell(value) -> str:
    if value is None or value is pd.NA or (isinstance(value, float) and value != value):
        return ""
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
