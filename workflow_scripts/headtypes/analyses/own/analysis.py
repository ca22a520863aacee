"""Analyses of a user's own, each one file that the config names: their rules and results, and what is shown where."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headtypes.analyses.declaration import Analysis, Column, by_head, samples_of, summaries
from headtypes.core.errors import InputError
from headtypes.core.files import StrPath
from headtypes.core.stage import Plan, Result, given, of_inputs_alone, stage

if TYPE_CHECKING:
    import pandas as pd

_BASE = "HeadAnalysis"


def class_in(file: StrPath) -> str:
    """Return the name of a file's class derived from `HeadAnalysis`; raise `InputError` if it has none or several."""
    try:
        tree = ast.parse(Path(file).read_bytes())
    except (OSError, SyntaxError, ValueError) as error:
        raise InputError(f"{file} cannot be read as Python: {error}.") from None
    known, names = {_BASE}, []
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and known & {ast.unparse(base).rpartition(".")[2] for base in node.bases}:
            known.add(node.name)
            names.append(node.name)
    if len(names) != 1:
        found = f"the classes {' and '.join(names)} derive" if names else "no class derives"
        raise InputError(f"{file}: {found} from {_BASE}, and exactly one has to.")
    return names[0]


@stage("forward", reads="samples", calls="analyses.own.measure:run")
def read_analysis(plan: Plan, analysis: str, model: str, task: str) -> dict:
    return {**samples_of(plan, task), **given(plan.config.analyses[analysis])}


plot_analysis = of_inputs_alone("plot_analysis", calls="analyses.own.figure:run")


def read_values(path: StrPath) -> pd.DataFrame:
    from headtypes.core.table_files import table_reader

    numbers = {"layer": int, "head": int, "value": float, "low": float, "high": float, "samples": int}
    return by_head(table_reader("holds no values of heads", {**numbers, "label": str, "unit": str})(path))


def labelled(table: pd.DataFrame) -> str:
    label, unit = table["label"][0], table["unit"][0]
    return f"{label} ({unit})" if unit else label


def per_head(name: str, task: str, path: StrPath) -> list:
    table = read_values(path)
    label, unit = table["label"][0], table["unit"][0]
    ends = {"low": table["low"], "high": table["high"]}
    return [Column(f"{name}.{task}", f"{label} on {task}", "Analyses of your own", table["value"], unit, **ends)]


def per_set(name: str, task: str, path: StrPath, types: Mapping[str, Any], seed: int) -> Iterator:
    table = read_values(path)
    yield from summaries(name, task, labelled(table), table["value"].to_numpy())


VALUES = Result(
    "results/{analysis}/{model}/{task}.csv",
    "read_analysis",
    "an analysis of one's own",
    of=lambda plan: plan.own_analyses,
    name="own",
    section="What single heads look at",
    content="of each [analysis of your own](../extend/tutorial.md), for each head: `value`, its mean over `samples`, "
    "with the interval over these (`low`, `high`), `label` and `unit`",
)
FIGURE = replace(
    VALUES,
    path="results/{analysis}/{model}/{task}.{pdf,png}",
    rule="plot_analysis",
    name="",
    content="the same by layer and type, as a figure",
)


def own_analysis(name: str) -> Analysis:
    results = tuple(
        replace(
            result,
            path=result.path.replace("{analysis}", name),
            about=f"{name}, {result.about}",
            of=lambda plan: [entry for entry in plan.own_analyses if entry.analysis == name],
        )
        for result in (VALUES, FIGURE)
    )

    shown = {"per_head": partial(per_head, name), "per_set": partial(per_set, name)}
    return Analysis(name, name, files=results[:1], results=results, **shown)
