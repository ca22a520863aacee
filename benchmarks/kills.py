"""Are results lost or stale after kills at random moments? A small workflow is killed again and again.

    python benchmarks/kills.py [WAY...] [--kills 25] [--every 25] [--seed 1] [--longest 6]

Runs from anywhere, without network: a random BERT and six questions, with a model that is fine-tuned, types,
stability and ablation. The ways, each with as many kills:

- group: the whole process group of a run is killed, as when a terminal is closed, or by a batch system;
- snakemake: Snakemake alone is killed and its jobs are left; some are stopped beforehand and go on only once the next
  run has begun, and the config is edited in between;
- process: one job is killed, as where memory runs out, and Snakemake goes on to its end;
- machine: the power is cut: what had not reached the disk is gone, and the next run begins after another start of the
  machine, sometimes with an edited config;
- disk: the disk becomes full until the run has ended, and has room again for the next one;
- node: the host of a run is gone, and the next run is on another one: it deletes what it is told to delete;
- beside: a second run is started on another host beside a run, then the one that is left is killed as for `node`. On
  every other round the hosts do not see each other's file locks, as on NFS with locks of its own (by bindfs).

`machine`, `disk`, `node` and `beside` need root, and `beside` the program bindfs. After the kills of a round, the run
goes on to its end, and

- every result is compared with that of a run that nobody killed, in HDF5 by its data, else byte by byte;
- the audit finds nothing missing, damaged or stale, and Snakemake nothing to do;
- no temporary file is left.

After each kill, but in the way `snakemake`, it also looks whether anything that was finished at the kill before is gone
or was made again. Printed is a row for each round, with its seed; the exit status is 1 if anything was found.
"""

import argparse
import contextlib
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "workflow_scripts")]

from benchmarks.kill_places import (  # noqa: E402
    IN_USE,
    STILL_ALIVE,
    Host,
    Place,
    cut_power,
    disk,
    empty,
    fill,
    other_host,
    power_again,
    seen_again,
    signal_to,
)
from tests.support.models import tiny_bert  # noqa: E402
from tests.support.warm import python  # noqa: E402
from tests.workflow.conftest import squad_file  # noqa: E402

TARGETS = (
    "results/stability/made/animals-kmeans-k4.json",
    "results/ablation/made/animals-kmeans-k4/intervals.csv",
)
WAYS = ("group", "snakemake", "process", "machine", "disk", "node", "beside")
DISKS = {"machine": "ext4", "disk": "tmpfs"}
# How often a job is stopped before Snakemake is killed, and how often the config is edited after a kill.
STOPPED, EDITED = 0.3, {"snakemake": 0.2, "machine": 0.2}
# How long a run may take to end by itself, in seconds.
PATIENCE_S = 300


def configs(folder: Path) -> list[dict]:
    """Two configs that differ in what is learned and how heads are clustered; their data are put into a folder."""
    model, tokenizer = tiny_bert(layers=2, heads=4, head_size=4)
    for part in (model, tokenizer):
        part.save_pretrained(folder / "model")
    squad = str(squad_file(folder / "squad.json"))
    found = []
    for distance_bins, learning_rate in ((16, 1e-3), (8, 2e-3)):
        made = {"base": "tiny", "task": "animals", "epochs": 2.0, "batch_size": 2, "max_seq_length": 40}
        found.append(
            {
                "tasks": {"animals": {"source": {"file": squad, "training_file": squad}, "samples": 5}},
                "models": {
                    "tiny": {"source": {"folder": str(folder / "model")}, "tasks": ["animals"]},
                    "made": {
                        "source": {"finetuned": {**made, "learning_rate": learning_rate}},
                        "tasks": ["animals"],
                        "evaluate": "animals",
                    },
                },
                "windows": {"max_seq_length": 40, "doc_stride": 10, "max_query_length": 12},
                "clustering": {"restarts": 2, "distance_bins": distance_bins},
                "stability": {"models": 2},
                "controls": {"draws": 0},
                "curves": {"orders": 0},
                "select": {"models": ["made"], "tasks": ["animals"], "conditions": ["baseline", "zero-dense"]},
            }
        )
    return found


def wait(place: Place, run: subprocess.Popen, rng: random.Random, longest: float) -> None:
    """Let a run go on until some number of jobs, or none, have begun to work, and then for a while.

    Mostly for a short one: a job that only loads its libraries, as most do that are hit at any time, can harm nothing.
    """
    seen: set[int] = set()
    jobs, end = rng.choice((0, 1, 1, 2, 3)), time.monotonic() + 300
    while run.poll() is None and len(seen) < jobs and time.monotonic() < end:
        seen.update(place.jobs())
        time.sleep(0.02)
    end = time.monotonic() + longest * rng.random() ** 3
    while run.poll() is None and time.monotonic() < end:
        time.sleep(0.02)


class Round:
    """Some kills in a working directory, and what came of them."""

    def __init__(self, place: Place, way: str, seed: int, longest: float, hosts: tuple[Host, ...] = ()):
        """way: one of `WAYS`; longest: seconds after the start of a job; hosts: for `node` and `beside`, two."""
        self.place, self.way, self.longest = place, way, longest
        self.hosts = hosts or (place.here,)
        self.rng = random.Random(f"{way} {seed}")
        self.found: list[str] = []
        self.counts = dict.fromkeys(("kills", "jobs killed or left", "edits", "held back", "refused"), 0)
        self._stopped: list[int] = []
        # What was finished at the last kill, and at the last edit, after which it may be made again.
        self._before: dict[str, int] = {}
        self._old: dict[str, int] = {}

    def play(self, kills: int, choices: list[dict], references: list[Path]) -> None:
        """Kill runs, and let the last one go to its end.

        choices: the configs, of which the place has the first; references: folders in which a run made everything
        undisturbed, in their order.
        """
        which = 0
        while self.counts["kills"] < kills:
            run = self.place.started(self._host())
            wait(self.place, run, self.rng, self.longest)
            if run.poll() is None:
                self._kill(run)
                if self.way != "snakemake":
                    self._compare()
                if self.rng.random() < EDITED.get(self.way, 0) and len(choices) > 1:
                    which, self._before, self._old = 1 - which, {}, self.place.finished()
                    self.counts["edits"] += 1
                    self.place.configure(choices[which])
            elif run.returncode == 0:
                # Everything was made before the kill, so it begins anew.
                self._go_on()
                self.found += self.place.findings(references[which])
                self.place.begin_anew()
                self._before = {}
            elif not self._is_told_why():
                return
        self._go_on()
        self.place.finish()
        self.found += self.place.findings(references[which])

    def _host(self, other: bool = False) -> Host:
        """The host of the next run: by turns, so that whatever a run finds is another host's."""
        return self.hosts[(self.counts["kills"] + other) % len(self.hosts)]

    def _is_told_why(self) -> bool:
        """Whether a run that has ended by itself said what to do, which is then done."""
        self._go_on()
        if self.place.delete_as_told():
            self.counts["refused"] += 1
        elif STILL_ALIVE in self.place.printed():
            self.counts["held back"] += 1
        else:
            self._tell("a run failed")
            return False
        return True

    def _kill(self, run: subprocess.Popen) -> None:
        while not (working := self.place.jobs()) and self.way == "process":
            if run.poll() is not None:
                return
            time.sleep(0.02)
        self.counts["kills"] += 1
        self.counts["jobs killed or left"] += len(working)
        if self.way == "snakemake":
            if working and self.rng.random() < STOPPED:
                self._stopped.append(self.rng.choice(working))
                signal_to(self._stopped[-1], signal.SIGSTOP)
            run.kill()
            run.wait()
        elif self.way == "process":
            signal_to(self.rng.choice(working), signal.SIGKILL)
            self._ends(run)
        elif self.way == "machine":
            cut_power(self.place.folder)
            self._all_killed(run)
            power_again(self.place.folder)
        elif self.way == "disk":
            fill(self.place.folder, self.rng)
            self._ends(run)
            empty(self.place.folder)
        else:
            if self.way == "beside":
                run = self._beside(run)
            self._all_killed(run)

    def _all_killed(self, run: subprocess.Popen) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(run.pid, signal.SIGKILL)
        run.wait()
        while self.place.jobs():  # Until they are gone.
            time.sleep(0.01)

    def _ends(self, run: subprocess.Popen) -> None:
        """Wait for a run that has to end by itself, and with sentences of ours."""
        try:
            run.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._tell("a run does not end")
        self._all_killed(run)
        if re.search(r'File ".*/headtypes/', self.place.printed()):
            self._tell("a traceback")

    def _beside(self, first: subprocess.Popen) -> subprocess.Popen:
        """Start a second run on the other host; return the one that is left once one of them was refused."""
        second = self.place.started(self._host(), second=True)
        end = time.monotonic() + PATIENCE_S
        while first.poll() is None and second.poll() is None and time.monotonic() < end:
            if len(hosts := self.place.hosts()) > 1:
                self.found.append(f"jobs of {' and '.join(sorted(hosts))} work side by side")
                break
            time.sleep(0.02)
        for run, is_second in ((first, False), (second, True)):
            if run.poll() not in (None, 0):
                self.counts["refused"] += 1
                if IN_USE not in self.place.printed(is_second):
                    self._tell("a run beside another failed", is_second)
        left = first if first.poll() is None else second
        wait(self.place, left, self.rng, self.longest)
        self._all_killed(first if left is second else second)
        return left

    def _compare(self) -> None:
        """Look whether what was finished at the kill before is as it was."""
        now = self.place.finished()
        self.found += [f"{path} was lost" for path in self._before if not (self.place.folder / path).exists()]
        self.found += [f"{path} was made again" for path, at in self._before.items() if now.get(path, at) != at]
        self._before = {path: at for path, at in now.items() if self._old.get(path) != at}

    def _tell(self, what: str, second: bool = False) -> None:
        """Keep a finding with the end of what a run has printed."""
        self.found.append(f"{what}: {' '.join(self.place.printed(second)[-2500:].split())}")

    def _go_on(self) -> None:
        """Let stopped processes go on, and forget them."""
        while self._stopped:
            signal_to(self._stopped.pop(), signal.SIGCONT)


def main() -> int:
    """Play the rounds and print a row for each; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ways", nargs="*", metavar="WAY", help=f"of {', '.join(WAYS)}; all of them if none is given")
    parser.add_argument("--kills", type=int, default=25, help="of each way")
    parser.add_argument("--every", type=int, default=25, help="kills of one round")
    parser.add_argument("--seed", type=int, default=1, help="of the first round; the others count on from it")
    parser.add_argument("--longest", type=float, default=6, help="seconds after the start of a job, at most")
    asked = parser.parse_args()
    asked.ways = asked.ways or list(WAYS)
    if strange := set(asked.ways) - set(WAYS):
        parser.error(f"{', '.join(strange)}: the ways are {', '.join(WAYS)}")
    bad = 0
    with contextlib.ExitStack() as opened:
        base = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        folder, choices, references = base / "places", configs(base / "inputs"), []
        folder.mkdir()
        warm = python()
        within = other_host("node7", base)
        if "beside" in asked.ways:
            opened.enter_context(seen_again(folder, base / "seen"))
        # It sees only what is mounted when it starts.
        other = Host(python(*within), within) if {"node", "beside"} & set(asked.ways) else None
        for number, config in enumerate(choices):
            reference = Place(base / f"reference-{number}", config, TARGETS, warm)
            reference.finish()
            references.append(reference.folder)
        print("| killed | seed | kills | jobs killed or left | edits | runs held back | refused | found |")
        print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |", flush=True)
        rounds = [(way, start) for start in range(0, asked.kills, asked.every) for way in asked.ways]
        for number, (way, start) in enumerate(rounds):
            place = folder / f"round-{number}"
            with disk(DISKS[way], place) if way in DISKS else contextlib.nullcontext():
                hosts = (Host(warm), other) if way in ("node", "beside") else ()
                if way == "beside" and start // asked.every % 2:
                    hosts = (Host(warm), replace(other, seen=base / "seen"))
                seed = asked.seed + number
                played = Round(Place(place, choices[0], TARGETS, warm), way, seed, asked.longest, hosts)
                played.play(min(asked.every, asked.kills - start), choices, references)
            values = [way, seed, *played.counts.values(), "; ".join(played.found) or "nothing"]
            print(f"| {' | '.join(map(str, values))} |", flush=True)
            bad += len(played.found)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
