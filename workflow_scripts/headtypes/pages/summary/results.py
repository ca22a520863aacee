"""Results on disk, from which the summary is made."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from headtypes.analyses.types.partitions import Partition, read_partition
from headtypes.attention.settings import Of
from headtypes.comparisons.types.table import read_compared_types
from headtypes.core.files import StrPath, read_json
from headtypes.core.table_files import read_csv
from headtypes.core.tables import Shown
from headtypes.pages.ledger.page import alone, claims_in_brief
from headtypes.pages.summary import findings
from headtypes.pages.summary.answers import Answers, matter_card, number_card, types_card
from headtypes.pages.summary.cautions import cautions
from headtypes.pages.summary.figures import COMPARED_TYPES
from headtypes.pages.summary.page import Paper, Summary
from headtypes.pages.summary.pictures import Picture, caption_of, picture_of
from headtypes.pages.summary.run_facts import facts
from headtypes.pages.summary.verdicts import Judged, judged_subjects
from headtypes.papers.claims import join
from headtypes.papers.comparison import COLUMNS, NAMED, read_named
from headtypes.papers.ledger.models import read_over_models
from headtypes.papers.paper import Figure, Tables
from headtypes.papers.registry import PAPERS

# Files by what each is of: model and partition, model and task, the way of clustering, a paper.
Keyed = Mapping[Any, str]

_COMPARED = [name for name in COLUMNS if name not in ("p", "p_holm", "over")]


def collect_summary(
    inputs: Mapping[str, Keyed],
    captions: Sequence[str],
    *,
    page: str,
    models: Sequence[str],
    tasks: Sequence[str],
    atlases: Sequence[str],
    partitions: Sequence[Mapping[str, Any]],
    hubs: Sequence[str],
    finetuned: Sequence[str],
    seed: int,
    provenance: dict,
    untyped: Mapping[str, Sequence[str]] | None = None,
    tested: Sequence[str] = (),
) -> Summary:
    """Read what the summary shows. Raises `InputError` that names a damaged file.

    inputs:  files by name and by what they are of: comparisons (by paper), figures and tables as the papers declare
        them (`papers.paper`), partition, stability, compared_types and ledger; and references, the papers' data.
    captions: of the figures, as reStructuredText; page: where the page will lie.
    models, tasks: what was run; partitions: model, partition, and k of each, where clustering made it; of, where that
        was by norms; and the files of its results by what they are, which are linked and not read.
    atlases: the models that have a page of every head; hubs and finetuned as in `cautions`.
    untyped: files of models whose heads are not divided into types, by what they are; tested: models beside these that
        detectors alone have read.
    """
    folder = Path(page).parent
    types = {key: read_partition(path) for key, path in inputs["partition"].items()}
    costs = next((read_named(path, "partition", "condition") for path in inputs["ablations"].values()), None)
    answers = [_answers(inputs, types, costs, folder, **partition) for partition in partitions]
    # Those with most answers first, else in the plan's order.
    answers.sort(key=lambda it: -it.measured)
    by_stem = {Path(path).stem: path for path in captions}

    def pictures(of: Iterable[Figure]) -> list[Picture]:
        return [
            picture_of(
                f"{figure.title}: {', '.join(key)}",
                png,
                caption_of(by_stem[figure.caption], wildcards),
                _relative(Path(png).with_suffix(".pdf"), folder),
            )
            for figure in of
            for key, png in inputs[figure.name].items()
            for wildcards in [dict(zip(figure.of, key, strict=True))]
        ]

    def tables(of: Iterable[Tables]) -> list[Shown]:
        return [
            shown.in_brief(_relative(path, folder))
            for declared in of
            for key, path in inputs[declared.name].items()
            for shown in declared.shown(path, *key)
        ]

    published = {Path(path).stem: yaml.safe_load(Path(path).read_text("utf-8")) for path in inputs["references"]}
    papers, sentences = [], []
    for name, paper in PAPERS.items():
        table, judged = _compared(inputs["comparisons"].get(name), paper.subject, folder)
        headline = sum(subject.model == judged[0].model for subject in judged) if paper.judges_tasks else 1
        shown, figures = tables(paper.tables), pictures(paper.figures)
        url = published[name]["url"] if name in published else ""
        title = f"{paper.authors} {paper.title}"
        papers.append(Paper(name, paper.authors, title, url, judged, shown, figures, headline))
        for subject in judged[:headline]:
            finding = paper.finding(table, (subject.model, subject.other))
            sentences += [findings.verdict_sentence(paper.authors, subject), finding]
    first = [(shown.model, shown.partition) for shown in answers[:1]]
    sentences += [_compared_types(inputs, key) for key in inputs[COMPARED_TYPES.name] if key not in first]
    doubtful = {", ".join(key): it.doubtful for key, it in types.items() if it.doubtful}
    theirs = [paper["model"] for paper in published.values()]
    return Summary(
        title=f"The attention heads of {models[0] if len(models) == 1 else f'{len(models)} models'}",
        run=_run(models, tasks, partitions, tested),
        answers=answers,
        cautions=list(cautions(papers, doubtful, theirs, hubs, costs, finetuned)),
        findings=[*(answers[0].sentences if answers else ()), *filter(None, sentences)],
        papers=[paper for paper in papers if paper.judged or paper.tables or paper.pictures],
        apart=pictures([COMPARED_TYPES]),
        ledger=[_ledger(path, folder) for path in inputs["ledger"].values()],
        atlases=[(model, f"atlas/{model}.html") for model in atlases],
        files=[
            *((about, [_relative(file, folder) for file in files]) for about, files in (untyped or {}).items()),
            *_files(inputs, folder),
        ],
        made=list(facts(provenance, folder, seed)),
    )


def _run(
    models: Sequence[str],
    tasks: Sequence[str],
    partitions: Sequence,
    tested: Sequence[str],
) -> str:
    if not tasks:
        return f"{join(models)} on random tokens."
    beside = f" On random tokens alone: {join(tested)}." if tested else ""
    return f"{join(models)} on {join(tasks)}; heads divided into types {_times(partitions)}.{beside}"


def _times(partitions: Sequence) -> str:
    times = "once" if len(partitions) == 1 else f"{len(partitions)} times"
    by_norms = sum(it.get("of") == "norms" for it in partitions)
    of_these = "" if by_norms == len(partitions) else f"{by_norms} of these "
    return f"{times}, {of_these}by norms" if by_norms else times


def _ledger(path: str, folder: Path) -> Shown:
    claims = read_over_models(path)
    table = claims_in_brief(claims).in_brief(_relative(path, folder))
    return replace(table, about=alone(int(claims["families"].max())))


def _compared(path: str | None, key: str, folder: Path) -> tuple[pd.DataFrame | None, list[Judged]]:
    if path is None:
        return None, []
    table = read_csv(path, "compares nothing with a paper", ["model", key, *_COMPARED], rows=0, **NAMED)
    return table, judged_subjects(table, key, _relative(path, folder))


def _answers(
    inputs: Mapping[str, Keyed],
    types: Mapping[tuple[str, str], Partition],
    costs: pd.DataFrame | None,
    folder: Path,
    *,
    model: str,
    partition: str,
    k: int | None,
    results: Mapping[str, Sequence[str]],
    of: Of = "weights",
) -> Answers:
    key, heads = (model, partition), types[model, partition]
    stability = None
    # What decides each question.
    decides: list[list[str]] = [[], [], list(inputs["ablations"].values())[:1]]
    if k is not None:
        decides[:2] = [[inputs["stability"][key]]] * 2
        stability = read_json(inputs["stability"][key])
    files = [[_relative(path, folder) for path in paths] for paths in decides]
    figures = [(about, path) for about, paths in results.items() for path in paths if path.endswith(".png")]
    tables = [(about, [path for path in paths if not path.endswith(".png")]) for about, paths in results.items()]
    counted = findings.types_sentence(model, heads)
    sentences = [
        None if costs is None else findings.costs_sentence(costs, model, partition, heads.types),
        counted,
        _compared_types(inputs, key),
    ]
    return Answers(
        model,
        partition,
        [
            types_card(heads, stability, files[0]),
            number_card(k, stability and stability["chosen"], files[1]),
            matter_card(costs, model, partition, heads, files[2]),
        ],
        list(filter(None, sentences)),
        {about: (_relative(png, folder), _relative(Path(png).with_suffix(".pdf"), folder)) for about, png in figures},
        {about: [_relative(path, folder) for path in paths] for about, paths in tables if paths},
        counted,
        of,
    )


def _compared_types(inputs: Mapping[str, Keyed], key: tuple[str, str]) -> str | None:
    path = inputs["compared_types"].get(key)
    return path and findings.compared_types_sentence(read_compared_types(path), key[0])


def _files(inputs: Mapping[str, Keyed], folder: Path) -> Iterable[tuple[str, list[str]]]:
    named = {
        "Values and claims of the papers beside ours": ("comparisons",),
        "How often each claim holds": ("ledger",),
        **{f"Tables of {paper.authors}": [tables.name for tables in paper.tables] for paper in PAPERS.values()},
        "Types of heads": ("partition",),
        "Types beside random heads": ("compared_types",),
    }
    for about, names in named.items():
        if files := [_relative(path, folder) for name in names for path in inputs[name].values()]:
            yield about, files
    yield "All tables and figures (snakemake --report)", ["report.html"]
    yield "The configuration, and what made each result", ["provenance/config.json", "provenance/"]


def _relative(path: StrPath, folder: Path) -> str:
    return Path(os.path.relpath(path, folder)).as_posix()
