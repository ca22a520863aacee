"""A model, a SQuAD file and a config so small that the whole workflow runs on them."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.support.models import QUESTIONS, tiny_bert
from tests.support.places import ROOT

CONTEXTS = [context for _, context in QUESTIONS]


@dataclass(frozen=True)
class Workdir:
    """A working directory in which the workflow runs with its own config."""

    path: Path

    def configure(self, config: dict) -> None:
        """Write the config that is laid over the repository's."""
        (self.path / "tiny.yaml").write_text(yaml.safe_dump(config))

    def config(self) -> dict:
        """Read it."""
        return yaml.safe_load((self.path / "tiny.yaml").read_text())

    def arguments(self, *further: str) -> list[str]:
        """The command that runs the workflow, as a list."""
        command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--cores", "2"]
        return [*command, "--directory", str(self.path), "--configfile", str(self.path / "tiny.yaml"), *further]

    def snakemake(self, *arguments: str, check: bool = True) -> str:
        """Run the workflow without network and return what it printed."""
        environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
        run = subprocess.run(self.arguments(*arguments), capture_output=True, text=True, env=environment, timeout=1200)
        printed = run.stdout + run.stderr
        if check:
            assert run.returncode == 0, printed[-6000:]
        return printed

    def replay(self, *targets: str) -> Path:
        """Run the jobs once more, elsewhere (`tests.workflow.replay`); return the folder of their results."""
        folder = self.path.with_name(f"{self.path.name}-replayed")
        folder.mkdir(exist_ok=True)
        self._replay(folder, targets)
        return folder / "results"

    def make(self, *targets: str) -> Path:
        """Run the jobs of some targets here, without a start of Snakemake for each; return the folder of results."""
        self._replay(self.path, targets, "--figures")
        return self.path / "results"

    def _replay(self, folder: Path, targets: tuple[str, ...], *options: str) -> None:
        command = [sys.executable, "-m", "tests.workflow.replay", *options, str(folder), str(self.path / "tiny.yaml")]
        environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
        environment["PYTHONPATH"] = f"{ROOT / 'workflow_scripts'}:{ROOT}"
        command += ["--", *targets]
        run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment, timeout=1200)
        assert run.returncode == 0, (run.stdout + run.stderr)[-6000:]

    def command(self, name: str, *further: str, check: bool = True) -> str:
        """Run one of our commands on the folder and its configuration, and return what it printed."""
        command = [sys.executable, str(ROOT / "commands" / f"{name}.py")]
        command += ["--directory", str(self.path), "--configfile", str(self.path / "tiny.yaml"), *further]
        run = subprocess.run(command, capture_output=True, text=True, timeout=1200)
        assert run.returncode == 0 or not check, run.stdout + run.stderr
        return run.stdout.strip()

    def planned(self, *arguments: str) -> dict[str, int]:
        """The number of jobs of each rule that a dry run schedules."""
        printed = self.snakemake("--dry-run", "--quiet", "rules", *arguments)
        if "Job stats" not in printed:
            return {}
        lines = printed.split("Job stats:")[1].split("\n\n")[0].splitlines()[3:]
        counts = {line.split()[0]: int(line.split()[1]) for line in lines if line.strip()}
        return {rule: count for rule, count in counts.items() if rule not in ("all", "total")}


def squad_file(path: Path) -> Path:
    """Write six questions on three contexts in SQuAD's format."""
    paragraphs = []
    for number, context in enumerate(CONTEXTS):
        questions = []
        for which in (0, 1):
            answer = [text for text in context.replace(",", ".").split(".") if text.strip()][which % context.count(".")]
            answer = answer.strip()
            questions.append(
                {
                    "id": f"q{number}-{which}",
                    "question": QUESTIONS[which][0],
                    "answers": [{"text": answer, "answer_start": context.index(answer)}],
                }
            )
        paragraphs.append({"context": context, "qas": questions})
    path.write_text(json.dumps({"version": "1.1", "data": [{"title": "animals", "paragraphs": paragraphs}]}))
    return path


@pytest.fixture(scope="session")
def tiny_config(tmp_path_factory) -> dict:
    """A config of one random model and six questions, with all 19 conditions."""
    folder = tmp_path_factory.mktemp("inputs")
    model, tokenizer = tiny_bert(layers=2, heads=4, head_size=4)
    model.save_pretrained(folder / "model")
    tokenizer.save_pretrained(folder / "model")
    squad = squad_file(folder / "squad.json")
    return {
        "tasks": {"animals": {"source": {"file": str(squad)}, "samples": 5}},
        "models": {"tiny": {"source": {"folder": str(folder / "model")}, "tasks": ["animals"], "evaluate": "animals"}},
        "windows": {"max_seq_length": 40, "doc_stride": 10, "max_query_length": 12},
        "clustering": {"restarts": 5},
        "controls": {"draws": 2, "questions": 4, "conditions": None, "profile": True},
        "curves": {"orders": 1, "questions": 4},
        "select": {"models": ["tiny"], "tasks": ["animals"]},
    }


@pytest.fixture
def workdir(tmp_path, tiny_config) -> Workdir:
    """An empty working directory with the tiny config."""
    made = Workdir(tmp_path)
    made.configure(tiny_config)
    return made
