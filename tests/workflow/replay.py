"""The jobs of a workflow once more, in another order than Snakemake's, and what comes out otherwise.

    python -m tests.workflow.replay [--figures] FOLDER CONFIG... [-- TARGET...]

runs the jobs of a configuration (files laid over one another) in a folder, or those of some targets, each in a fresh
fork of a process that has loaded the libraries. Figures are left out unless they are asked for: drawing takes as long
as all the rest.
"""

import os
import runpy
import subprocess
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from snakemake.api import SnakemakeApi
from snakemake.settings.types import ConfigSettings, DAGSettings, OutputSettings, ResourceSettings

from headtypes.planning.code import NOT_COUNTED, covered_files, loaded_modules
from headtypes.planning.plan import STAGES
from headtypes.planning.provenance import recorded
from tests.support.places import ROOT, SCRIPTS
from tests.support.planning import workflow_of

FIGURES = {"plot_gradients", "plot_sentences", "write_summary"}
# What jobs load, so that a fork has little left to load.
LIBRARIES = ("matplotlib.backends.backend_agg", "pandas", "sklearn.cluster", "torch", "transformers.models.bert")


def replay(folder: Path, configs: Sequence[Path], targets: Iterable[str] = (), figures: bool = False) -> None:
    for library in LIBRARIES:
        __import__(library)
    with SnakemakeApi(OutputSettings(dryrun=True, enable_file_logging=False)) as api:
        workflow = api.workflow(
            resource_settings=ResourceSettings(cores=2),
            config_settings=ConfigSettings(configfiles=configs),
            snakefile=ROOT / "Snakefile",
            workdir=folder,
        )
        workflow.dag(DAGSettings(forceall=True, targets=set(targets))).execute_workflow(pseudo_executor="dryrun")
        for job in _last_first(workflow_of(workflow).dag):
            if figures or job.rule.name not in FIGURES:
                _run(job)


def _last_first(dag: Any) -> list[Any]:
    """The jobs in an order in which inputs come first, and else what Snakemake plans last."""
    waiting = [job for job in dag.jobs if not job.rule.norun]
    ordered: list[Any] = []
    while waiting:
        ready = [job for job in waiting if not set(dag.dependencies[job]) & set(waiting)]
        ordered.append(ready[-1])
        waiting.remove(ready[-1])
    return ordered


def _run(job: Any) -> None:
    for file in job.products():
        Path(file).parent.mkdir(parents=True, exist_ok=True)
    process = os.fork()
    if not process:
        status = 1
        try:
            forget_ours()
            work(job)
            status = 0
        except SystemExit as ended:
            status = int(bool(ended.code))
            if isinstance(ended.code, str):
                print(ended.code, file=sys.stderr, flush=True)
        finally:
            sys.stdout.flush()
            os._exit(status)
    if os.waitpid(process, 0)[1]:
        sys.exit(f"{job} failed")
    if missing := [file for file in job.output if not os.path.exists(file)]:
        sys.exit(f"{job} has not made {missing}")
    if missed := uncovered(recorded(job.output[0])):
        sys.exit(f"{job}: the hash of its code does not cover {', '.join(sorted(missed))}")
    for folder in (file for file in job.output if file.is_directory):
        # As Snakemake does.
        Path(folder, ".snakemake_timestamp").touch()


def work(job: Any) -> None:
    import torch
    from threadpoolctl import threadpool_limits

    torch.set_num_threads(job.threads)
    threadpool_limits(job.threads)
    names = ("input", "output", "params", "wildcards", "threads", "resources", "log")
    snakemake = SimpleNamespace(rule=job.rule.name, **{name: getattr(job, name) for name in names})
    runpy.run_path(str(SCRIPTS / "call.py"), {"snakemake": snakemake}, "__main__")


def forget_ours() -> None:
    for name in [name for name in sys.modules if f"{name}.".startswith("headtypes.")]:
        del sys.modules[name]


def uncovered(record: dict) -> set[str]:
    """The modules of ours that a job has loaded although an edit of them would not run it again, by its record."""
    covered = covered_files(loaded_modules(STAGES[record["rule"]].calls, record["spec"]))
    files = {name: SCRIPTS / f"{name.replace('.', '/')}.py" for name in {*record["modules"]} - _of_any_job()}
    # Folders have no code of their own.
    return {name for name, file in files.items() if file.is_file() and file not in covered}


@cache
def _of_any_job() -> set[str]:
    program = f"import sys, call, {', '.join(sorted(NOT_COUNTED))}; print(*sys.modules)"
    environment = {**os.environ, "PYTHONPATH": str(SCRIPTS)}
    run = subprocess.run([sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, check=True)
    return set(run.stdout.decode().split())


if __name__ == "__main__":
    figures = sys.argv[1] == "--figures"
    folder, *others = sys.argv[1 + figures :]
    end = others.index("--") if "--" in others else len(others)
    replay(Path(folder), [Path(config) for config in others[:end]], others[end + 1 :], figures)
