"""A deposit's study and its files, collected from the results of an experiment."""

import json
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path

from headtypes.core.errors import InputError
from headtypes.deposit.card import Author, Study, card
from headtypes.deposit.citation import citation
from headtypes.deposit.parts import Part, code_parts_of, left_out_text, made_by, results_of, workflow_parts
from headtypes.deposit.sources import sources_of
from headtypes.pages.summary.page import Summary
from headtypes.pages.summary.results import collect_summary
from headtypes.planning.config.schema import Config
from headtypes.planning.provenance import recorded
from headtypes.planning.tools.jobs import Job


def collect(
    jobs: Sequence[Job],
    config: Config,
    root: Path,
    *,
    configfile: str,
    authors: Sequence[Author],
    license: str,
    title: str | None = None,
    published: date | None = None,
    private: bool = False,
) -> tuple[Study, list[Part]]:
    """What is said about a deposit, and its files.

    jobs:   of the whole experiment, all of which have run; config: of them; root: the folder of the workflow.
    configfile: the path of its configuration in that folder.
    title, published: by default the title of the page of all results, and the day of the last result.
    private: whether it holds texts and weights, too, and is not to be given away.
    Raises `InputError` where the page of all results is not among the jobs, or a result that it is made of is damaged.
    """
    made = made_by(jobs)
    parts, left_out = results_of(jobs, private)
    summary = _summary(jobs)
    study = Study(
        title=title or summary.title,
        authors=authors,
        license=license,
        published=published or made.ended.date(),
        summary=summary,
        made=made,
        sources=sources_of(made.sources, config),
        left_out=left_out,
        private=private,
    )
    parts += [
        Part("README.md", card(study), "what was found, with which verdicts, and what must not be concluded"),
        Part("CITATION.cff", citation(study), "how to cite this deposit"),
        Part("left_out.csv", left_out_text(left_out), "the results that are not given away, and why"),
        *code_parts_of(jobs),
        *workflow_parts(root, config, configfile),
    ]
    return study, parts


def _summary(jobs: Iterable[Job]) -> Summary:
    job = next((job for job in jobs if job.stage == "write_summary"), None)
    if job is None:
        raise InputError("A deposit is made of a whole experiment; leave out the targets.")
    spec, (page,) = json.loads(job.spec), job.outputs
    return collect_summary(job.named, job.named["captions"], page=page, **spec, provenance=recorded(page))
