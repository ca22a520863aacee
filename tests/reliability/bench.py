"""Single jobs of a small workflow, each in a process of its own that a fault may kill.

    python -m tests.reliability.bench WORKFLOW

is started by `Bench`. It loads the libraries, plans the jobs of the workflow in a folder, and then runs those it is
asked for, each in a fork. It has a mount namespace of its own where the system allows that, so that a full or read-only
disk is a real one, and goes with it.
"""

import contextlib
import gc
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from headtypes.core.files import sha256_path
from headtypes.planning.provenance import beside, is_shard
from tests.reliability.disks import mounts_allowed, without_room, without_writing, writing_can_be_forbidden
from tests.support.internals import workflow_of
from tests.support.places import ROOT

# What happens while a job writes; `whole` is what it writes without a fault.
WHILE_WRITING = ("killed in the middle of a file", "killed between two files", "full disk", "disk turned read-only")
WHOLE = "whole"


class Bench:
    """The process that runs the jobs, seen from a test."""

    def __init__(self, workflow: Path, module: str = "tests.reliability.bench", more: Mapping[str, str] = {}):
        """workflow: a folder with a copy of the workflow and its config, where nothing has been made.

        module: what the process is; more: of its environment.
        """
        # A fork ends without letting go of its locks, of which Python 3.14 warns after what the job itself says.
        command = [sys.executable, "-W", "ignore:resource_tracker", "-m", module, str(workflow)]
        if mounts_allowed():
            command = ["unshare", "--mount", *command]
        environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", **more}
        environment["PYTHONPATH"] = f"{ROOT / 'workflow_scripts'}:{ROOT}"
        self._process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.jobs: dict[str, dict] = json.loads(self._process.stdout.readline())

    def run(self, job: str, folder: Path, how: str = "plainly") -> Any:
        """Have a job run in a folder, and return what came of it; see `_WAYS`."""
        print(json.dumps([how, job, str(folder)]), file=self._process.stdin, flush=True)
        answer = json.loads(self._process.stdout.readline())
        assert "failed" not in answer, answer["failed"]
        return answer

    def close(self) -> None:
        """End the process."""
        self._process.stdin.close()
        self._process.wait(timeout=60)


def planned(workflow: Path, ways: Iterable[int] = (1, 2)) -> dict[str, Any]:
    """Snakemake's jobs by name, producers first; those that share work, or join what was shared, end in `, shared`.

    ways: the numbers of shards; 1 for jobs that do not share.
    """
    from snakemake.api import SnakemakeApi
    from snakemake.settings.types import ConfigSettings, DAGSettings, OutputSettings, Quietness, ResourceSettings

    found: dict[str, Any] = {}
    for shards in ways:
        with SnakemakeApi(OutputSettings(quiet={Quietness.ALL}, dryrun=True, enable_file_logging=False)) as api:
            planning = api.workflow(
                resource_settings=ResourceSettings(cores=2),
                config_settings=ConfigSettings(config={"jobs": {"shards": shards}}),
                snakefile=workflow / "Snakefile",
                workdir=workflow,
            )
            planning.dag(DAGSettings(forceall=True)).execute_workflow(pseudo_executor="dryrun")
            for job in _in_order(workflow_of(planning).dag):
                if shards == 1:
                    found[_name(job)] = job
                elif any(map(is_shard, (*job.input, *job.output))):
                    found[f"{_name(job)}, shared"] = job
    return found


def _in_order(dag: Any) -> list[Any]:
    levels = (sorted(level, key=_name) for level in dag.toposorted())
    return [job for level in levels for job in level if not job.rule.norun]


def _name(job: Any) -> str:
    return " ".join([job.rule.name, *job.wildcards])


def _described(job: Any) -> dict:
    named = {name: [files] if isinstance(files, str) else list(files) for name, files in job.input.items()}
    inputs = {name: list(map(str, files)) for name, files in (named or {"": list(job.input)}).items()}
    return {
        "rule": job.rule.name,
        "inputs": {name: paths for name, paths in inputs.items() if paths},
        "outputs": list(job.output),
    }


def _plainly(job: Any, folder: str) -> dict:
    """Run a job: its exit status, negative for a signal, and what it printed."""
    return in_a_fork(folder, lambda: run_script(job))


def _read_only(job: Any, folder: str) -> dict:
    """Run a job where nothing can be written below results."""
    with without_writing(Path(folder, "results")):
        return _plainly(job, folder)


def _while_writing(job: Any, folder: str) -> dict[str, dict]:
    """Run a job; where it begins to write, it goes on once without a fault, and once with each of `WHILE_WRITING`.

    returns for each the status, what was printed, the files that are then there, and the digests of the outputs. So a
        job computes once; each of these is a fork of it, in a copy of its folder.
    """
    faults = [fault for fault in WHILE_WRITING if fault != "disk turned read-only" or writing_can_be_forbidden()]
    places = {name: Path(f"{folder}-{number}") for number, name in enumerate((WHOLE, *faults))}
    for place in places.values():
        shutil.copytree(folder, place, copy_function=os.link)
    with tempfile.TemporaryFile() as came, contextlib.ExitStack() as disks:
        disks.enter_context(without_room(places["full disk"]))
        if "disk turned read-only" in places:
            disks.enter_context(without_writing(places["disk turned read-only"] / "results"))

        def branch() -> None:
            for name, place in places.items():
                largest = max((file.stat().st_size for file in _outputs(job, places[WHOLE])), default=0)
                found = in_a_fork(str(place), lambda: _go_wrong(name, job, largest), returning=True)  # noqa: B023
                if found is None:
                    return
                os.write(came.fileno(), (json.dumps([name, found]) + "\n").encode())
            os._exit(0)

        ended = in_a_fork(folder, lambda: (_at_first_write(branch), run_script(job)))
        came.seek(0)
        found = dict(json.loads(line) for line in came.read().splitlines())
        for name, place in places.items():
            if name in found:
                found[name]["files"] = _files(place)
                found[name]["outputs"] = _contents(job, place)
    # It may have ended before it wrote anything.
    return {WHOLE: ended, **found}


def _go_wrong(fault: str, job: Any, largest: int) -> None:
    """Prepare this process for a fault; largest: bytes of the largest file that the job makes."""
    moved = 0
    if fault == "killed in the middle of a file" or (fault == "full disk" and not mounts_allowed()):
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest // 2, largest // 2))
    if fault == "killed in the middle of a file":
        # The kernel ends the process at the byte that is too many, as kill -9 does: nothing is cleaned up.
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    if fault == "killed between two files":
        ours = {os.path.abspath(path) for path in (*job.output, *(beside(path) for path in job.output))}
        # Before the last output, or before the record of the only one.
        last = max(len(job.output), 1 if any(map(is_shard, job.output)) else 2)

        def kill(event: str, arguments: tuple) -> None:
            nonlocal moved
            if event == "os.rename" and os.path.abspath(arguments[1]) in ours:
                moved += 1
                if moved == last:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(kill)


def _at_first_write(action: Callable[[], None]) -> None:
    """Do something when this process first makes, or makes sure of, a folder below results, as every write does."""
    waiting = True

    def watch(event: str, arguments: tuple) -> None:
        nonlocal waiting
        if waiting and event == "os.mkdir" and str(arguments[0]).startswith("results"):
            waiting = False
            action()

    sys.addaudithook(watch)


def in_a_fork(folder: str, action: Callable[[], Any], returning: bool = False) -> dict | None:
    """Do something in a fork, in a folder, and return its status and what it printed.

    returning: the fork itself returns, with None, after it has done it; so two processes come out of this.
    """
    # No file: a limit on the size of files would hold for what is printed, too.
    printed, printing = os.pipe()
    for end in (printed, printing):
        os.set_blocking(end, False)
    sys.stdout.flush()
    process = os.fork()
    if not process:
        os.chdir(folder)
        os.dup2(printing, 1)
        os.dup2(printing, 2)
        if returning:
            action()
            return None
        status = 1
        try:
            action()
            status = 0
        except SystemExit as ended:
            if isinstance(ended.code, str):
                print(ended.code, file=sys.stderr)
            status = int(bool(ended.code))
        finally:
            with contextlib.suppress(OSError):
                sys.stdout.flush()
            os._exit(status)
    os.close(printing)
    status, text = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), b""
    # Nothing was printed, and a process that the fork has started is still there.
    with contextlib.suppress(BlockingIOError):
        text = os.read(printed, 2**16)
    os.close(printed)
    return {"status": status, "printed": text.decode()}


def run_script(job: Any) -> None:
    from tests.workflow.replay import work

    work(job)


def _files(folder: Path) -> list[str]:
    return sorted(file.relative_to(folder).as_posix() for file in (folder / "results").rglob("*") if file.is_file())


def _outputs(job: Any, folder: Path) -> list[Path]:
    """The files that a job makes; of a folder, those in it."""
    made = [folder / path for path in job.output]
    return [file for path in made for file in (path.rglob("*") if path.is_dir() else [path]) if file.is_file()]


def _contents(job: Any, folder: Path) -> dict[str, str]:
    """Digests of the outputs that are there."""
    return {path: sha256_path(folder / path) for path in job.output if (folder / path).exists()}


_WAYS: dict[str, Callable] = {"plainly": _plainly, "read-only": _read_only, "while writing": _while_writing}


def serve(workflow: Path, requests: Iterable[str]) -> None:
    """Plan the jobs, then run those that are asked for: one line of JSON each way."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    from tests.support.warm import LIBRARIES

    for library in LIBRARIES:
        __import__(library)
    jobs = planned(workflow)
    # Ours too, so that a fork has nothing left to load.
    for module in sorted(ROOT.glob("workflow_scripts/headtypes/**/*.py")):
        # Triton is there for GPUs alone.
        with contextlib.suppress(ModuleNotFoundError):
            __import__(".".join(module.relative_to(ROOT / "workflow_scripts").with_suffix("").parts))
    # A fork that collected what all of these have made would copy its memory.
    gc.collect()
    gc.freeze()
    # Coarse, since what is tested is how results are written, five times each.
    sys.modules["headtypes.core.style"]._SETTINGS |= {"savefig.dpi": 20, "pdf.fonttype": 3}
    sys.modules["headtypes.analyses.types.choice"].COUNTS = (1, 2, 3)
    sys.modules["headtypes.training.copying"].train_model.__kwdefaults__["steps"] = 20
    sys.modules["headtypes.comparisons.types.table"].compare_types.__kwdefaults__["draws"] = 100
    sys.modules["headtypes.comparisons.types.table"]._DRAWS_EACH = 0
    print(json.dumps({name: _described(job) for name, job in jobs.items()}), file=answers)
    for request in requests:
        how, job, folder = json.loads(request)
        try:
            answer = _WAYS[how](jobs[job], folder)
        except Exception as error:
            answer = {"failed": repr(error)}
        print(json.dumps(answer), file=answers)


if __name__ == "__main__":
    serve(Path(sys.argv[1]), sys.stdin)
