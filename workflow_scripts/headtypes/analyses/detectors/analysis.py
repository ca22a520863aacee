"""The analysis by detectors, which test against nulls which heads attend by position or to earlier occurrences."""

from collections.abc import Iterator
from typing import Any

from headtypes.analyses.declaration import WHOLE, Analysis, Column, Measure, by_head, categories_of, summaries
from headtypes.core.files import StrPath
from headtypes.core.stage import Plan, Result, given, stage


def read_detector_table(path: StrPath) -> Any:
    from headtypes.core.table_files import table_reader

    columns = {
        "detector": str,
        **dict.fromkeys(("layer", "head"), int),
        **dict.fromkeys(("score", "null", "difference", "low", "high"), float),
        **dict.fromkeys(("above", "sequences"), int),
        **dict.fromkeys(("p", "corrected_p"), float),
        "detected": bool,
    }
    return table_reader("holds no heads by detector", columns)(path)


def per_head(task: str, path: StrPath) -> list:
    import pandas as pd

    table = read_detector_table(path)
    note = "On random tokens; a head is of a kind if it exceeds what chance gives (docs/understand/method.md)."
    detected = table[table["detected"]].groupby(["layer", "head"])["detector"].agg(", ".join)
    heads = pd.MultiIndex.from_frame(table[["layer", "head"]].drop_duplicates().sort_values(["layer", "head"]))
    categories, indices = categories_of(detected.reindex(heads))
    columns = [Column("detected", "kind of head", "Detectors", indices, categories=categories, note=note)]
    for name, rows in table.groupby("detector", sort=False):
        how_many = f"{note} Detected: {rows['detected'].sum()} of {len(rows)} heads."
        about = {"unit": "%", "scale": WHOLE, "note": how_many}
        scores = 100 * by_head(rows)["score"]
        columns.append(Column(f"detector.{name}", f"{name} on {task}", "Detectors", scores, **about))
    return columns


def per_set(task: str, path: StrPath, types: Any, seed: int) -> Iterator:
    for detector, rows in read_detector_table(path).groupby("detector", sort=False):
        heads = by_head(rows)
        yield from summaries("detectors", task, detector, heads["score"].to_numpy())
        detected = heads["detected"].to_numpy(float)
        yield Measure(
            "detectors", task, detector, "detected here", lambda sets, detected=detected: sets.astype(float) @ detected
        )


SCORES = Result(
    "results/detectors/{model}.parquet",
    "measure_detectors",
    "scores of detectors on random tokens",
    of=lambda plan: plan.detected,
    content="for models of `detectors.models`, for each detector, random sequence, layer and head: `score` and "
    "`null`, shares of attention ([method](../understand/method.md#detectors))",
)
TABLE = Result(
    "results/detectors/{model}.csv",
    "measure_detectors",
    "which heads the detectors find",
    of=lambda plan: plan.detected,
    name="detectors",
    content="for each detector (`previous`, `next`, `first`, `duplicate`, `induction`), `layer` and `head`: "
    "means of `score`, `null` and their `difference` with its interval (`low`, `high`), on how many of the `sequences` "
    "it is `above` what a kind asks for, `p`, `corrected_p`, and whether the head is `detected`",
)


# Sequences that are drawn; tokens of half of one; the share of its attention by which a detected head exceeds the null.
SEQUENCES, LENGTH, LEAST = 32, 32, 0.1


@stage("forward", calls="analyses.detectors.measure:run")
def measure_detectors(plan: Plan, model: str) -> dict:
    # The seed depends on no model, so that models with the same tokens have the same random sequences.
    drawn = {"sequences": SEQUENCES, "length": LENGTH, "seed": plan.seed("measure_detectors")}
    return {**drawn, **given(plan.config.compute), "least": LEAST}


DETECTORS = Analysis(
    "detectors",
    "detectors (mean score; heads detected)",
    section="What single heads look at",
    files=(TABLE,),
    results=(SCORES, TABLE),
    stages=(measure_detectors,),
    per_head=per_head,
    per_set=per_set,
    line=lambda quantity, statistic: f"{quantity}: heads" if statistic == "detected here" else quantity,
    leads=True,
)
