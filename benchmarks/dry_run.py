"""What does it cost to plan a large study? A dry run of many models, each under the paper's 19 conditions, in shards.

    python benchmarks/dry_run.py [models] [shards]

By default 50 models and 8 shards. Runs from anywhere, without models or data, in a temporary folder, and prints a
Markdown table.
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

from headtypes.core.markdown import markdown_table

ROOT = Path(__file__).resolve().parents[1]


def study(models: int, shards: int) -> dict:
    """What is laid over the configuration of the demo: other models, evaluated on the same task."""
    model = {"source": {"hub": "some/model", "revision": "main"}, "tasks": ["qa"], "evaluate": "qa"}
    names = [f"model{number}" for number in range(models)]
    return {"models": dict.fromkeys(names, model), "select": {"models": names}, "jobs": {"shards": shards}}


def dry_run(config: dict) -> dict[str, float]:
    """Jobs, and what planning them took in seconds of the clock and of the processor, and in MiB at most."""
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
        "processor, s": round(used.ru_utime + used.ru_stime),
        "MiB": round(used.ru_maxrss / 1024),
    }


if __name__ == "__main__":
    models, shards = (int(each) for each in [*sys.argv[1:], *(50, 8)[len(sys.argv) - 1 :]])
    print(markdown_table(pd.DataFrame([{"models": models, "shards": shards, **dry_run(study(models, shards))}])))
