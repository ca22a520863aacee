"""No way round `spec` and `code`: what `checks` looks for is not there, and rules get what the tables hold."""

import re
import subprocess
from collections import Counter

import pytest
from headtypes.planning.code.digest import code_parts
from headtypes.planning.code.packages import NUMERIC_PACKAGES

from headtypes.planning.config.schema import read_config
from headtypes.planning.plan import Plan
from tests.contract import checks
from tests.contract.tables import expected, leaf_rows, observed, with_leaf
from tests.support.configs import edited
from tests.support.job_specs import all_specs, jobs_with_results
from tests.support.places import ROOT
from tests.support.planning import planned_jobs, questions
from tests.support.rules import RUN_A_MODEL
from tests.support.warm import python
from tests.support.workplace import Workplace

SCRIPTS = sorted((ROOT / "workflow_scripts").glob("*.py"))


@pytest.mark.parametrize("check", checks.CHECKS, ids=lambda check: check.__name__)
def test_the_workflow_keeps_to_it(place, check):
    assert check(place.folder) == []


def test_the_version_of_every_package_that_can_change_a_result_counts(place):
    assert checks.packages(place.folder, NUMERIC_PACKAGES) == []


def test_every_package_that_is_said_to_count_counts_for_some_rule():
    counted = {part for script in SCRIPTS for part in code_parts(script) if not part.endswith(".py")}
    assert set(NUMERIC_PACKAGES.values()) - counted == set()


def test_the_jobs_of_the_plan_are_those_of_snakemake(place):
    """tests/unit/test_specs.py looks at the first, the tables at the second. All that jobs write is declared."""
    planned = {(job.rule, *job.wildcards): job for job in planned_jobs(place.folder)}
    specs = {job: {name: shown for name, _, shown in each.parameters}["spec"] for job, each in planned.items()}
    assert {job: repr(spec) for job, spec in all_specs(place.config).items()} == specs
    declared = jobs_with_results(Plan(read_config(place.config)))
    for job, each in planned.items():
        written = {path.removesuffix("/") for path in each.outputs if not path.endswith("benchmark.tsv")}
        assert declared.pop(job) == written, job
    assert not declared


def test_the_command_schedules_what_the_contract_says(place, finished):
    """Other tests read Snakemake's objects; here it is once what the command prints, in another Python."""
    leaf = "tasks/asked/questions"
    row = leaf_rows()[leaf]
    with place.configured(with_leaf(place.config, place.folder / "inputs", leaf, row["value"])):
        jobs = Counter(rule for rule, *_ in expected(finished, observed(place)))
        printed = _stats(place, "--dry-run", "--quiet", "rules")
    assert jobs <= Counter(printed)
    targets = {"all", "types", "ablation", "guan2020", "clark2019", "language", "total"}
    assert printed.keys() - jobs.keys() == targets & printed.keys()


def test_what_snakemake_need_not_ask_again_changes_nothing_that_is_planned(place, finished):
    without = place.text("Snakefile").replace('include: "rules/planning.smk"', "")
    assert without != place.text("Snakefile")
    with place.edited({"Snakefile": without}):
        assert planned_jobs(place.folder) == finished


def test_of_no_job_is_asked_what_is_known_of_its_rule(place, finished):
    """Snakemake looks up a function's arguments, and where a script lies, several times for each job."""
    asked = questions(place.folder)
    assert asked["signature"] < len({job.rule for job in finished}) < len(finished)
    assert asked["parse_uri"] <= 2 * len(SCRIPTS)


def test_downloads_are_all_that_is_fetched_and_train_nothing(place, finished):
    """Models that the workflow makes, and their checkpoints, are fetched, too, from where it writes them."""
    training = [job for job in finished if job.rule in ("finetune_model", "train_model")]
    made = {output.rstrip("/") for job in training for output in job.outputs}
    fetched = Counter(job.rule for job in finished if job.rule.startswith("fetch_") and not made & {*job.inputs})
    assert made
    assert _stats(place, "--dry-run", "--quiet", "rules", "--forceall", "downloads") == {
        **fetched,
        "downloads": 1,
        "total": sum(fetched.values()) + 1,
    }


def _stats(place: Workplace, *arguments: str) -> dict[str, int]:
    command = [python(), "-m", "snakemake", *arguments]
    run = subprocess.run(command, cwd=place.folder, capture_output=True, text=True, check=True)
    stats = (run.stdout + run.stderr).split("Job stats:")[1].split("\n\n")[0].splitlines()[3:]
    return {name: int(count) for name, count in (line.split() for line in stats if line.strip())}


@pytest.mark.parametrize("only", ["--dry-run", "--lint", "--list-rules"])
def test_nothing_happens_to_locks_while_the_workflow_is_only_read(place, only):
    lock = place.folder / ".snakemake/locks/0.output.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.write_text("results/elsewhere.csv\n")
    before = sorted((place.folder / ".snakemake/alive").glob("*"))
    command = [python(), "-m", "snakemake", only]
    subprocess.run(command, cwd=place.folder, capture_output=True, check=True)
    assert lock.exists()
    assert sorted((place.folder / ".snakemake/alive").glob("*")) == before
    lock.unlink()


def test_a_model_that_is_made_of_one_that_is_made_needs_neither_to_be_selected(place):
    """And the training data of that one are looked for before anything runs."""
    config = edited(place.config, "select", {"models": ["schooled"], "tasks": ["made"]})
    with place.configured(config):
        jobs = [(job.rule, *job.wildcards) for job in planned_jobs(place.folder)]
    assert {("finetune_model", "taught"), ("finetune_model", "schooled"), ("fetch_model", "base")} <= set(jobs)


def test_gpus_of_a_kind_are_asked_for_by_jobs_that_run_a_model_and_no_others(place):
    """Of rules whose jobs go to a cluster; a kind without a number would be enough to be given one."""
    command = [python(), "-m", "snakemake", "--dry-run", "--cores", "2", "--forceall"]
    command += ["--default-resources", "gpu=1", "gpu_model=a100"]
    run = subprocess.run(command, cwd=place.folder, capture_output=True, text=True, check=True)
    asked = re.findall(r"^rule (\w+):$.*?^    resources: (.*?)$", run.stdout, re.MULTILINE | re.DOTALL)
    assert len(asked) > 50
    kinds = {rule: ("gpu=1" in asks, "gpu_model=a100" in asks) for rule, asks in asked if "runtime=" in asks}
    # With one shard, nothing is shared.
    run_a_model = {rule for rule in RUN_A_MODEL if not rule.endswith("_shard")}
    assert {rule for rule, kind in kinds.items() if kind == (True, True)} == run_a_model
    assert {kind for rule, kind in kinds.items() if rule not in RUN_A_MODEL} == {(False, False)}
