"""The comparison with Guan et al. 2020: verdicts on its claims, and published values next to ours."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from headtypes.analyses.types.clustering import HALVES
from headtypes.analyses.types.partitions import read_partition
from headtypes.core.files import read_each
from headtypes.core.table_files import read_csv
from headtypes.papers import comparison
from headtypes.papers.claims import Measured
from headtypes.papers.guan2020.claims import of_answers, of_heads
from headtypes.papers.guan2020.published import METRICS, Guan2020
from headtypes.papers.guan2020.quantities import (
    Model,
    bracket,
    collect_quantities,
    models_beside,
    name_operations,
    published_quantities,
    read_answers,
    read_stabilities,
)
from headtypes.papers.guan2020.readings import under_every_reading
from headtypes.papers.paper import PARTITION_KEYS, Compared, Found, Key

CLAIMS = (*of_heads, *of_answers)
_HALVES = {half: half for half in HALVES} | {"pairs": "pairs of a head and a sample"}
COLUMNS = [*PARTITION_KEYS, *comparison.COLUMNS, "doubtful", "n_questions"]


def compare_files(
    found: Found, published: Guan2020, *, partitions: Sequence[dict], ablations: Sequence[dict], **judging: Any
) -> Compared:
    read = read_each(read_partition, found["partitions"])
    described = {(entry["model"], entry["partition"]): entry for entry in partitions}
    quantities = collect_quantities(
        read,
        read_answers(found["scores"]),
        ablations,
        published,
        stabilities=read_stabilities(read, found["stabilities"], found["numbers"]),
        # Made in the same way on the same task.
        parents={key: read.get((entry["parent"], entry["partition"])) for key, entry in described.items()},
        families=models_beside(partitions, read),
    )
    rows = {key: entry["published"] for key, entry in described.items()}
    table = compare_with_guan(quantities, rows, published, **judging)
    for path in found["readings"].values():
        columns = ["model", "partition", "id", "reading", "verdict"]
        table = under_every_reading(table, read_csv(path, "does not say what readings decide", columns, rows=0))
    return Compared(comparison.tidy_table(quantities, PARTITION_KEYS), table, comparison_page(table, published))


def compare_with_guan(
    quantities: Mapping[Key, Model], rows: Mapping[Key, str | None], published: Guan2020, **judging: Any
) -> pd.DataFrame:
    subjects = []
    for key, ours in quantities.items():
        theirs = published_quantities(published, rows.get(key))
        questions = ours["n_questions"].value if "n_questions" in ours else None
        names = dict(zip(PARTITION_KEYS, key, strict=True)) | {"n_questions": questions}
        subjects.append(comparison.Subject(names, CLAIMS, ours, theirs, _values(ours, theirs, published)))
    return comparison.comparison_table(subjects, COLUMNS, **judging)


def comparison_page(table: pd.DataFrame, published: Guan2020) -> str:
    introduction = [
        f"Published: {published.paper}. Its values are for {published.model} on {published.task}. Another model has "
        "other heads, so only the order and the direction of the drops can be compared.",
        comparison.HOW_CLAIMS_ARE_JUDGED,
        "A claim that rests on a doubtful name has no verdict.",
    ]
    return comparison.comparison_page(
        "Beside the paper", introduction, table, PARTITION_KEYS, CLAIMS, published, ["n_questions"]
    )


def _values(ours: Model, theirs: Model, published: Guan2020) -> Iterator[dict]:
    def row(types: Iterable[str], place: str, id_: str, quantity: str, *values: Measured | float) -> dict:
        said = {"doubtful": ", ".join(name for name in types if name in ours.doubtful)}
        return comparison.value_row(place, id_, quantity, *values) | said

    # Shares and stability of other types are other quantities.
    if set(ours.types) == set(theirs.types):
        place = published.shares.place
        for name, share in theirs.of_kind("share").items():
            id_ = f"share.{name}"
            yield row([name], place, id_, f"share of {bracket(name, ours.doubtful)}", ours[id_], share)
        place, kind = published.stability.place, f"stability.{len(ours.types)}"
        for value in theirs.of_kind(kind).values():
            for half in ours.of_kind(kind):
                label = f"stability, halves of the {_HALVES[half]}, all agree"
                yield row([], place, f"{kind}.{half}", label, ours[f"{kind}.{half}"], value)
    for condition in published.conditions:
        place, done = f"section 5, Table {condition.table}", name_operations(condition.operations, ours.doubtful)
        for metric, label in METRICS.items():
            score, of_baseline = f"{condition.id}.{metric}", f"{published.baseline.id}.{metric}"
            if score not in ours:
                continue
            types = condition.operations
            yield row(types, place, score, f"{label}, {done}", ours[score], theirs[score].value)
            if condition is not published.baseline and of_baseline in ours:
                weights, id_ = {of_baseline: 1.0, score: -1.0}, f"{condition.id}.drop_{metric}"
                drop, published_drop = ours.weighted_sum(weights), theirs.weighted_sum(weights).value
                yield row(types, place, id_, f"drop of {label}, {done}", drop, published_drop)
