"""A Slurm of one node and one GPU on the loopback address, in a folder of its own, outside of which nothing lies."""

import contextlib
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

DAEMONS = ("munged", "slurmctld", "slurmd")
CORES, MEMORY_MB = 4, 64000
SECONDS_TO_START = 60
SECONDS_TO_STOP = 30
ENDED = ("COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL")

# The node has as many cores and as much memory as is written here, whatever the machine has. Memory is looked at every
# second, and a job that uses more than it asked for is killed; one over its time limit within half a minute.
SETTINGS = """\
ClusterName=tests
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=15
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
MailProg=/bin/true
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
AccountingStorageType=accounting_storage/none
OverTimeLimit=0
KillWait=2
MinJobAge=3600
ReturnToService=1
PropagateResourceLimits=NONE
SchedulerParameters=sched_interval=2,bf_interval=2,batch_sched_delay=0
SlurmdParameters=config_overrides
GresTypes=gpu
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} RealMemory={memory} Gres=gpu:1 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


@dataclass(frozen=True)
class Slurm:
    """A running Slurm; `environment` is what a process needs to find it."""

    folder: Path
    node: str
    environment: dict[str, str]

    def ask(self, *command: str) -> str:
        run = subprocess.run(command, capture_output=True, text=True, env=self.environment, timeout=60)
        assert run.returncode == 0, f"{command}: {run.stderr}"
        return run.stdout.strip()

    def states(self) -> dict[str, str]:
        return dict(line.split() for line in self.ask("squeue", "--states=all", "-ho", "%i %T").splitlines())

    def jobs_of(self, rule: str, workdir: Path) -> list[str]:
        lines = self.ask("squeue", "--states=all", "--sort=i", "-ho", "%i %k %Z").splitlines()
        return [
            job
            for job, comment, folder in map(str.split, lines)
            if Path(folder) == workdir and re.match(rf"rule_{rule}(_wildcards_|$)", comment)
        ]

    def about(self, job: str) -> str:
        return self.ask("scontrol", "show", "job", job)

    def told(self, job: str, what: str) -> str:
        """What Slurm tells of a job under a name such as TimeLimit."""
        return re.search(rf"\b{what}=(\S*)", self.about(job))[1]

    def processes_of(self, job: str, name: str) -> dict[int, dict[str, str]]:
        """The processes of a job whose command line names a file, with their environments."""
        found = {}
        for process in processes_of(self):
            # It may end while we look.
            with contextlib.suppress(OSError):
                variables = Path(f"/proc/{process}/environ").read_text().split("\0")
                environment = dict(each.split("=", 1) for each in variables if "=" in each)
                if environment.get("SLURM_JOB_ID") == job and name in Path(f"/proc/{process}/cmdline").read_text():
                    found[process] = environment
        return found

    def overrun(self, job: str, name: str) -> None:
        """Let a job's processes that name a file hang, and the time of the job be over."""
        for process in self.processes_of(job, name):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGSTOP)
        self.ask("scontrol", "update", f"JobId={job}", "EndTime=now")

    def node_down(self) -> None:
        self.ask("scontrol", "update", f"NodeName={self.node}", "State=DOWN", "Reason=test")

    def node_up(self) -> None:
        self.ask("scontrol", "update", f"NodeName={self.node}", "State=RESUME")
        until(lambda: self.ask("sinfo", "-ho", "%T") in ("idle", "mixed", "allocated"), "the node to be back", 30)


def until(true: Callable[[], object], what: str, seconds: float) -> None:
    """Wait until something is true; a `TimeoutError` after that many seconds says what was waited for."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds} seconds for {what}")
        time.sleep(0.2)


def missing() -> list[str]:
    return [name for name in DAEMONS if daemon(name) is None]


def daemon(name: str) -> str | None:
    """Where a daemon is; an ordinary user's path may not lead there."""
    return shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")


def install() -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    command = ["apt-get", "--option", "DPkg::Lock::Timeout=120", "--quiet"]
    wanted = ["install", "--yes", "--no-install-recommends", "slurm-wlm", "munge"]
    for step in (["update"], wanted):
        subprocess.run([*command, *step], check=True, capture_output=True, text=True, env=environment, timeout=600)


@contextlib.contextmanager
def running(folder: Path) -> Iterator[Slurm]:
    """Start a Slurm in an empty folder with a short path; afterwards nothing of it runs any more, nor of its jobs."""
    slurm = _configured(folder)
    with contextlib.ExitStack() as stack:
        stack.callback(_kill_what_is_left, slurm)
        _start_daemons(slurm, stack)
        stack.callback(_cancel_all, slurm)
        until(lambda: slurm.ask("sinfo", "-ho", "%T") == "idle", "the node", SECONDS_TO_START)
        yield slurm


def _configured(folder: Path) -> Slurm:
    for name in ("state", "spool", "bin"):
        (folder / name).mkdir(parents=True)
    # munged wants everybody to reach its socket.
    folder.chmod(0o755)
    key = folder / "munge.key"
    key.touch(mode=0o600)
    key.write_bytes(secrets.token_bytes(128))
    host = socket.gethostname().partition(".")[0]
    controller_port, node_port = _free_ports(2)
    settings = SETTINGS.format(
        host=host, folder=folder, controller_port=controller_port, node_port=node_port, cores=CORES, memory=MEMORY_MB
    )
    (folder / "slurm.conf").write_text(settings)
    (folder / "gres.conf").write_text("Name=gpu File=/dev/null\n")
    _wrap_srun(folder)
    # A Slurm of the machine's own, or a job of it in which the tests run, is nothing to ours.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM_", "SBATCH_"))}
    environment |= {"SLURM_CONF": f"{folder}/slurm.conf", "PATH": f"{folder}/bin:{os.environ['PATH']}"}
    return Slurm(folder, host, environment)


def _wrap_srun(folder: Path) -> None:
    """Tell srun, inside jobs, where the settings are: Snakemake's executor keeps SLURM_CONF from it."""
    wrapper = folder / "bin" / "srun"
    wrapper.write_text(f'#!/bin/sh\nSLURM_CONF={folder}/slurm.conf exec {shutil.which("srun")} "$@"\n')
    wrapper.chmod(0o755)


def _free_ports(number: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def _start_daemons(slurm: Slurm, stack: contextlib.ExitStack) -> None:
    folder = slurm.folder
    munge = [f"--{part}-file={folder}/munge.{part}" for part in ("key", "log", "pid", "seed")]
    _start(slurm, stack, "munged", "--foreground", "--force", f"--socket={folder}/munge.socket", *munge)
    until((folder / "munge.socket").exists, "munged", SECONDS_TO_START)
    _start(slurm, stack, "slurmctld", "-D", "-c", "-f", f"{folder}/slurm.conf")
    until(lambda: _answers(slurm), "slurmctld", SECONDS_TO_START)
    _start(slurm, stack, "slurmd", "-D", "-f", f"{folder}/slurm.conf")


def _start(slurm: Slurm, stack: contextlib.ExitStack, name: str, *arguments: str) -> None:
    """Start a daemon that ends with this process, even if this process is killed."""
    with open(slurm.folder / f"{name}.out", "wb") as out:
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "TERM", daemon(name), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            env=slurm.environment,
        )
    stack.callback(_stop, process)


def _stop(process: subprocess.Popen) -> None:
    process.terminate()
    try:
        process.wait(SECONDS_TO_STOP)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _answers(slurm: Slurm) -> bool:
    return subprocess.run(["sinfo"], capture_output=True, env=slurm.environment, timeout=60).returncode == 0


def _cancel_all(slurm: Slurm) -> None:
    """Leave no job; one whose node has gone is killed with the rest."""
    slurm.ask("scancel", "--user=root")
    with contextlib.suppress(TimeoutError):
        until(lambda: not slurm.ask("squeue", "-h"), "jobs to end", SECONDS_TO_STOP)


def _kill_what_is_left(slurm: Slurm) -> None:
    for process in processes_of(slurm):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def processes_of(slurm: Slurm) -> list[int]:
    """The processes that were started with the settings of this Slurm: its daemons and its jobs."""
    mark = f"SLURM_CONF={slurm.folder}/slurm.conf".encode()
    found = []
    for file in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if mark in file.read_bytes().split(b"\0"):
                found.append(int(file.parent.name))
    return found
