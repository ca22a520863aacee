"""Comparisons with two made papers, of partitions and of tasks, and their ledger."""

from pathlib import Path

import pandas as pd

from headtypes.pages.ledger.page import ledger_table

FAMILIES = {"root": "root", "child": "root", "other": "other"}
PARTITION = "qa-kmeans-k4"
PARTITIONS = [
    {"model": model, "partition": PARTITION, "task": "qa", "method": "kmeans", "k": 4, "of": "weights"}
    for model in FAMILIES
]
_NO = {"verdict_holm": "no verdict", "reason": "the partition lacks dense"}


def made_ledger(folder: Path) -> pd.DataFrame:
    """The ledger of the papers `parted` and `tasked`, whose tables are written to folders of theirs."""
    verdicts = {
        "few": {"root": "holds", "child": "holds", "other": "fails"},
        "mixed": {"root": "fails", "child": "open", "other": "no verdict"},
        "never": {"root": "no verdict", "child": "no verdict", "other": "no verdict"},
    }
    parted = [
        _row(id_, verdict, model=model, partition=PARTITION)
        for id_ in verdicts
        for model, verdict in verdicts[id_].items()
    ]
    parted.append(_row("value", "", model="root", partition=PARTITION) | {"kind": "figure"})
    tasked = [_row("deep", "holds", model="root", task=task) for task in ("news", "books")]
    tasked += [
        _row("deep", verdict, model="child", task=task) for task, verdict in {"news": "holds", "books": "fails"}.items()
    ]
    tasked.append(_row("trees", "no verdict", model="root", task=None))
    own = [_row(id_, "holds", model="child", partition=PARTITION) | {"reading": "ablation"} for id_ in ("few", "mixed")]
    strict = [row | {"reading": "strict"} for row in own]
    strict[0] |= {"ours": 2.5, "reason": "share: 2.50; claimed above 1"}
    # Of a partition that the comparison does not judge.
    own.append(_row("few", "holds", model="child", partition="qa-norms-kmeans-k4") | {"reading": "ablation"})
    strict.append(own[-1] | {"reading": "strict", "ours": 2.5})
    tables = {"parted/comparison": parted, "tasked/comparison": tasked, "parted/readings": own + strict}
    for name, rows in tables.items():
        (folder / name).parent.mkdir(exist_ok=True)
        pd.DataFrame(rows).to_csv(folder / f"{name}.csv", index=False)
    paths = {name: folder / f"{name}.csv" for name in tables}
    comparisons = {name: paths[f"{name}/comparison"] for name in ("parted", "tasked")}
    readings = {"parted": paths["parted/readings"]}
    return ledger_table(comparisons, readings, families=FAMILIES, partitions=PARTITIONS, page=folder / "ledger.html")


def _row(id_: str, verdict: str, **cell) -> dict:
    row = {**cell, "kind": "claim", "basis": "stated", "place": "section 1", "id": id_, "quantity": f"Claim {id_}."}
    numbers = {"ours": 2.0, "low": 1.5, "high": 2.5, "p": 0.01, "p_holm": 0.02, "published": None}
    row |= {**numbers, "verdict": verdict, "verdict_holm": verdict, "reason": "share: 2.00; claimed above 1"}
    return row | ({**dict.fromkeys(numbers), **_NO} if verdict == "no verdict" else {})
