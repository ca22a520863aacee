"""What the start of a job takes in Python itself, and in a fork of a process that has loaded the libraries.

    python benchmarks/starts.py [--times 5]

prints seconds of processor time for the imports of some scripts, as medians of alternating starts.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[1] / "workflow_scripts"
sys.path.insert(0, str(SCRIPTS))

from headtypes.planning.code.digest import reached_modules  # noqa: E402

from headtypes.planning import forks  # noqa: E402

_SHOWN = ("tabulate_stability", "cluster_heads", "evaluate_condition")
_USED = "\nimport resource; used = resource.getrusage(resource.RUSAGE_SELF); print(used.ru_utime + used.ru_stime)"


def seconds(python: str, code: str) -> float:
    """Processor time of a start of Python with this code, the fork's or its own."""
    environment = {**os.environ, "PYTHONPATH": str(SCRIPTS), "OMP_NUM_THREADS": "1"}
    run = subprocess.run([python, "-c", code + _USED], env=environment, capture_output=True, text=True, check=True)
    return float(run.stdout)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--times", type=int, default=5)
    times = parser.parse_args().times
    imports = {
        name: "\n".join(re.findall("^(?:from|import) .*", (SCRIPTS / f"{name}.py").read_text(), re.MULTILINE))
        for name in _SHOWN
    }
    files = {SCRIPTS / module for script in SCRIPTS.glob("*.py") for module in reached_modules(script)}
    program = str(forks.start(sorted(files)))
    seconds(program, "")
    print("| job | Python, s | fork, s |\n| --- | ---: | ---: |")
    for name, code in imports.items():
        pairs = [(seconds(sys.executable, code), seconds(program, code)) for _ in range(times)]
        print(
            f"| `{name}` | " + " | ".join(f"{statistics.median(each):.2f}" for each in zip(*pairs, strict=True)) + " |"
        )


if __name__ == "__main__":
    main()
