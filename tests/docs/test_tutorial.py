"""The tutorial's code works as it stands: in a copy of the repository, its rules run on a tiny model, offline."""

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

from tests.docs.tutorial import TUTORIAL, copy_repository, steps
from tests.support.demo import demo_task
from tests.support.models import tiny_bert

# The tutorial's own test, and tests of the repository that a new rule could break.
TESTS = [
    "tests/unit/analyses/entropy/test_entropy.py",
    "tests/unit/test_layers.py::test_a_script_maps_inputs_and_outputs_and_holds_no_logic",
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
    run(folder, "tests.docs.lists", "docs/lookup/outputs.md")
    run(folder, "tests.contract.tables")
    return folder


def run(folder: Path, *command: str) -> str:
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    environment["PYTHONPATH"] = f"{folder}/workflow_scripts:{folder}"
    command = (sys.executable, "-m", *command)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
    return done.stdout


def test_every_block_of_code_of_the_tutorial_is_a_step():
    """But for commands, which have no language."""
    text = TUTORIAL.read_text(encoding="utf-8")
    assert len(steps()) == sum(line.startswith("```") and line != "```" for line in text.splitlines()) == 6


def test_its_rules_run_on_a_tiny_model(followed, tmp_path):
    model, tokenizer = tiny_bert(layers=4, heads=3)
    model.save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    config = {
        "tasks": {"made": demo_task(tmp_path, "text", 6) | {"samples": 6}},
        "models": {"tiny": {"source": {"folder": str(tmp_path / "model")}, "tasks": ["made"]}},
        "select": {"models": ["tiny"], "tasks": ["made"]},
    }
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump(config))
    where = ["--snakefile", str(followed / "Snakefile"), "--directory", str(tmp_path), "--configfile", "tiny.yaml"]
    shown = ["results/compared_types/tiny/made-kmeans-k4.csv", "results/atlas/tiny.html"]
    run(tmp_path, "snakemake", *shown, "--cores", "2", *where)
    table = pd.read_csv(tmp_path / "results/entropy/tiny/made.csv")
    assert list(table) == ["layer", "head", "entropy", "low", "high"]
    assert len(table) == 4 * 3
    assert ((table["low"] <= table["entropy"]) & (table["entropy"] <= table["high"]) & (table["low"] > 0)).all()
    assert (tmp_path / "results/provenance/entropy/tiny/made.csv.json").exists()
    compared, page = pd.read_csv(tmp_path / shown[0]), (tmp_path / shown[1]).read_text(encoding="utf-8")
    assert set(compared.loc[compared["analysis"] == "entropy", "statistic"]) == {"mean", "smallest", "largest"}
    assert "entropy on made" in page


def test_the_repositorys_own_tests_and_style_hold_with_it(followed):
    code = sorted({step.path for step in steps() if step.path.endswith(".py")})
    run(followed, "ruff", "check", *code)
    run(followed, "ruff", "format", "--check", *code)
    run(followed, "snakefmt", "--check", "rules/features.smk")
    run(followed, "pytest", "-q", "-p", "no:cacheprovider", *TESTS)


def test_it_touches_at_most_8_files():
    """With docs/lookup/outputs.md and tests/contract/leaves.yaml, which commands write."""
    assert len({step.path for step in steps()}) <= 6
