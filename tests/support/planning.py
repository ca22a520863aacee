"""Snakemake in fresh processes that have imported it and nothing of ours: its command, and a dry run as plain data."""

import contextlib
import io
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.commands import OFFLINE


@dataclass(frozen=True)
class Job:
    rule: str
    wildcards: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    """Files, with the benchmark; a folder ends in a slash."""
    script: str
    parameters: dict[str, Any]
    scheduled: bool

    @property
    def key(self) -> tuple[str, ...]:
        return (self.rule, *self.wildcards)


def snakemake(arguments: Sequence[str | Path], folder: Path, *, check: bool = True, **environment: str) -> str:
    """Run the command in a folder, as `tests.support.commands.run` would in a second less; return what it printed."""
    variables = {**os.environ, **OFFLINE, **environment}
    status, printed = _processes().submit(_command, [*map(str, arguments)], folder, variables).result()
    assert status == 0 or not check, f"snakemake {arguments}\n{printed[-6000:]}"
    return printed


def _command(arguments: list[str], folder: Path, environment: dict[str, str]) -> tuple[int, str]:
    from snakemake.cli import main

    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    with tempfile.TemporaryFile("w+") as printed:
        # Processes of jobs print there, too.
        for stream in (sys.stdout, sys.stderr):
            os.dup2(printed.fileno(), stream.fileno())
        try:
            main(arguments)
        except SystemExit as ended:
            status = ended.code
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        printed.seek(0)
        return status, printed.read()


def planned_jobs(folder: Path) -> list[Job]:
    return _in_a_fresh_process(_jobs, folder)


def pretend(folder: Path) -> None:
    """Make every output of the workflow in a folder, empty, and let Snakemake record that the jobs have run."""
    for job in planned_jobs(folder):
        for output in job.outputs:
            file = folder / output
            (file if output.endswith("/") else file.parent).mkdir(parents=True, exist_ok=True)
            if not output.endswith("/"):
                file.touch()
    take_as_made(folder)


def take_as_made(folder: Path, *targets: str) -> None:
    """Let Snakemake record that jobs have made what is there: those that these targets need, or all."""
    _in_a_fresh_process(_touch, folder, targets)


@cache
def _processes() -> ProcessPoolExecutor:
    context = multiprocessing.get_context("forkserver")
    snakemake = ("api", "cli", "executors.dryrun", "executors.touch", "report.html_reporter", "storage", "workflow")
    context.set_forkserver_preload(["pandas", "pydantic", "yaml", *(f"snakemake.{name}" for name in snakemake)])
    return ProcessPoolExecutor(1, context, max_tasks_per_child=1)


def _in_a_fresh_process(action: Callable, folder: Path, *arguments: Any) -> Any:
    return _processes().submit(_act, action, folder, *arguments).result()


def _act(action: Callable, folder: Path, *arguments: Any) -> Any:
    os.chdir(folder)
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            return action(*arguments)
    except (Exception, SystemExit) as error:
        raise RuntimeError(f"{printed.getvalue()}\n{type(error).__name__}: {error}") from None


def workflow_of(api: Any) -> Any:
    """The workflow behind Snakemake's API, which shows neither its rules nor, once something is planned, its jobs."""
    return api._workflow


@contextlib.contextmanager
def _workflow(forceall: bool = False, targets: Iterable[str] = ()) -> Iterator[tuple[Any, Any]]:
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
        yield workflow_of(workflow), workflow.dag(settings)


def _jobs() -> list[Job]:
    with _workflow() as (workflow, dag):
        dag.execute_workflow(pseudo_executor="dryrun")
        scheduled = set(workflow.dag.needrun_jobs())
        order = {rule: place for place, rule in enumerate(workflow.rules)}
        jobs = [
            (
                order[job.rule],
                Job(
                    job.rule.name,
                    tuple(map(str, job.wildcards)),
                    tuple(map(str, job.input)),
                    (
                        *(f"{file}/" if file.is_directory else str(file) for file in job.output),
                        *map(str, filter(None, [job.benchmark])),
                    ),
                    str(job.rule.script),
                    dict(job.params.items()),
                    job in scheduled,
                ),
            )
            for job in workflow.dag.jobs
            if not job.rule.norun
        ]
    return [job for _, job in sorted(jobs, key=lambda each: (each[0], each[1].wildcards))]


def _touch(targets: Iterable[str]) -> None:
    from snakemake.executors.touch import Executor

    Executor.SLEEPING_TIME = 0.0
    with _workflow(forceall=True, targets=targets) as (_, dag):
        dag.execute_workflow(pseudo_executor="touch")
