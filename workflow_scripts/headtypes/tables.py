"""The paper's Tables 1, 2 and 3, ours beside the published figures."""

import pandas as pd

from headtypes.markdown import document, markdown_table
from headtypes.partitions import Partition, order_types
from headtypes.reference import Reference

_HALVES = ("heads", "samples")
_FIGURES = {"all_agree": "all agree", "pairwise": "pairwise"}
_SCORES = {"exact_match": "Acc.", "f1": "F1"}
_KINDS = {"": "", "published_": " published", "drop_": " drop", "published_drop_": " drop published"}
_DOUBTFUL = "Types in brackets have a doubtful name: what their heads look at does not bear it out."


def stability_table(
    rows: list[dict], partitions: list[Partition], stabilities: list[dict], reference: Reference
) -> pd.DataFrame:
    """Table 1 of Guan et al. 2020: stability of the clustering, and shares of the types, all in percent.

    rows: one per clustering: model, partition, and `published`, the paper's row beside which it stands, or None.
    partitions, stabilities: of the same clusterings, in the same order.
    returns one row per clustering: model, partition, published_stability, {heads,samples}_{all_agree,pairwise}
        (the paper's one figure can be read in four ways), share_{type}, and the types whose name is doubtful.
    """
    table = []
    for row, partition, stability in zip(rows, partitions, stabilities, strict=True):
        entry = {"model": row["model"], "partition": row["partition"]}
        entry["published_stability"] = reference.published_stability(row["published"]) if row["published"] else None
        entry |= {f"{half}_{figure}": stability[half][figure] for half in _HALVES for figure in _FIGURES}
        shares = 100 * partition.table["type"].value_counts(normalize=True)
        entry |= {f"share_{name}": shares[name] for name in partition.types}
        entry["doubtful"] = ", ".join(partition.doubtful)
        table.append(entry)
    numbers = ["published_stability", *(f"{half}_{figure}" for half in _HALVES for figure in _FIGURES)]
    return pd.DataFrame(table).astype(dict.fromkeys(numbers, float))


def ablation_table(
    rows: list[dict], partitions: dict[tuple[str, str], Partition], metrics: list[dict], reference: Reference
) -> pd.DataFrame:
    """Tables 2 and 3 of Guan et al. 2020 in one: exact match and F1 in percent, drops from the baseline in points.

    rows: one per evaluation: model, partition, condition, operations {type: operation}.
    partitions: by model and name of the partition.
    metrics: of the evaluations, in the order of the rows.
    returns one row per evaluation, the paper's conditions first and in its order: model, partition, table (2 or
        3), id (the paper's, or none), condition, the operation on each type, exact_match, f1 and their drops, the
        same as published, n_questions, and the types whose name is doubtful.
    """
    operations = [{type_: name for type_, name in row["operations"].items() if name != "keep"} for row in rows]
    baselines = {
        (row["model"], row["partition"]): score
        for row, done, score in zip(rows, operations, metrics, strict=True)
        if not done
    }
    undisturbed = reference.published_condition({})
    types = order_types(name for partition in partitions.values() for name in partition.types)
    table = []
    for row, done, score in zip(rows, operations, metrics, strict=True):
        key = row["model"], row["partition"]
        published, baseline = reference.published_condition(done), baselines.get(key)
        entry = {"model": row["model"], "partition": row["partition"]}
        entry["table"] = 3 if any(name.startswith("drop") for name in done.values()) else 2
        entry["id"] = published.id if published else None
        entry["condition"] = row["condition"]
        entry |= {name: done.get(name, "") for name in types}
        for figure in _SCORES:
            entry[figure] = score[figure]
            entry[f"published_{figure}"] = getattr(published, figure) if published else None
            entry[f"drop_{figure}"] = baseline[figure] - score[figure] if baseline else None
            drop = getattr(undisturbed, figure) - getattr(published, figure) if published else None
            entry[f"published_drop_{figure}"] = drop
        entry["n_questions"] = score["n_questions"]
        entry["doubtful"] = ", ".join(partitions[key].doubtful)
        table.append(entry)
    order = ["model", "partition", "table", "id"]
    figures = {f"{kind}{figure}": float for figure in _SCORES for kind in _KINDS}
    return pd.DataFrame(table).astype({"id": "Int64", **figures}).sort_values(order, kind="stable", ignore_index=True)


def stability_page(table: pd.DataFrame, reference: Reference) -> str:
    """Table 1 as Markdown."""
    shares = [column for column in table if column.startswith("share_")]
    names = {f"{half}_{figure}": f"{half}, {label}" for half in _HALVES for figure, label in _FIGURES.items()}
    stability = table.rename(columns={"published_stability": "published", **names})
    paper = {
        f"share_{name}": share.percent for name, share in reference.shares.types.items() if f"share_{name}" in shares
    }
    types = pd.concat([table, pd.DataFrame([{"model": "published", **paper}])] if paper else [table])
    parts = [
        "Stability of the types: percent of heads to which clusterings, each fitted on a random half of the heads or "
        "of the samples, give the same type (all of them, or two of them on average).",
        markdown_table(stability[["model", "partition", "published", *names.values()]]),
        "Shares of the types, in percent of the heads. A type marked as doubtful has a name that what its heads look "
        "at does not bear out.",
        markdown_table(
            types[["model", "partition", *shares, "doubtful"]].rename(columns=lambda name: name.removeprefix("share_"))
        ),
    ]
    return document("Table 1: stability and shares of the types", parts)


def ablation_page(table: pd.DataFrame, partitions: dict[tuple[str, str], Partition], number: int) -> str:
    """Table 2 or 3 as Markdown, a section per model and partition."""
    titles = {2: "types left out or made uniform", 3: "attention within and between sentences"}
    figures = {
        f"{kind}{figure}": f"{label}{words}" for figure, label in _SCORES.items() for kind, words in _KINDS.items()
    }
    parts = []
    # The baseline heads both tables.
    of_number = table[(table["table"] == number) | (table["id"] == 1)]
    for (model, partition), section in of_number.groupby(["model", "partition"], sort=False):
        types = partitions[model, partition].types
        brackets = {name: f"[{name}]" for name in partitions[model, partition].doubtful}
        shown = section[["id", "condition", *types, *figures]].rename(columns={"id": "ID", **brackets, **figures})
        questions = f"{section['n_questions'].iloc[0]:,} questions."
        parts += [
            f"## {model}, {partition}",
            f"{questions} {_DOUBTFUL}" if brackets else questions,
            markdown_table(shown),
        ]
    return document(f"Table {number}: {titles[number]}", parts)
