import json
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import pytest
import yaml

from tests.support.commands import job_counts, run
from tests.support.models import QUESTIONS, saved, tiny_bert
from tests.support.places import ROOT, SCRIPTS
from tests.support.planning import snakemake

CONTEXTS = [context for _, context in QUESTIONS]


@dataclass(frozen=True)
class Workdir:
    path: Path

    @classmethod
    def at(cls, path: Path, config: dict, *more: object) -> Self:
        path.mkdir(exist_ok=True)
        workdir = cls(path, *more)
        workdir.configure(config)
        return workdir

    def configure(self, config: dict) -> None:
        (self.path / "tiny.yaml").write_text(yaml.safe_dump(config))

    def config(self) -> dict:
        return yaml.safe_load((self.path / "tiny.yaml").read_text())

    def arguments(self, *further: str) -> list[str]:
        command = ["--snakefile", str(ROOT / "Snakefile"), "--cores", "2"]
        return [*command, "--directory", str(self.path), "--configfile", str(self.path / "tiny.yaml"), *further]

    def snakemake(self, *arguments: str, check: bool = True) -> str:
        return snakemake(self.arguments(*arguments), ROOT, check=check)

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
        command = ["-m", "tests.workflow.replay", *options, folder, self.path / "tiny.yaml", "--", *targets]
        run(command, ROOT, PYTHONPATH=f"{SCRIPTS}:{ROOT}")

    def command(self, name: str, *further: str, check: bool = True) -> str:
        where = ("--directory", self.path, "--configfile", self.path / "tiny.yaml")
        return run([ROOT / "commands" / f"{name}.py", *where, *further], check=check).strip()

    def planned(self, *arguments: str) -> dict[str, int]:
        counts = job_counts(self.snakemake("--dry-run", "--quiet", "rules", *arguments))
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
    saved(*tiny_bert(layers=2, heads=4, head_size=4), folder / "model")
    squad = squad_file(folder / "squad.json")
    return {
        "tasks": {"animals": {"source": {"file": str(squad)}, "samples": 5}},
        "models": {"tiny": {"source": {"folder": str(folder / "model")}, "tasks": ["animals"], "evaluate": "animals"}},
        "windows": {"max_seq_length": 40, "doc_stride": 10, "max_query_length": 12},
        "clustering": {"restarts": 5},
        "controls": {"draws": 2, "questions": 4, "conditions": None},
        "company": {"sets": 8, "questions": 4},
        "select": {"models": ["tiny"], "tasks": ["animals"]},
    }


@pytest.fixture
def workdir(tmp_path, tiny_config) -> Workdir:
    return Workdir.at(tmp_path, tiny_config)
