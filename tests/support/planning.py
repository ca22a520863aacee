"""What Snakemake would run, and why: a dry run in a process of its own, brought back as plain data.

Each dry run is a fork of a process that has imported Snakemake and nothing of ours, so that it costs less than a start
of the command and carries over nothing from the dry run before.
"""

import contextlib
import gc
import inspect
import io
import json
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tests.support.internals import workflow_of
from tests.support.places import ROOT

_FORKS = multiprocessing.get_context("forkserver")
# What Snakemake and the rules import by the way.
_FORKS.set_forkserver_preload(
    [
        "nbformat",
        "pandas",
        "pydantic",
        "requests",
        "scipy.stats",
        "smart_open",
        "snakemake.api",
        "snakemake.executors.dryrun",
        "snakemake.executors.touch",
        "snakemake.report.html_reporter",
        "snakemake.storage",
        "snakemake.workflow",
        "yaml",
    ]
)
# Rules whose jobs are told apart by their last wildcard: a condition, or a paper.
NAMED_BY_LAST = {"evaluate_condition", "evaluate_controls", "compare_with_paper"}


class PlanningError(Exception):
    """The workflow could not be planned; the text is what Snakemake printed."""


@dataclass(frozen=True)
class Job:
    """A job of the workflow: what it makes, and whether and why it would run."""

    rule: str
    wildcards: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    """Files, with the benchmark; a folder ends in a slash."""
    parameters: tuple[tuple[str | None, str, str], ...]
    """Name, type and `repr` of each parameter."""
    reason: str | None
    """None where it would not run. `new`: an output is not there; `spec`, `code`: this parameter changed; `input`: it
    has other inputs, or under other keys, or one of them changed; `follow`: a job before it runs."""

    @property
    def name(self) -> str:
        """The rule; of an evaluation and its controls, with the condition; of a comparison, with the paper."""
        return f"{self.rule} {self.wildcards[-1]}" if self.rule in NAMED_BY_LAST else self.rule

    @property
    def key(self) -> tuple[str, ...]:
        """The rule and its wildcards, which no other job has."""
        return (self.rule, *self.wildcards)

    def parameter(self, name: str) -> str | None:
        """`repr` of a parameter; None where the job has none of this name."""
        return next((shown for known, _, shown in self.parameters if known == name), None)


@dataclass(frozen=True)
class Rule:
    """A rule of the workflow, as Snakemake has read it."""

    name: str
    runs: tuple[str, ...]
    """Which of script, shell, run, notebook, wrapper, cwl and template_engine it has; nothing for a mere target."""
    script: str | None
    parameters: tuple[tuple[str | None, tuple[str, ...] | None], ...]
    """Name, and the arguments of the function that gives it, or None for a plain value."""


def planned_jobs(folder: Path) -> list[Job]:
    """Every job of the workflow in a folder, as a plain `snakemake --dry-run` there sees it."""
    return [Job(*map(_tuples, fields)) for fields in _forked(_jobs, folder)]


def rules_of(folder: Path) -> list[Rule]:
    """The rules of the workflow in a folder."""
    return [Rule(*map(_tuples, fields)) for fields in _forked(_rules, folder)]


def jobs_of_another_python(folder: Path, hash_seed: int) -> list[Job]:
    """What `planned_jobs` gives in a Python that is started anew, in which sets have the order of a hash seed."""
    command = [sys.executable, "-m", "tests.support.planning"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": str(hash_seed)}
    run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if run.returncode:
        raise PlanningError(run.stderr)
    return [Job(*map(_tuples, fields)) for fields in json.loads(run.stdout)]


# A whole record, as `provenance.recorded` demands, of a result that one job made.
_RECORD = {"rule": "", "wildcards": {}, "spec": {}, "code": "", "sources": {}, "inputs": {}, "sha256": ""}
_RECORD |= {"packages": {}, "python": "", "threads": 1}


def pretend(folder: Path) -> None:
    """Make every output of the workflow in a folder, empty, and let Snakemake record that the jobs have run."""
    for job in planned_jobs(folder):
        for output in job.outputs:
            file = folder / output
            (file if output.endswith("/") else file.parent).mkdir(parents=True, exist_ok=True)
            if not output.endswith("/"):
                file.touch()
            beside = folder / "results/provenance" / f"{Path(output).relative_to('results')}.json"
            beside.parent.mkdir(parents=True, exist_ok=True)
            beside.write_text(json.dumps(_RECORD))
    take_as_made(folder)


def take_as_made(folder: Path, *targets: str) -> None:
    """Let Snakemake record that the jobs of the workflow in a folder have made what is there.

    targets: those that make these and what they are made from; all jobs, where there are none.
    """
    _forked(partial(_touch, targets), folder)


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list | tuple) else value


def _forked(action: Callable, folder: Path) -> Any:
    receiving, sending = _FORKS.Pipe(duplex=False)
    process = _FORKS.Process(target=_answer, args=(sending, action, str(folder)))
    process.start()
    sending.close()
    try:
        succeeded, answer = json.loads(receiving.recv())
    except EOFError:
        succeeded, answer = False, "the process died"
    process.join()
    if not succeeded:
        raise PlanningError(answer)
    return answer


def _answer(pipe: Any, action: Callable, folder: str) -> None:
    gc.disable()  # The process ends with its answer.
    os.chdir(folder)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            answer = True, action()
        except BaseException as error:
            answer = False, f"{printed.getvalue()}\n{type(error).__name__}: {error}"
    # As text, since Snakemake's strings carry objects of its own along.
    pipe.send(json.dumps(answer))


@contextlib.contextmanager
def _workflow(forceall: bool = False, targets: Iterable[str] = ()) -> Iterator[tuple[Any, Any]]:
    """Snakemake's own objects, with the settings that its command takes from `profiles/default`."""
    import yaml
    from snakemake.api import SnakemakeApi
    from snakemake.settings.types import DAGSettings, OutputSettings, Quietness, RerunTrigger, ResourceSettings

    profile = yaml.safe_load(Path("profiles/default/config.yaml").read_text())
    settings = DAGSettings(
        rerun_triggers=RerunTrigger.parse_choices_set(profile["rerun-triggers"]),
        force_incomplete=profile["rerun-incomplete"],
        forceall=forceall,
        targets=set(targets),
    )
    with SnakemakeApi(OutputSettings(quiet={Quietness.RULES, Quietness.PROGRESS}, dryrun=True)) as api:
        workflow = api.workflow(resource_settings=ResourceSettings(cores=2))
        dag = workflow.dag(settings)
        yield workflow_of(workflow), dag


def _jobs() -> list[tuple]:
    with _workflow() as (workflow, dag):
        dag.execute_workflow(pseudo_executor="dryrun")
        scheduled = set(workflow.dag.needrun_jobs())
        order = {rule: place for place, rule in enumerate(workflow.rules)}
        jobs = sorted((order[job.rule], tuple(job.wildcards), job) for job in workflow.dag.jobs if not job.rule.norun)
        return [
            (
                job.rule.name,
                wildcards,
                list(map(str, job.input)),
                [f"{file}/" if file.is_directory else file for file in job.output] + [*filter(None, [job.benchmark])],
                [(name, type(value).__name__, repr(value)) for name, value in _with_names(job.params)],
                _reason(workflow, job) if job in scheduled else None,
            )
            for _, wildcards, job in jobs
        ]


def _with_names(parameters: Any) -> list[tuple[str | None, Any]]:
    """Every parameter in its order, and None where it has no name."""
    names = {start: name for name, (start, _) in parameters._get_names()}
    return [(names.get(at), value) for at, value in enumerate(parameters)]


def _reason(workflow: Any, job: Any) -> str:
    """Why a job runs by its own; Snakemake itself does not ask where a job before it runs."""
    if not all(os.path.lexists(file) for file in job.output):
        return "new"
    old = set().union(*(workflow.persistence.params(file) or () for file in job.output))
    counted = {name: value for name, value in job.params.items() if value in job.non_derived_params}
    changed = [name for name, value in counted.items() if repr(value) not in old]
    if changed:
        return "input" if changed[0] in ("contents", "keyed") else changed[0]
    reason = workflow.dag.reason(job)
    return "input" if reason.updated_input or any(workflow.persistence.input_changed(job)) else "follow"


def _rules() -> list[tuple]:
    kinds = ("script", "shell", "run", "notebook", "wrapper", "cwl", "template_engine")
    with _workflow() as (workflow, _):
        return [
            (
                rule.name,
                [] if rule.norun else [kind for kind in kinds if getattr(rule, f"is_{kind}")],
                rule.script,
                [
                    (name, list(inspect.signature(value).parameters) if callable(value) else None)
                    for name, value in _with_names(rule.params)
                ],
            )
            for rule in workflow.rules
        ]


def _touch(targets: Iterable[str]) -> None:
    from snakemake.executors.touch import Executor

    Executor.SLEEPING_TIME = 0.0
    with _workflow(forceall=True, targets=targets) as (_, dag):
        dag.execute_workflow(pseudo_executor="touch")


if __name__ == "__main__":
    with contextlib.redirect_stdout(sys.stderr):
        planned = _jobs()
    json.dump(planned, sys.stdout)
