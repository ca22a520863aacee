"""Results on disk, from which the summary is made."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from headtypes.analyses.types.partitions import read_partition
from headtypes.comparisons.types.table import read_compared_types
from headtypes.core.table_files import read_csv
from headtypes.pages.summary import findings
from headtypes.pages.summary.figures import COMPARED_TYPES
from headtypes.pages.summary.made import facts
from headtypes.pages.summary.page import Paper, Summary
from headtypes.pages.summary.pictures import Picture, caption_of, picture_of
from headtypes.pages.summary.verdicts import Judged, judged_subjects
from headtypes.papers.claims import join
from headtypes.papers.comparison import COLUMNS
from headtypes.papers.figures import Figure
from headtypes.papers.keys import NAMED, read_named
from headtypes.papers.registry import PAPERS

# Files by what each is of: model and partition, model and task, the way of clustering, a paper.
Keyed = Mapping[Any, str]

_COMPARED = [name for name in COLUMNS if name not in ("p", "p_holm")]


def collect_summary(
    inputs: Mapping[str, Keyed],
    captions: Sequence[str],
    *,
    page: str,
    models: Sequence[str],
    tasks: Sequence[str],
    generated: Sequence[str],
    atlases: Sequence[str],
    partitions: int,
    seed: int,
    provenance: dict,
) -> Summary:
    """Read what the summary shows.

    inputs:  files by name and by what they are of: comparisons (by paper), figures and tables as the papers declare
        them (`papers.figures`), partition, and compared_types.
    captions: of the figures, as reStructuredText.
    page:    where the page will lie.
    models, tasks, partitions: what was run; generated: the tasks whose data are.
    atlases: the models that have a page of every head.
    Raises `InputError` that names a damaged file.
    """
    folder = Path(page).parent
    by_stem = {Path(path).stem: path for path in captions}

    def pictures(of: Iterable[Figure]) -> list[Picture]:
        return [
            picture_of(
                _titled(figure, wildcards),
                png,
                caption_of(by_stem[figure.caption], wildcards),
                _relative(Path(png).with_suffix(".pdf"), folder),
            )
            for figure in of
            for key, png in inputs[figure.name].items()
            for wildcards in [dict(zip(figure.of, key, strict=True))]
        ]

    papers, sentences = [], []
    for name, paper in PAPERS.items():
        table, judged = _compared(inputs["comparisons"].get(name), paper.subject, folder)
        headline = sum(it.model == judged[0].model for it in judged) if paper.judges_tasks else 1
        shown = [
            found.in_brief(_relative(path, folder))
            for tables in paper.tables
            for key, path in inputs[tables.name].items()
            for found in tables.shown(path, *key)
        ]
        papers.append(Paper(name, paper.authors, paper.full_title, judged, shown, pictures(paper.figures), headline))
        for it in judged[:headline]:
            sentences += [findings.verdict_sentence(paper.authors, it), paper.finding(table, (it.model, it.other))]
    return Summary(
        title=_title(models),
        run=f"{join(models)} on {join(tasks)}{_said_of(generated)}; heads divided into types {_times(partitions)}.",
        findings=list(filter(None, _findings(inputs, sentences))),
        papers=[paper for paper in papers if paper.judged or paper.tables or paper.pictures],
        both=pictures([COMPARED_TYPES]),
        atlases=[(model, f"atlas/{model}.html") for model in atlases],
        files=list(_files(inputs, folder)),
        made=facts(provenance, folder, seed),
    )


def _titled(figure: Figure, wildcards: Mapping[str, str]) -> str:
    of = ", ".join(wildcards[name] for name in ("model", "partition", "task", "clustering") if name in wildcards)
    return f"{figure.title}: {of}"


def _said_of(generated: Sequence[str]) -> str:
    return f" (the data of {join(generated)} are generated)" if generated else ""


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _title(models: Sequence[str]) -> str:
    return f"The attention heads of {models[0]}" if len(models) == 1 else f"The attention heads of {len(models)} models"


def _compared(path: str | None, key: str, folder: Path) -> tuple[pd.DataFrame | None, list[Judged]]:
    if path is None:
        return None, []
    table = read_csv(path, "compares nothing with a paper", ["model", key, *_COMPARED], rows=0, **NAMED)
    return table, judged_subjects(table, key, _relative(path, folder))


def _findings(inputs: Mapping[str, Keyed], verdicts: Iterable[str | None]) -> Iterable[str | None]:
    first = next(iter(inputs["ablations"].values()), None)
    costs = None if first is None else read_named(first, "partition", "condition")
    for (model, name), path in inputs["partition"].items():
        partition = read_partition(path)
        if costs is not None:
            yield findings.costs_sentence(costs, model, name, partition.types)
        yield findings.types_sentence(model, partition)
    yield from verdicts
    for (model, _), path in inputs["compared_types"].items():
        yield findings.compared_types_sentence(read_compared_types(path), model)


def _files(inputs: Mapping[str, Keyed], folder: Path) -> Iterable[tuple[str, list[str]]]:
    named = {
        "Values and claims of the papers beside ours": ("comparisons",),
        **{f"Tables of {paper.authors}": [it.name for it in paper.tables] for paper in PAPERS.values()},
        "Types of heads": ("partition",),
        "Types beside random heads": ("compared_types",),
    }
    for about, names in named.items():
        if files := [_relative(path, folder) for name in names for path in inputs[name].values()]:
            yield about, files
    yield "All tables and figures (snakemake --report)", ["report.html"]
    yield "The configuration, and what made each result", ["provenance/config.json", "provenance/"]


def _relative(path: str | Path, folder: Path) -> str:
    return Path(os.path.relpath(path, folder)).as_posix()
