"""Results on disk, from which the summary is made."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from headtypes.analyses.types.partitions import read_partition
from headtypes.comparisons.models.compared import read_pairs
from headtypes.comparisons.types.table import read_joined
from headtypes.core.table_files import read_csv
from headtypes.core.tables import Shown, Table
from headtypes.pages.summary import figures, findings
from headtypes.pages.summary.made import facts
from headtypes.pages.summary.page import Paper, Summary
from headtypes.pages.summary.pictures import Picture, caption_of, picture_of
from headtypes.pages.summary.tables import compared_table
from headtypes.pages.summary.verdicts import Judged, judged_subjects
from headtypes.papers.claims import join
from headtypes.papers.clark2019.language.table1 import relation_tables
from headtypes.papers.clark2019.language.table2 import coreference_tables
from headtypes.papers.clark2019.language.table3 import probe_tables
from headtypes.papers.comparison import COLUMNS
from headtypes.papers.guan2020.shown import ablation_shown, stability_shown
from headtypes.papers.keys import NAMED

Paths = Sequence[str]
# Files by what each is of: model and partition, model and task, or the way of clustering.
Keyed = Mapping[tuple[str, ...], str]


_CLARK_TABLES = {"relations": relation_tables, "coreference": coreference_tables, "probes": probe_tables}
_COMPARED = [name for name in COLUMNS if name not in ("p", "p_holm")]


def collect_summary(
    inputs: Mapping[str, Paths | Keyed],
    captions: Paths,
    *,
    page: str,
    models: Sequence[str],
    tasks: Sequence[str],
    atlases: Sequence[str],
    partitions: int,
    seed: int,
    provenance: dict,
) -> Summary:
    """Read what the summary shows.

    inputs:  files by name: guan and clark (comparisons), types, ablations (Tables 2 and 3), relations, coreference and
        probes (Clark's Tables 1 to 3); and by name and key: compared (any two models, by the way of clustering),
        partition, joined, and the figures (`figures.Figure.of`).
    captions: of the figures, as reStructuredText.
    page:    where the page will lie.
    models, tasks, partitions: what was run; atlases: the models that have a page of every head.
    Raises `InputError` that names a damaged file.
    """
    folder = Path(page).parent
    by_stem = {Path(path).stem: path for path in captions}

    def pictures(of: Iterable[figures.Figure]) -> list[Picture]:
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

    _, of_guan = _compared(inputs["guan"], "partition", folder)
    clark, of_clark = _compared(inputs["clark"], "task", folder)
    ablations = {path: _read(path, "partition", "condition") for path in inputs["ablations"]}
    of_each = {
        **{path: [stability_shown(_read(path, "partition"))] for path in inputs["types"]},
        **{path: ablation_shown(table, number) for number, (path, table) in enumerate(ablations.items(), start=2)},
        **{
            path: [compared_table(pairs, clustering)] if len(pairs := read_pairs(path)) else []
            for (clustering,), path in inputs["compared"].items()
        },
    }
    papers = [
        Paper(
            "guan",
            "Guan et al.",
            "Guan et al. 2020: How Far Does BERT Look At",
            of_guan,
            _in_brief(of_each, folder),
            pictures(figures.GUAN),
        ),
        Paper(
            "clark",
            "Clark et al.",
            "Clark et al. 2019: What Does BERT Look At?",
            of_clark,
            _in_brief(
                {path: of(_read(path, "task")) for name, of in _CLARK_TABLES.items() for path in inputs[name]}, folder
            ),
            pictures(figures.CLARK),
            # Its claims are about texts, a treebank and documents: tasks of one model.
            headline=sum(judged.model == of_clark[0].model for judged in of_clark),
        ),
    ]
    costs = next(iter(ablations.values()), None)
    return Summary(
        title=_title(models),
        run=f"{join(models)} on {join(tasks)}; heads divided into types {_times(partitions)}.",
        findings=list(_findings(inputs, costs, of_guan, of_clark, clark)),
        papers=[paper for paper in papers if paper.judged or paper.tables or paper.pictures],
        both=pictures([figures.JOINED]),
        atlases=[(model, f"atlas/{model}.html") for model in atlases],
        files=list(_files(inputs, folder)),
        made=facts(provenance, folder, seed),
    )


def _titled(figure: figures.Figure, wildcards: Mapping[str, str]) -> str:
    of = ", ".join(wildcards[name] for name in ("model", "partition", "task", "clustering") if name in wildcards)
    return f"{figure.title}: {of}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _title(models: Sequence[str]) -> str:
    return f"The attention heads of {models[0]}" if len(models) == 1 else f"The attention heads of {len(models)} models"


def _compared(paths: Paths, key: str, folder: Path) -> tuple[pd.DataFrame | None, list[Judged]]:
    if not paths:
        return None, []
    table = read_csv(paths[0], "compares nothing with a paper", ["model", key, *_COMPARED], rows=0, **NAMED)
    return table, judged_subjects(table, key, _relative(paths[0], folder))


def _read(path: str, *columns: str) -> pd.DataFrame:
    return read_csv(path, "is no such table", ["model", *columns], rows=0, **NAMED)


def _in_brief(tables: Mapping[str, Iterable[Table]], folder: Path) -> list[Shown]:
    """Tables by the file that has all of their columns."""
    return [table.in_brief(_relative(path, folder)) for path, of_file in tables.items() for table in of_file]


def _findings(inputs, costs, of_guan, of_clark, clark) -> Iterable[str]:
    for (model, name), path in inputs["partition"].items():
        partition = read_partition(path)
        if costs is not None and (sentence := findings.costs_sentence(costs, model, name, partition.types)):
            yield sentence
        yield findings.types_sentence(model, partition)
    if of_guan:
        yield findings.verdict_sentence("Guan et al.", of_guan[0])
    for judged in of_clark:
        if judged.model == of_clark[0].model:
            yield findings.verdict_sentence("Clark et al.", judged)
            if sentence := findings.sink_sentence(clark, judged):
                yield sentence
    for (model, _), path in inputs["joined"].items():
        if sentence := findings.joined_sentence(read_joined(path), model):
            yield sentence


def _files(inputs: Mapping[str, Paths | Keyed], folder: Path) -> Iterable[tuple[str, list[str]]]:
    named = {
        "Values and claims of the papers beside ours": ("guan", "clark"),
        "Guan's tables": ("types", "ablations"),
        "Clark's tables": tuple(_CLARK_TABLES),
        "Any two models": ("compared",),
        "Types of heads": ("partition",),
        "Types beside random heads": ("joined",),
    }
    for about, names in named.items():
        if files := [_relative(path, folder) for name in names for path in _paths(inputs[name])]:
            yield about, files
    yield "All tables and figures (snakemake --report)", ["report.html"]
    yield "The configuration, and what made each result", ["provenance/config.json", "provenance/"]


def _paths(files: Paths | Keyed) -> Iterable[str]:
    return files.values() if isinstance(files, Mapping) else files


def _relative(path: str | Path, folder: Path) -> str:
    return Path(os.path.relpath(path, folder)).as_posix()
