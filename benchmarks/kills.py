"""Are results lost or stale after kills at random moments? A small workflow is killed again and again.

    python benchmarks/kills.py [--kills 100] [--every 25] [--seed 1] [--longest 6]

Runs from anywhere, without network: a random BERT and six questions, with a model that is fine-tuned, types,
stability and ablation. Half of the kills end the whole process group of a run (as a terminal that closes, or a batch
system), half end Snakemake alone and leave its jobs; of these, some are stopped beforehand and go on only once the next
run has begun, and the config is edited in between. After every 25 kills of one kind, the run goes on to its end, and

- every result is compared with that of a run that nobody killed, in HDF5 by its data, else byte by byte;
- the audit finds nothing missing, damaged or stale, and Snakemake nothing to do;
- no temporary file is left.

After each kill of a group it also looks whether the next run has made anything again that was finished. Printed is a
row for each round, with its seed; the exit status is 1 if anything was found.
"""

import argparse
import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from base64 import urlsafe_b64decode
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "workflow_scripts")]

from tests.support.models import tiny_bert  # noqa: E402
from tests.workflow.conftest import squad_file  # noqa: E402
from tests.workflow.replay import differences  # noqa: E402

TARGETS = (
    "results/stability/made/animals-kmeans-k4.json",
    "results/ablation/made/animals-kmeans-k4/intervals.csv",
)
WAYS = ("group", "snakemake")
# How often a job is stopped before Snakemake is killed, and how often the config is edited after that.
STOPPED, EDITED = 0.3, 0.2
ENVIRONMENT = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
STILL_ALIVE = "A job of a killed run is still alive in this directory"


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


class Place:
    """A working directory."""

    def __init__(self, folder: Path, config: dict, targets: tuple[str, ...] = TARGETS, python: str = sys.executable):
        """Make it, with a config; targets: the results that a run makes; python: what runs jobs and our commands."""
        self.folder, self.targets, self.python = folder, targets, python
        folder.mkdir()
        self.configure(config)

    def configure(self, config: dict) -> None:
        """Give it another config."""
        (self.folder / "kills.yaml").write_text(yaml.safe_dump(config))

    def arguments(self, *further: str) -> list[str]:
        """Those of Snakemake and of our commands."""
        place = ["--directory", str(self.folder), "--configfile", str(self.folder / "kills.yaml")]
        return ["--snakefile", str(ROOT / "Snakefile"), "--cores", "2", *place, *further, "--", *self.targets]

    def started(self) -> subprocess.Popen:
        """A run, in a process group of its own; what it prints goes to a file."""
        program = f"import sys; sys.executable = {self.python!r}; from snakemake.cli import main; main()"
        with open(self.folder / "printed", "w") as printed:
            return subprocess.Popen(
                [sys.executable, "-c", program, *self.arguments()],
                cwd=ROOT,
                env=ENVIRONMENT,
                stdout=printed,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def printed(self) -> str:
        """What the last run has printed."""
        return (self.folder / "printed").read_text()

    def finish(self) -> None:
        """Run to the end; a job of a killed run may hold this back for a while."""
        for _ in range(20):
            if self.started().wait() == 0:
                return
            if STILL_ALIVE not in self.printed():
                break
        sys.exit(f"A run fails:\n{self.printed()[-3000:]}")

    def jobs(self) -> list[int]:
        """The processes of jobs that are alive."""
        marks = (self.folder / ".snakemake/alive").glob("job.*")
        return [process for process in (int(mark.name.split(".")[-2]) for mark in marks) if alive(process)]

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
        audit = subprocess.run([self.python, "commands/audit.py", *self.arguments()], **options)
        found += audit.stdout.splitlines() if audit.returncode else []
        planned = subprocess.run([self.python, "-m", "snakemake", *self.arguments("--dry-run")], **options)
        if "Nothing to be done" not in planned.stdout + planned.stderr:
            found.append("Snakemake would run jobs")
        return found


def alive(process: int) -> bool:
    """Whether a process is there and not a zombie."""
    try:
        return not re.search(r"\) Z ", Path(f"/proc/{process}/stat").read_text())
    except OSError:
        return False


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


def play(
    place: Place, way: str, kills: int, seed: int, longest: float, choices: list[dict], references: list[Path]
) -> dict:
    """Kill the runs of a working directory some times, let the last run to its end, and say what came of it.

    way: one of `WAYS`; choices: the configs, of which the place has the first; references: folders in which a run made
    everything undisturbed, in their order.
    """
    rng, which, found = random.Random(f"{way} {seed}"), 0, []
    done = interrupted = held = edits = 0
    before: dict[str, int] = {}
    stopped: list[int] = []
    while done < kills:
        run = place.started()
        wait(place, run, rng, longest)
        if run.poll() is not None:
            go_on(stopped)
            if run.returncode == 0:
                # Everything was made before the kill, so it begins anew.
                found += place.findings(references[which])
                shutil.rmtree(place.folder / "results")
                before = {}
            elif STILL_ALIVE in place.printed():
                held += 1
            else:
                found.append(f"a run failed: {place.printed()[-1500:]}")
                break
            continue
        working, done = place.jobs(), done + 1
        interrupted += len(working)
        if way == "group":
            os.killpg(run.pid, signal.SIGKILL)
            run.wait()
            while place.jobs():  # Until they are gone.
                time.sleep(0.01)
            now = place.finished()
            found += [f"{path} was lost" for path in before if not (place.folder / path).exists()]
            found += [f"{path} was made again" for path, at in before.items() if now.get(path, at) != at]
            before = now
        else:
            if working and rng.random() < STOPPED:
                stopped.append(rng.choice(working))
                signal_to(stopped[-1], signal.SIGSTOP)
            run.kill()
            run.wait()
            if rng.random() < EDITED and len(choices) > 1:
                which, edits = 1 - which, edits + 1
                place.configure(choices[which])
    go_on(stopped)
    place.finish()
    found += place.findings(references[which])
    counts = {"kills": done, "jobs killed or left": interrupted, "edits": edits, "held back": held}
    return {"way": way, "seed": seed, **counts, "found": found}


def go_on(stopped: list[int]) -> None:
    """Let stopped processes go on, and forget them."""
    while stopped:
        signal_to(stopped.pop(), signal.SIGCONT)


def signal_to(process: int, which: signal.Signals) -> None:
    """Send a signal to a process that may have ended."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, which)


def main() -> int:
    """Play the rounds and print a row for each; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--every", type=int, default=25, help="kills of one round")
    parser.add_argument("--seed", type=int, default=1, help="of the first round; the others count on from it")
    parser.add_argument("--longest", type=float, default=6, help="seconds after the start of a job, at most")
    asked = parser.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        choices = configs(folder / "inputs")
        references = []
        for number, config in enumerate(choices):
            reference = Place(folder / f"reference-{number}", config)
            reference.finish()
            references.append(reference.folder)
        print("| killed | seed | kills | jobs killed or left | edits | runs held back by a job | found |")
        print("| --- | ---: | ---: | ---: | ---: | ---: | --- |", flush=True)
        for number, start in enumerate(range(0, asked.kills, asked.every)):
            way, seed = WAYS[number % 2], asked.seed + number
            place, kills = Place(folder / f"round-{number}", choices[0]), min(asked.every, asked.kills - start)
            came = play(place, way, kills, seed, asked.longest, choices, references)
            *values, found = came.values()
            print(f"| {' | '.join(map(str, values))} | {'; '.join(found) or 'nothing'} |", flush=True)
            bad += len(found)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
