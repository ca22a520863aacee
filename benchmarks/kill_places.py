"""Where `kills.py` kills runs: working directories, the disks they lie on, and the hosts that work in them.

A power cut, a full disk and another host are the kernel's own, not imitations: an ext4 on a loop device that is shut
down, so that what had not reached it is gone; a small tmpfs; and namespaces with another host name and another boot id.
They need Linux and root.
"""

import contextlib
import fcntl
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import uuid
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.workflow.replay import differences

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
STILL_ALIVE = "A job of a killed run is still alive in this directory"
# What a run says of another host's; what it tells to delete stands in one sentence.
IN_USE = "This directory is in use by"
_DELETE = re.compile(r"if it does not, delete (.+?)\.$", re.M)
_BOOT = Path("/proc/sys/kernel/random/boot_id")
# EXT4_IOC_SHUTDOWN, and its flag that leaves the journal as it is on the disk.
_SHUTDOWN, _NO_FLUSH = 0x8004587D, 2
# Metadata reach the disk every second and data later, which is the harshest that ext4 does.
_EXT4 = "loop,commit=1,noauto_da_alloc"


@dataclass(frozen=True)
class Host:
    """What runs are started on.

    python: what runs jobs and our commands. within: the command that starts a run there; none for this host.
    seen: where it sees the folder that holds working directories; None: where it is.
    """

    python: str = sys.executable
    within: tuple[str, ...] = ()
    seen: Path | None = None


def other_host(name: str, folder: Path) -> tuple[str, ...]:
    """A command that starts what follows it on another host, whose boot id is put into a folder."""
    boot = folder / f"boot-id-of-{name}"
    boot.write_text(f"{uuid.uuid4()}\n")
    script = f'hostname {name} && mount --bind {boot} {_BOOT} && exec "$@"'
    return ("unshare", "--uts", "--mount", "sh", "-c", script, "sh")


@contextlib.contextmanager
def disk(kind: str, folder: Path) -> Iterator[None]:
    """A folder on a file system of its own: ext4 or tmpfs."""
    folder.mkdir()
    image = folder.with_suffix(".img")
    if kind == "ext4":
        with open(image, "wb") as file:
            file.truncate(256 << 20)
        subprocess.run(["mkfs.ext4", "-q", "-F", image], check=True)
        subprocess.run(["mount", "-o", _EXT4, image, folder], check=True)
    else:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16M", "none", folder], check=True)
    try:
        yield
    finally:
        _unmount(folder)
        image.unlink(missing_ok=True)


def cut_power(folder: Path) -> None:
    """Let nothing more reach the disk of a folder, neither what is written from now on nor what waits in memory."""
    opened = os.open(folder, os.O_RDONLY)
    fcntl.ioctl(opened, _SHUTDOWN, struct.pack("I", _NO_FLUSH))
    os.close(opened)


def power_again(folder: Path) -> None:
    """Mount what has reached the disk; the markers of runs and jobs are those of an earlier start of this host."""
    _unmount(folder)
    image, cut = folder.with_suffix(".img"), folder.with_suffix(".cut")
    # The dead disk lives on, as long as anything else on this host has it mounted or open.
    image.rename(cut)
    subprocess.run(["cp", "--sparse=always", cut, image], check=True)
    cut.unlink()
    subprocess.run(["mount", "-o", _EXT4, image, folder], check=True)
    for mark in (folder / ".snakemake/alive").glob("*"):
        mark.write_text(mark.read_text().replace(_BOOT.read_text().strip(), str(uuid.uuid4())))
        os.utime(mark, (1, 1))


def fill(folder: Path, rng: random.Random) -> None:
    """Leave no room on the disk of a folder, or only little."""
    with open(folder / "ballast", "wb", buffering=0) as ballast:
        with contextlib.suppress(OSError):
            while True:
                ballast.write(bytes(1 << 16))
        ballast.truncate(max(0, ballast.tell() - rng.choice((0, 0, 1 << 12, 1 << 14, 1 << 16))))


def empty(folder: Path) -> None:
    """Make room again."""
    (folder / "ballast").unlink()


@contextlib.contextmanager
def seen_again(folder: Path, elsewhere: Path) -> Iterator[None]:
    """A folder also elsewhere, where the locks of its files are others."""
    elsewhere.mkdir()
    subprocess.run(["bindfs", folder, elsewhere], check=True)
    try:
        yield
    finally:
        _unmount(elsewhere)


def _unmount(folder: Path) -> None:
    # What has been killed a moment ago may still hold a file.
    subprocess.run(["umount", "--lazy", folder], check=True)


class Place:
    """A working directory."""

    def __init__(self, folder: Path, config: dict, targets: tuple[str, ...], python: str = sys.executable):
        """Make it, with a config; targets: the results that a run makes; python: what runs jobs and our commands."""
        self.folder, self.targets, self.here = folder, targets, Host(python)
        # Beside it, since what the disk does to the working directory should not happen to them.
        self.config, self._printed = folder.with_suffix(".yaml"), folder.with_suffix(".printed")
        folder.mkdir(exist_ok=True)
        self.configure(config)

    def configure(self, config: dict) -> None:
        """Give it another config."""
        self.config.write_text(yaml.safe_dump(config))

    def arguments(self, *further: str, host: Host | None = None) -> list[str]:
        """Those of Snakemake."""
        seen = self.folder if host is None or host.seen is None else host.seen / self.folder.name
        place = ["--directory", str(seen), "--configfile", str(self.config)]
        return ["--snakefile", str(ROOT / "Snakefile"), "--cores", "2", *place, *further, "--", *self.targets]

    def started(self, host: Host | None = None, second: bool = False) -> subprocess.Popen:
        """A run, in a process group of its own; what it prints goes to a file; second: to that of a second run."""
        host = host or self.here
        program = f"import sys; sys.executable = {host.python!r}; from snakemake.cli import main; main()"
        with open(self._file_of(second), "w") as printed:
            return subprocess.Popen(
                [*host.within, sys.executable, "-c", program, *self.arguments(host=host)],
                cwd=ROOT,
                env=ENVIRONMENT,
                stdout=printed,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def printed(self, second: bool = False) -> str:
        """What the last run, or the second one beside it, has printed."""
        return self._file_of(second).read_text()

    def _file_of(self, second: bool) -> Path:
        return self._printed.with_suffix(".second") if second else self._printed

    def finish(self) -> None:
        """Run to the end; a job of a killed run, or a marker of another host's, may hold this back for a while."""
        for _ in range(20):
            if self.started().wait() == 0:
                return
            if not self.delete_as_told() and STILL_ALIVE not in self.printed():
                break
        sys.exit(f"A run fails:\n{self.printed()[-3000:]}")

    def delete_as_told(self, second: bool = False) -> bool:
        """Delete the markers that the last run named, as it tells those who know that their host is gone.

        returns whether it named any.
        """
        named = " ".join(_DELETE.findall(self.printed(second))).split()
        for name in named:
            (self.folder / name).unlink(missing_ok=True)
        return bool(named)

    def jobs(self) -> list[int]:
        """The processes of jobs that are alive."""
        return [int(mark.name.split(".")[-2]) for mark in self._marks()]

    def hosts(self) -> set[str]:
        """The names of the hosts on which jobs are alive."""
        return {mark.name.split(".")[1] for mark in self._marks()}

    def _marks(self) -> list[Path]:
        marks = (self.folder / ".snakemake/alive").glob("job.*")
        return [mark for mark in marks if alive(int(mark.name.split(".")[-2]))]

    def finished(self) -> dict[str, int]:
        """The time of each result that has a record and that Snakemake does not take for unfinished."""
        folder = self.folder / "results/provenance"
        unfinished = set()
        for mark in (self.folder / ".snakemake/incomplete").glob("*"):
            with contextlib.suppress(ValueError):
                unfinished.add(urlsafe_b64decode(mark.name).decode())
        results = [file.relative_to(folder).as_posix().removesuffix(".json") for file in folder.rglob("*.json")]
        paths = [f"results/{name}" for name in results if not name.startswith(("code/", "config"))]
        return {
            path: (self.folder / path).stat().st_mtime_ns
            for path in paths
            if path not in unfinished and (self.folder / path).is_file()
        }

    def findings(self, reference: Path) -> list[str]:
        """What is not as in a run that nobody has killed."""
        found = [f"{file} differs" for file in differences(reference / "results", self.folder / "results")]
        left = [file for file in (self.folder / "results").rglob(".*") if file.name != ".snakemake_timestamp"]
        found += [f"{file} is left" for file in left]
        options = {"cwd": ROOT, "env": ENVIRONMENT, "capture_output": True, "text": True}
        place = ["--directory", str(self.folder), "--configfile", str(self.config)]
        audit = subprocess.run([self.here.python, "commands/audit.py", *place], **options)
        found += [line for line in audit.stdout.splitlines() if line.startswith(("damaged ", "foreign ", "stale "))]
        planned = subprocess.run([self.here.python, "-m", "snakemake", *self.arguments("--dry-run")], **options)
        if "Nothing to be done" not in planned.stdout + planned.stderr:
            found.append("Snakemake would run jobs")
        return found

    def begin_anew(self) -> None:
        """Remove all results."""
        shutil.rmtree(self.folder / "results")


def alive(process: int) -> bool:
    """Whether a process is there and not a zombie."""
    try:
        return not re.search(r"\) Z ", Path(f"/proc/{process}/stat").read_text())
    except OSError:
        return False


def signal_to(process: int, which: signal.Signals) -> None:
    """Send a signal to a process that may have ended."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, which)
