"""What does it cost to plan a study of many models? A dry run of models under the first paper's 19 conditions.

    python benchmarks/dry_run.py
    python benchmarks/dry_run.py 10 50 200

Runs from anywhere, without models or data, in temporary folders. Prints a Markdown table with a row for each number of
models: jobs, time by the clock and of the processor in s, and peak memory in MiB.
"""

import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow_scripts"))

import pandas as pd
import yaml

from headtypes.core.tables import markdown_table

ROOT = Path(__file__).resolve().parents[1]
MODELS = (10, 50)


def study(models: int) -> dict:
    """What is laid over the demo's configuration: other models, evaluated on the same task."""
    model = {"source": {"hub": "some/model", "revision": "main"}, "tasks": ["qa"], "evaluate": "qa"}
    names = [f"model{number}" for number in range(models)]
    return {"models": dict.fromkeys(names, model), "select": {"models": names}}


def dry_run(config: dict) -> dict[str, float]:
    """Jobs, and what planning them took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "study.yaml")
        file.write_text(yaml.safe_dump(config), encoding="utf-8")
        command = [sys.executable, "-m", "snakemake", "--snakefile", ROOT / "Snakefile", "--directory", folder]
        command += ["--configfile", file, "--cores", "2", "--dry-run", "--quiet", "rules"]
        began = time.perf_counter()
        run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        seconds = time.perf_counter() - began
    if run.returncode:
        sys.exit(run.stdout + run.stderr)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "jobs": int(re.search(r"^total\s+(\d+)", run.stdout, re.MULTILINE)[1]),
        "seconds": round(seconds),
        "processor, s": round(used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime),
        # The largest of all runs so far, so that numbers of models are to rise.
        "MiB": round(used.ru_maxrss / 1024),
    }


if __name__ == "__main__":
    numbers = sorted(int(each) for each in sys.argv[1:]) or MODELS
    print(markdown_table(pd.DataFrame([{"models": number, **dry_run(study(number))} for number in numbers])))
