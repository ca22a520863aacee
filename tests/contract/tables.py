"""What an edit schedules, as the contract has it: by the table of leaves, and by what follows from the plan.

`leaves.yaml` has a row for every leaf of the full configuration (tests/support/configs.py): another value, and the jobs
whose spec changes when the leaf takes it. A row is written by hand, since a table that was generated promises nothing.
What runs besides follows from the plans before and after the edit (`expected`).
"""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from tests.support.configs import edited, leaves
from tests.support.planning import Job, PlanningError, planned_jobs
from tests.support.workplace import Workplace

# Why a job runs, as `tests.support.planning.Job.reason` has it.
REASONS = ("new", "spec", "code", "input", "follow")

Row = dict[str, Any]


def leaf_rows() -> dict[str, Row]:
    """The table of leaves, by path."""
    return yaml.safe_load(Path(__file__).with_name("leaves.yaml").read_text(encoding="utf-8"))


def leaf_paths(config: dict) -> list[str]:
    """The leaves that need a row: all values, and none for a mapping that is empty."""
    return [path for path, value in leaves(config).items() if value != {}]


def with_leaf(config: dict, inputs: Path, path: str, value: Any) -> dict:
    """The configuration with another value of a leaf; where it names a file, one of the folder of inputs."""
    is_path = path.endswith(("file", "/folder"))
    return edited(config, path, str(inputs / value) if is_path else value)


def by_reason(jobs: Iterable[Job], named: bool = False) -> Row:
    """The number of jobs of each rule, and paper, for each reason; named: of each condition, where a rule has some."""
    names = [(job.reason, job.name if named or "paper" in job.rule else job.rule) for job in jobs]
    counted = {why: Counter(name for reason, name in names if reason == why) for why in REASONS}
    return {why: dict(jobs) for why, jobs in counted.items() if jobs}


def expected(before: list[Job], after: list[Job]) -> dict[tuple, str]:
    """Why each job of a plan has to run, when all jobs of the plan before have run: {(rule, wildcards): reason}.

    A job is new where it has outputs that none had; else its own spec or code has changed, or its inputs or their keys;
    else it follows a job that runs.
    """
    made = {output: job for job in before for output in job.outputs}
    producers = {output.rstrip("/"): job for job in after for output in job.outputs}
    reasons: dict[tuple, str | None] = {}

    def reason(job: Job) -> str | None:
        if job.key not in reasons:
            reasons[job.key] = _own_reason(job, [made.get(output) for output in job.outputs]) or (
                "follow" if any(reason(producers[path]) for path in job.inputs if path in producers) else None
            )
        return reasons[job.key]

    return {job.key: why for job in after if (why := reason(job))}


def _own_reason(job: Job, makers: list[Job | None]) -> str | None:
    if None in makers:
        return "new"
    (earlier,) = {maker.key: maker for maker in makers}.values()
    for name in ("spec", "code"):
        if job.parameter(name) != earlier.parameter(name):
            return name
    other = set(job.inputs) != set(earlier.inputs) or job.parameter("keyed") != earlier.parameter("keyed")
    return "input" if other else None


def observed(place: Workplace) -> list[Job] | str:
    """The jobs of a workplace, with the reasons for which they run; or the sentence that refuses its configuration."""
    try:
        return planned_jobs(place.folder)
    except PlanningError as error:
        _, _, sentence = str(error).partition("WorkflowError: config: ")
        if not sentence:
            raise
        return sentence.replace(f"{place.folder}/inputs/", "").splitlines()[0]


def reasons_of(jobs: Iterable[Job]) -> dict[tuple, str]:
    """Why each job runs, of those that do."""
    return {job.key: job.reason for job in jobs if job.reason is not None}
