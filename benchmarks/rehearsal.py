"""The experiments of both papers as they stand, through a Hub on this machine: random weights instead of the real ones.

    python benchmarks/rehearsal.py FOLDER [paper|clark ...] [--weights tiny|bert-large] [--samples 8] [--questions 20]
                                   [--training 24] [--squad DEV.json] [--cores all] [-- further arguments of snakemake]

Runs from anywhere, without network. In FOLDER it makes stand-ins of all repositories that `experiments/paper.yaml` and
`experiments/clark.yaml` fetch (weights of random numbers, in BERT-large's shape if so asked: 4 GB; tokenizers; the data
of the demo, or SQuAD's own questions from a file), serves them on the loopback address as the Hub does,
and has `snakemake` run each experiment with nothing changed but the numbers of samples and questions (and of pairs to
learn from, which are as many as there are). What is there already is not made again, so the same command goes on.

Printed is, for each rule, the number of its jobs and the largest time and memory of one; the exit status is that of
Snakemake.
"""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import yaml

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "workflow_scripts")]

from headtypes.core.files import read_json  # noqa: E402
from tests.support.hub import Hub  # noqa: E402
from tests.support.stand_ins import BERT_LARGE, COMMITS, TINY, write_stand_ins  # noqa: E402

WEIGHTS = {"tiny": TINY, "bert-large": BERT_LARGE}
# Longer than any rehearsal.
_LIFETIME = 7 * 24 * 3600.0


def smaller(experiment: str, samples: int, questions: int) -> dict:
    """What is laid over an experiment: numbers of samples and questions, and nothing else."""
    config = yaml.safe_load((ROOT / "experiments" / f"{experiment}.yaml").read_text(encoding="utf-8"))
    small = {
        "tasks": {
            name: {"samples": samples} | ({"questions": questions} if task["kind"] != "text" else {})
            for name, task in config["tasks"].items()
        }
    }
    for key, number in (("controls", "questions"), ("curves", "questions"), ("gradients", "samples")):
        if key in config:
            small[key] = {number: min(samples if number == "samples" else questions, config[key][number])}
    return small


def command_of(experiment: str, folder: Path, small: dict, cores: str, further: list[str]) -> list[str]:
    """The command that runs an experiment in a folder with smaller numbers."""
    laid_over = folder / f"{experiment}.small.yaml"
    laid_over.write_text(yaml.safe_dump(small), encoding="utf-8")
    configs = [str(ROOT / "experiments" / f"{experiment}.yaml"), str(laid_over)]
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--cores", cores]
    return [*command, "--directory", str(folder / experiment), "--configfile", *configs, *further]


def environment_of(hub: Hub, folder: Path) -> dict[str, str]:
    """The environment in which the workflow knows no Hub but ours, with a cache of its own."""
    return {**os.environ, **hub.environment, "HF_HOME": str(folder / "cache")}


def used(folder: Path) -> pd.DataFrame:
    """For each rule the number of jobs whose use was measured, and the most seconds and megabytes that one took."""
    patterns: dict[str, list[str]] = {}
    for file in (ROOT / "rules").glob("*.smk"):
        rules = re.compile(r"^use rule \w+ as (\w+) with:\n(.*?)(?=^\S|\Z)", re.MULTILINE | re.DOTALL)
        for rule, body in rules.findall(file.read_text()):
            for benchmark in re.findall(r'benchmark:\s+"([^"]+)"', body):
                patterns.setdefault(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(benchmark)), []).append(rule)
    found = []
    for file in folder.glob("results/**/*benchmark.tsv"):
        # Of several patterns that fit, that with the most words of its own; two rules may make one file.
        fitting = [pattern for pattern in patterns if re.fullmatch(pattern, str(file.relative_to(folder)))]
        row = pd.read_csv(file, sep="\t", na_values="-").iloc[0]
        found.append((" or ".join(patterns[max(fitting, key=len)]), float(row["s"]), float(row["max_rss"])))
    of_rules = pd.DataFrame(found, columns=["rule", "seconds", "megabytes"]).groupby("rule")
    return of_rules.agg(jobs=("seconds", "size"), seconds=("seconds", "max"), megabytes=("megabytes", "max"))


def main() -> int:
    """Rehearse the experiments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("experiments", nargs="*", help="paper, clark; both by default")
    parser.add_argument("--weights", choices=WEIGHTS, default="tiny")
    parser.add_argument("--samples", type=int, default=8)
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--training", type=int, default=24, help="questions and pairs of the training split")
    parser.add_argument("--squad", type=Path, help="a file of SQuAD v1.1, which is served as both of its splits")
    parser.add_argument("--cores", default="all")
    own, further = sys.argv[1:], []
    if "--" in own:
        own, further = own[: own.index("--")], own[own.index("--") + 1 :]
    arguments = parser.parse_args(own)
    folder = arguments.folder.absolute()
    if not (folder / "hub").is_dir():
        sizes = {"train": arguments.training, "dev": max(arguments.samples, arguments.questions)}
        making = folder / "hub.making"
        squad = read_json(arguments.squad) if arguments.squad else None
        write_stand_ins(making, WEIGHTS[arguments.weights], sizes, squad)
        making.rename(folder / "hub")
    with Hub(folder / "hub", COMMITS, _LIFETIME) as hub:
        for experiment in arguments.experiments or ("paper", "clark"):
            small = smaller(experiment, arguments.samples, arguments.questions)
            command = command_of(experiment, folder, small, arguments.cores, further)
            status = subprocess.run(command, env=environment_of(hub, folder)).returncode
            print(used(folder / experiment).to_string(float_format=lambda value: f"{value:.1f}"))
            if status:
                return status
    return 0


if __name__ == "__main__":
    sys.exit(main())
