"""Fuzz the readers of foreign files: `python benchmarks/mutated_files.py SECONDS [FILE ...]`.

SECONDS are those for each file of `tests/reliability/mutated_files.py`, all of which are tried if none is named. Prints
for each how many inputs were tried and how many broke the promise, with the first of each kind; ends with 1 if any did.
A reader that takes more than ten seconds counts as one that hangs.
"""

import signal
import sys
import tempfile
import time
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "workflow_scripts")]

from tests.reliability.mutated_files import READERS, fault_of, mutated  # noqa: E402

HANG = 10


def main(seconds: float, names: list[str]) -> int:
    """Try every file for some seconds; returns how many inputs broke the promise."""
    signal.signal(signal.SIGALRM, _hangs)
    return sum(_tried(name, seconds) for name in names)


def _tried(name: str, seconds: float) -> int:
    content, read = READERS[name]
    seed, tried, faults = time.time_ns(), 0, {}
    random, until = Random(seed), time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, name)
        while time.monotonic() < until:
            file.write_bytes(data := mutated(content, random))
            tried += 1
            signal.alarm(HANG)
            fault = fault_of(file, read)
            signal.alarm(0)
            if fault is not None:
                faults.setdefault(fault.replace(folder, "")[:60], []).append((fault, data))
    print(f"{name}: {tried} inputs, {sum(map(len, faults.values()))} faults (seed {seed})", flush=True)
    for (fault, data), *others in faults.values():
        print(f"  {fault} (and {len(others)} more): {data!r}")
    return sum(map(len, faults.values()))


def _hangs(*_) -> None:
    raise TimeoutError(f"more than {HANG} seconds")


if __name__ == "__main__":
    sys.exit(bool(main(float(sys.argv[1]), sys.argv[2:] or list(READERS))))
