"""What Snakemake would do, as plain data: the jobs of its plan, and which of them would run."""

import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr
from dataclasses import dataclass
from functools import partial
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Any

from internals import locked, remember, workflow_of
from snakemake.api import SnakemakeApi
from snakemake.cli import parse_args, parse_config
from snakemake.exceptions import LockException
from snakemake.settings.types import ConfigSettings, DAGSettings, OutputSettings, ResourceSettings, WorkflowSettings
from snakemake.workflow import Workflow

SCRIPTS = Path(__file__).resolve().parents[1] / "workflow_scripts"
sys.path.insert(0, str(SCRIPTS))

from headtypes.planning.locks import attach_run, run_beside  # noqa: E402

from headtypes.core.errors import InputError  # noqa: E402
from headtypes.planning.config.files import read_keys  # noqa: E402
from headtypes.planning.config.schema import Config  # noqa: E402
from headtypes.planning.keyed import by_key  # noqa: E402
from headtypes.planning.plan import Plan  # noqa: E402
from headtypes.planning.tools.jobs import Job  # noqa: E402
from headtypes.planning.tools.notes import notes_on  # noqa: E402


@dataclass(frozen=True)
class Planned:
    """What a `snakemake` command would do: every job of this workflow, producers before consumers, and the cores.

    configs: the configuration of each folder of results; there are several where another workflow uses this one
        several times.
    notes: what a user should know of it, in sentences.
    """

    jobs: list[Job]
    configs: dict[Path, Config]
    cores: int
    notes: list[str]


def planned(arguments: list[str]) -> Planned:
    """Plan a `snakemake` command with these arguments; nothing runs.

    Ends the program with Snakemake's own message where the plan cannot be made, or with ours where a file is no YAML.
    """
    with _workflow(arguments) as workflow:
        return _planned(workflow)


@contextmanager
def planned_to_write(arguments: list[str]) -> Iterator[tuple[Planned, Callable[[set[str]], None]]]:
    """Plan a `snakemake` command, and keep other runs out of the folder until the block ends.

    Yields the plan, and what has Snakemake remember that it has made some results as they are planned.
    Raises `InputError` where a run is alive in the folder.
    """
    with _workflow(arguments) as workflow:
        attach_run()
        if sentence := run_beside():
            raise InputError(sentence)
        with ExitStack() as held:
            try:
                held.enter_context(locked(workflow))
            except LockException as error:
                raise InputError(
                    f"Another run works in {Path.cwd()}; wait until it has ended, and try again."
                ) from error
            yield _planned(workflow), partial(remember, workflow)


def _planned(workflow: Workflow) -> Planned:
    dag = workflow.dag
    scheduled = set(dag.needrun_jobs(exclude_finished=False))
    jobs = [
        Job(
            rule=job.rule.name,
            wildcards=dict(job.wildcards_dict),
            spec=job.params.spec,
            code=job.params.code,
            script=script,
            inputs=tuple(map(str, job.input)),
            named={name: _files(files) for name, files in job.input.items()}
            | by_key(job.input, getattr(job.params, "keyed", "{}")),
            outputs=tuple(map(str, job.output)),
            benchmark=None if job.benchmark is None else str(job.benchmark),
            threads=job.threads,
            gpu=bool(job.resources.get("gpu")),
            of=job.params.stage,
            mem_mb=_known(job.resources.get("mem_mb")),
            runs=job in scheduled,
            reasons=tuple(dag.reason(job).get_names()) if job in scheduled else (),
            newer=tuple(sorted(map(str, dag.reason(job).updated_input))) if job in scheduled else (),
        )
        for level in dag.toposorted()
        for job in sorted(level, key=lambda job: (job.rule.name, list(job.wildcards)))
        if (script := _script_of(job.rule)) is not None
    ]
    uses = list(_uses(workflow.globals))
    configs = {results: config for results, config, _ in uses}
    notes = dict.fromkeys(note for *_, notes in uses for note in notes)
    return Planned(jobs, configs, workflow.resource_settings.cores, list(notes))


def _files(named: Any) -> tuple[str, ...]:
    """The files of a named input, which is one file or a list."""
    return (str(named),) if isinstance(named, str) else tuple(map(str, named))


def _known(resource: Any) -> int | None:
    """A resource of a job; None where the job has none, or none that is known before its inputs exist."""
    return resource if isinstance(resource, int) else None


def _script_of(rule: Any) -> Path | None:
    """The script of a rule of this workflow; None for a mere target, and for rules of a workflow that uses this one."""
    script = rule.script and SCRIPTS / Path(rule.script).name
    return script if script and Path(str(rule.basedir), rule.script).resolve() == script else None


def _uses(namespace: dict[str, Any]) -> Iterator[tuple[Path, Config, list[str]]]:
    """Folder of results, configuration and notes on this workflow, or on each of its uses as a module."""
    if isinstance(plan := namespace.get("plan"), Plan):
        yield namespace["folder_of_results"](), plan.config, notes_on(plan, namespace["layers"])
    for value in list(namespace.values()):
        if isinstance(value, ModuleType) and vars(value).get("workflow") is namespace["workflow"]:
            yield from _uses(vars(value))


@contextmanager
def _workflow(arguments: list[str]) -> Iterator[Any]:
    said = StringIO()
    try:
        with redirect_stderr(said):
            _, settings = parse_args(["--dry-run", *arguments])
    except SystemExit:
        # Of an argument that Snakemake does not have.
        print(said.getvalue().splitlines()[-1], file=sys.stderr)
        raise
    configfiles = [Path(file).resolve() for file in settings.configfile or []]
    snakefile = Path(settings.snakefile or SCRIPTS.parent / "Snakefile").resolve()
    if settings.directory:
        # Made as Snakemake makes it, and not left again, since the results are read afterwards.
        Path(settings.directory).mkdir(parents=True, exist_ok=True)
        os.chdir(settings.directory)
    errors_alone = OutputSettings(dryrun=True, log_level_override=logging.ERROR, enable_file_logging=False)
    for file in [SCRIPTS.parent / "config.yaml", *configfiles]:
        # Snakemake's own message names neither the file nor the line.
        try:
            if not file.is_file():
                raise InputError(f"--configfile: there is no file {file}.")
            read_keys(file)
        except InputError as error:
            sys.exit(str(error))
    with SnakemakeApi(errors_alone) as api:
        try:
            workflow = api.workflow(
                resource_settings=ResourceSettings(
                    cores=settings.cores or os.cpu_count(),
                    max_threads=settings.max_threads,
                    resources=settings.resources,
                    overwrite_threads=settings.set_threads,
                    overwrite_resource_scopes=settings.set_resource_scopes,
                    overwrite_resources=settings.set_resources,
                    default_resources=settings.default_resources,
                ),
                config_settings=ConfigSettings(
                    config=parse_config(settings.config),
                    configfiles=configfiles,
                    replace_workflow_config=settings.replace_workflow_config,
                ),
                workflow_settings=WorkflowSettings(consider_ancient=settings.consider_ancient),
                snakefile=snakefile,
            )
            dag = workflow.dag(
                DAGSettings(
                    targets=set(settings.targets),
                    target_jobs=settings.target_jobs,
                    batch=settings.batch,
                    allowed_rules=settings.allowed_rules,
                    until=settings.until,
                    omit_from=settings.omit_from,
                    forcetargets=settings.force,
                    forceall=settings.forceall,
                    forcerun=settings.forcerun,
                    rerun_triggers=settings.rerun_triggers,
                    force_incomplete=settings.rerun_incomplete,
                    max_checksum_file_size=settings.max_checksum_file_size,
                )
            )
            dag.execute_workflow(pseudo_executor="dryrun")
        except Exception as error:
            api.print_exception(error)
            if sentence := run_beside():
                print(f"{sentence} That run may be the reason; try again after it.", file=sys.stderr)
            sys.exit(1)
        yield workflow_of(workflow)


def ending_with_its_pipe() -> None:
    """Let a command whose output is cut off, as by `| head`, end as other programs do."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
