"""The tutorial's code works as it stands: in a copy of the repository, its rules run on a tiny model, offline."""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest
import yaml

from headtypes.planning.config.schema import read_config
from headtypes.planning.plan import Plan
from tests.support.commands import run
from tests.support.demo import demo_task
from tests.support.models import saved, tiny_bert
from tests.support.places import ROOT
from tests.support.workplace import copy_workflow

TUTORIAL = ROOT / "docs/extend/tutorial.md"
# What a copy has beside the workflow.
PARTS = ("pyproject.toml", "config.yaml", "README.md")
FOLDERS = ("commands", "docs", "tests")

# "Create `path`:" or "In `path`, insert before `anchor`:", each followed by a block of code.
STEP = re.compile(
    r"^(Create|In) `(?P<path>[^`\n]+)`(?:, (?P<how>insert before|insert after) `(?P<anchor>[^`\n]+)`)?:\n\n"
    r"```\w+\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Step:
    """A change of one file: the whole text of a new one, or a text at an anchor of one that exists."""

    path: str
    how: str | None
    anchor: str | None
    text: str

    def apply(self, root: Path) -> None:
        """Change the file in a copy of the repository."""
        file = root / self.path
        if self.how is None:
            assert not file.exists(), f"{self.path} exists already"
            file.parent.mkdir(exist_ok=True)
            file.write_text(self.text, encoding="utf-8")
            return
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        places = [number for number, line in enumerate(lines) if line.startswith(self.anchor)]
        assert len(places) == 1, f"{self.path} has {len(places)} lines that start with {self.anchor}"
        lines.insert(places[0] + (self.how == "insert after"), self.text)
        file.write_text("".join(lines), encoding="utf-8")


def steps() -> list[Step]:
    """The steps, in their order."""
    found = STEP.finditer(TUTORIAL.read_text(encoding="utf-8"))
    return [Step(step["path"], step["how"], step["anchor"], step["text"]) for step in found]


def copy_repository(folder: Path) -> None:
    """Copy the files that a step can touch, or that tests need."""
    copy_workflow(ROOT, folder)
    for name in PARTS:
        shutil.copyfile(ROOT / name, folder / name)
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))


# The tutorial's own test, and tests of the repository that a new rule could break.
TESTS = [
    "tests/unit/analyses/entropy/test_entropy.py",
    "tests/unit/test_layers.py::test_a_job_that_runs_no_model_loads_no_torch",
    "tests/unit/planning/test_stages.py",
    "tests/docs/test_examples.py::test_the_lists_of_results_and_rules_are_those_that_are_declared",
    "tests/contract/test_rules.py::test_the_jobs_of_the_plan_are_those_of_snakemake_with_these_parameters_and_results",
    "tests/unit/planning/test_specs.py",
    "tests/workflow/test_end_to_end.py::test_all_19_conditions_are_planned_by_default",
]


@pytest.fixture(scope="module")
def followed(tmp_path_factory) -> Path:
    """A copy of the repository in which the tutorial was followed."""
    folder = tmp_path_factory.mktemp("tutorial")
    copy_repository(folder)
    for step in steps():
        step.apply(folder)
    # As `make docs` and `make contract` do.
    run_in(folder, "tests.docs.lists", "docs/lookup/outputs.md")
    run_in(folder, "tests.contract.tables")
    return folder


def run_in(folder: Path, *command: str) -> None:
    run(["-m", *command], folder, PYTHONPATH=f"{folder}/workflow_scripts:{folder}")


def test_every_block_of_code_of_the_tutorial_is_a_step():
    """But for commands, which have no language."""
    text = TUTORIAL.read_text(encoding="utf-8")
    assert len(steps()) == sum(line.startswith("```") and line != "```" for line in text.splitlines()) == 5


def test_the_file_that_its_command_makes_is_one_of_the_demo():
    (path,) = re.findall(r"^snakemake --cores 2 (results/\S+)$", TUTORIAL.read_text(encoding="utf-8"), re.MULTILINE)
    texts = Plan(read_config(yaml.safe_load((ROOT / "config.yaml").read_bytes()))).texts
    assert path in {"results/entropy/{model}/{task}.csv".format(**text.wildcards) for text in texts}


@pytest.mark.slow
def test_its_rules_run_on_a_tiny_model(followed, tmp_path):
    saved(*tiny_bert(layers=4, heads=3), tmp_path / "model")
    config = {
        "tasks": {"made": demo_task(tmp_path, "text", 6) | {"samples": 6}},
        "models": {"tiny": {"source": {"folder": str(tmp_path / "model")}, "tasks": ["made"]}},
        "select": {"models": ["tiny"], "tasks": ["made"]},
    }
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump(config))
    shown = ["results/compared_types/tiny/made-kmeans-k4.csv", "results/atlas/tiny.html"]
    run_in(followed, "tests.workflow.replay", str(tmp_path), str(tmp_path / "tiny.yaml"), "--", *shown)
    table = pd.read_csv(tmp_path / "results/entropy/tiny/made.csv")
    assert list(table) == ["layer", "head", "entropy", "low", "high"]
    assert len(table) == 4 * 3
    assert (table["entropy"] > 0).all()
    assert (tmp_path / "results/provenance/entropy/tiny/made.csv.json").exists()
    compared, page = pd.read_csv(tmp_path / shown[0]), (tmp_path / shown[1]).read_text(encoding="utf-8")
    assert set(compared.loc[compared["analysis"] == "entropy", "statistic"]) == {"mean", "smallest", "largest"}
    assert "entropy on made" in page


@pytest.mark.slow
def test_the_repositorys_own_tests_and_style_hold_with_it(followed):
    code = sorted({step.path for step in steps() if step.path.endswith(".py")})
    run_in(followed, "ruff", "check", *code)
    run_in(followed, "ruff", "format", "--check", *code)
    run_in(followed, "pytest", "-q", "-p", "no:cacheprovider", *TESTS)
