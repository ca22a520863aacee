"""The tutorial's examples work as they stand: files of a user's own, and what is added to a copy of the repository."""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from headtypes.analyses.own.measure import load_analysis
from headtypes.api.reading import read_heads
from tests.support.commands import run
from tests.support.demo import demo_task
from tests.support.models import plain_attentions, saved, tiny_bert
from tests.support.places import ROOT
from tests.support.workplace import copy_workflow

TUTORIAL = ROOT / "docs/extend/tutorial.md"
# "Create `path`:" or "In `path`, insert before `anchor`:", each followed by a block of code.
STEP = re.compile(
    r"(Create|In)\s`(?P<path>[^`\n]+)`(?:, (?P<how>insert before|insert after) `(?P<anchor>[^`\n]+)`)?:\n\n"
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
    found = STEP.finditer(TUTORIAL.read_text(encoding="utf-8"))
    return [Step(step["path"], step["how"], step["anchor"], step["text"]) for step in found]


# Tests of the repository that a new rule could break.
TESTS = [
    "tests/unit/test_layers.py::test_a_job_that_runs_no_model_loads_no_torch",
    "tests/unit/planning/test_stages.py",
    "tests/docs/test_examples.py::test_the_lists_of_results_and_rules_are_those_that_are_declared",
    "tests/contract/test_rules.py::test_the_jobs_of_the_plan_are_those_of_snakemake_with_these_parameters_and_results",
    "tests/unit/planning/test_specs.py",
    "tests/workflow/test_end_to_end.py::test_all_19_conditions_are_planned_by_default",
]
PACKAGE = "workflow_scripts/"
TEXTS = [
    "the cat sat by the river and ran",
    "a dog",
    "the old house under the river was by the old dog and the young cat",
]


def of_user(folder: Path) -> None:
    for step in steps():
        if not step.path.startswith(PACKAGE):
            step.apply(folder)


@pytest.fixture(scope="module")
def followed(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("tutorial")
    copy_workflow(folder, "pyproject.toml", "config.yaml", "README.md", "commands", "docs", "tests")
    for step in steps():
        if step.path.startswith(PACKAGE):
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
    blocks = sum(line.startswith("```") and line != "```" for line in text.splitlines())
    assert len(steps()) == blocks == 9


def test_its_files_give_what_the_whole_attention_gives(tmp_path):
    of_user(tmp_path)
    named = yaml.safe_load((tmp_path / "mine.yaml").read_text())["analyses"]
    analyses = [
        load_analysis(
            tmp_path / entry["file"],
            {
                **entry.get("parameters", {}),
                "inputs": {key: tmp_path / file for key, file in entry.get("inputs", {}).items()},
            },
        )
        for entry in named.values()
    ]
    model, tokenizer = tiny_bert()
    _, *tables = read_heads(model, tokenizer, TEXTS, analyses=analyses)
    expected = {name: [] for name in named}
    for text in TEXTS:
        encoded = tokenizer(text)
        attention = plain_attentions(model, encoded["input_ids"], encoded["token_type_ids"])
        index = np.arange(attention.shape[-1])
        distance = abs(index[:, None] - index)
        expected["reach"].append((attention * distance).sum(-1).mean(-1))
        far = distance >= 5
        shares = 100 * (attention * far).sum(-1)[..., far.any(-1)]
        if shares.size:
            expected["far"].append(shares.mean(-1))
        listed = np.isin(encoded.tokens(), ["and", "in", "of", "the"])
        assert listed.any() == ("the" in text)
        expected["listed"].append(100 * attention[..., listed].sum(-1).mean(-1))
    for name, table in zip(named, tables, strict=True):
        np.testing.assert_allclose(table["value"], np.mean(expected[name], 0).ravel(), rtol=1e-4)
    assert [table["samples"][0] for table in tables] == [3, 2, 3]
    assert {table["label"][0]: table["unit"][0] for table in tables} == {
        "reach": "tokens",
        "to far tokens": "%",
        "to listed words": "%",
    }


@pytest.mark.slow
def test_its_rules_run_on_a_tiny_model(followed, tmp_path):
    saved(*tiny_bert(layers=4, heads=3), tmp_path / "model")
    of_user(tmp_path)
    config = {
        "tasks": {"made": demo_task(tmp_path, "text", 6) | {"samples": 6}},
        "models": {"tiny": {"source": {"folder": str(tmp_path / "model")}, "tasks": ["made"]}},
        "select": {"models": ["tiny"], "tasks": ["made"]},
    }
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump(config))
    shown = ["results/compared_types/tiny/made-kmeans-k4.csv", "results/atlas/tiny.html"]
    configs = [str(tmp_path / "tiny.yaml"), str(tmp_path / "mine.yaml")]
    run_in(followed, "tests.workflow.replay", str(tmp_path), *configs, "--", *shown, "results/reach/tiny/made.png")
    labels = {"entropy": "entropy", "reach": "reach", "far": "to far tokens", "listed": "to listed words"}
    compared, page = pd.read_csv(tmp_path / shown[0]), (tmp_path / shown[1]).read_text(encoding="utf-8")
    for name, label in labels.items():
        table = pd.read_csv(tmp_path / f"results/{name}/tiny/made.csv")
        assert list(table) == ["layer", "head", "value", "low", "high", "samples", "label", "unit"]
        assert len(table) == 4 * 3
        assert (tmp_path / f"results/provenance/{name}/tiny/made.csv.json").exists()
        assert set(compared.loc[compared["analysis"] == name, "statistic"]) == {"mean", "smallest", "largest"}
        assert f"{label} on made" in page
    assert (tmp_path / "results/reach/tiny/made.pdf").stat().st_size > 1000


@pytest.mark.slow
def test_the_repositorys_own_tests_and_style_hold_with_it(followed, tmp_path):
    of_user(tmp_path)
    code = sorted({step.path for step in steps() if step.path.startswith(PACKAGE) and step.path.endswith(".py")})
    code += map(str, tmp_path.glob("*.py"))
    run_in(followed, "ruff", "check", *code)
    run_in(followed, "ruff", "format", "--check", *code)
    run_in(followed, "pytest", "-q", "-p", "no:cacheprovider", *TESTS)
