"""Rules, scripts and modules: no way round `spec` and `code`, and nothing of Snakemake but its public API."""

import contextlib
import json
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

from headtypes.core.files import canonical_json, write_json
from headtypes.planning.code import NUMERIC_PACKAGES, brief, code_hash, loaded_modules
from headtypes.planning.config import read_config
from headtypes.planning.plan import STAGES, Plan
from headtypes.training.stage import SAVED
from tests.contract.tables import expected, leaf_rows, scheduled, with_leaf
from tests.support.commands import job_counts
from tests.support.configs import all_specs, edited, jobs_with_results
from tests.support.places import ROOT, SCRIPTS
from tests.support.planning import Job, planned_jobs, snakemake
from tests.support.workplace import Workplace
from tests.unit.test_layers import imported, packages

MODULES = sorted(SCRIPTS.rglob("*.py"))
RULES = [ROOT / "Snakefile", *sorted((ROOT / "rules").glob("*.smk"))]
NOT_PUBLIC = re.compile(
    # An attribute that begins with an underscore, of an object that Snakemake gives to rules and scripts.
    r"\b(workflow|rules|checkpoints|job|dag|snakemake)(\.\w+|\[[^]]*\])*\._\w"
    # What its documentation does not name.
    r"|^\s*(from|import)\s+snakemake(?!\.utils import |\.exceptions import WorkflowError$)"
    # What changes it from outside; a script may name its own inputs as it likes.
    r"|\b(workflow|snakemake)(\.\w+)+\s*=(?!=)|\bsetattr\(\s*(workflow|snakemake(?!\.input\b))\b|\bsys\.executable\s*=(?!=)"
)
# What no result depends on, or is known to change none.
UNCOUNTED = {
    "gguf": "reads files for Transformers; its version is in the record of the model, which is an input",
    "huggingface_hub": "carries files, whose revision is recorded",
    "markdown_it": "lays out pages whose numbers are made before",
    "jinja2": "lays out a page, as markupsafe does",
    "markupsafe": "escapes its text",
    "PIL": "packs figures for that page",
    "jaxtyping": "names the dimensions of arrays in signatures",
    "pydantic": "checks the configuration, before any rule",
    "pydantic_core": "is a part of it",
    "threadpoolctl": "sets the number of threads",
    "safetensors": "counts the numbers in files whose checksum is recorded",
    "tqdm": "draws progress bars",
    "yaml": "reads the configuration and the published figures",
}
# Parameters that do not count: Snakemake runs no job again for one that asks for `output`.
UNCOUNTED_PARAMETERS = {"memory", "sha256", "spec", "keyed"}
# And so take a GPU where there is one. `tests/unit/planning/test_stages.py` compares them with the rules' scripts.
RUN_A_MODEL = {name for name, stage in STAGES.items() if stage.runs_model}


def lines_with(pattern: re.Pattern, files: list[Path]) -> list[str]:
    return [
        f"{file.relative_to(ROOT)}:{number}: {line}"
        for file in files
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if pattern.search(line)
    ]


def test_nothing_of_snakemake_is_used_but_its_public_api():
    assert lines_with(NOT_PUBLIC, [*RULES, *MODULES, *(ROOT / "commands").glob("*.py")]) == []


def test_modules_are_imported_by_statements_except_kinds_of_task_and_what_rules_call_by_their_names():
    by_name = re.compile(r"import_module|__import__|(?<![\w.])(exec|eval)\(|run_path|run_module|\bsys\.path\b")
    kinds = "workflow_scripts/headtypes/data/tasks.py"
    assert {line.partition(":")[0] for line in lines_with(by_name, MODULES)} == {kinds, "workflow_scripts/call.py"}


def test_no_module_reads_the_environment_but_for_which_gpu_it_uses():
    environment = re.compile(r"os\.environ|getenv")
    gpus = "workflow_scripts/headtypes/models/placement.py"
    assert {line.partition(":")[0] for line in lines_with(environment, MODULES)} == {gpus}


def test_rules_take_of_the_configuration_what_is_in_spec_and_names_of_models_and_tasks():
    assert lines_with(re.compile(r"\bconfig\s*\[|\bplan\.config\.(?!models\b|tasks\b)"), RULES) == []


def test_the_version_of_every_package_that_can_change_a_result_counts():
    known = {*sys.stdlib_module_names, "headtypes", *NUMERIC_PACKAGES, *UNCOUNTED}
    for file in MODULES:
        assert packages(imported(file)) <= known, file


def test_beside_the_modules_lie_only_inputs_of_rules(place, finished):
    """And what `commands/look.py` alone shows. No hash would cover other files."""
    read = {(place.folder / path).resolve() for job in finished for path in job.inputs}
    scripts = place.folder / "workflow_scripts"
    others = {file for file in scripts.rglob("*") if file.is_file() and file.suffix not in (".py", ".pyc")}
    assert others - read == {scripts / "headtypes/pages/atlas/live.js"}


def test_the_jobs_of_the_plan_are_those_of_snakemake_with_these_parameters_and_results(place, finished):
    specs, declared = all_specs(place.config), jobs_with_results(Plan(read_config(place.config)))
    assert {job.key for job in finished} == specs.keys() == declared.keys()
    assert {Path(job.script).name for job in finished} == {"call.py"}
    for job in finished:
        stage, spec = STAGES[job.rule], json.loads(specs[job.key])
        code = code_hash(loaded_modules(stage.calls, spec))
        counted = {name: value for name, value in job.parameters.items() if name not in UNCOUNTED_PARAMETERS}
        assert max(map(len, counted.values())) <= 300, "a reason could not be read"
        assert counted.pop("order", None) == (brief(keyed) if (keyed := job.parameters.get("keyed")) else None)
        assert (contents := counted.pop("contents", "{}")) == canonical_json(json.loads(contents))
        assert counted == {"config": brief(specs[job.key]), "code": code, "calls": stage.calls}
        assert job.parameters["spec"] == specs[job.key]
        written = {path.removesuffix("/") for path in job.outputs if not path.endswith("benchmark.tsv")}
        assert declared[job.key] == written, job


def test_a_table_or_a_figure_needs_what_it_shows(finished):
    makers = {output: job for job in finished for output in job.outputs}

    def needed(job: Job) -> set[str]:
        made = {makers[path].key: makers[path] for path in job.inputs if path in makers}
        return {job.rule}.union(*map(needed, made.values()))

    needs = {job.rule: needed(job) for job in finished if job.rule in ("tabulate_types", "plot_examples")}
    assert "cluster_heads" in needs["tabulate_types"]
    assert not {"evaluate_condition", "evaluate_controls", "measure_intervals"} & needs["tabulate_types"]
    assert "extract_text_features" in needs["plot_examples"]
    assert not {"cluster_heads", "measure_relations", "project_heads"} & needs["plot_examples"]


def test_no_two_rules_write_one_benchmark(finished):
    """Of rules that declarations make, by their names: first outputs of two may differ in their endings alone."""
    benchmarks = [path for job in finished for path in job.outputs if path.endswith("benchmark.tsv")]
    assert len(set(benchmarks)) == len(benchmarks)
    for job in finished:
        stage = STAGES[job.rule]
        assert not stage.inputs or stage.benchmark or job.outputs[-1].endswith(f".{job.rule}.benchmark.tsv")


@contextlib.contextmanager
def aside(file: Path):
    file.rename(file.with_name("aside"))
    try:
        yield
    finally:
        file.with_name("aside").rename(file)


@pytest.mark.parametrize("name", SAVED)
@pytest.mark.parametrize(("folder", "rule"), [("models/taught", "finetune_model"), ("trained/copying", "train_model")])
def test_a_file_that_is_deleted_in_the_folder_of_a_model_that_was_made_is_missed(place, folder, rule, name):
    with aside(place.folder / "results" / folder / name):
        assert (rule, Path(folder).name) in scheduled(planned_jobs(place.folder))


def test_weights_of_another_digest_than_the_configuration_says_are_told_when_the_run_is_planned(place):
    """Its digest in the configuration is of zeros; edited, no job runs that would compare it."""
    file, spec = place.folder / "results/sources/models/base.json", all_specs(place.config)["fetch_model", "base"]
    record = place.folder / "results/provenance/sources/models/base.json.json"
    with aside(file):
        write_json(file, {"weights": {"model.safetensors": "1" * 64}})
        write_json(record, {"spec": json.loads(spec), "inputs": {}})
        with pytest.raises(RuntimeError, match=r"models\.base\.source\.sha256: the model that was fetched has 1"):
            planned_jobs(place.folder)
    record.unlink()


def test_the_command_schedules_what_the_contract_says(place, finished):
    """Other tests read Snakemake's objects; here it is once what the command prints."""
    leaf = "tasks/asked/questions"
    with place.configured(with_leaf(place.config, place.folder / "inputs", leaf, leaf_rows()[leaf]["value"])):
        jobs = Counter(rule for rule, *_ in expected(finished, planned_jobs(place.folder)))
        printed = stats(place)
    assert jobs == {rule: count for rule, count in printed.items() if rule in STAGES}


def test_downloads_are_all_that_is_fetched_and_train_nothing(place, finished):
    """Models that the workflow makes, and their checkpoints, are fetched, too, from where it writes them."""
    training = [job for job in finished if job.rule in ("finetune_model", "train_model")]
    made = {output.rstrip("/") for job in training for output in job.outputs}
    fetched = Counter(job.rule for job in finished if job.rule.startswith("fetch_") and not made & {*job.inputs})
    assert made
    expected = {**fetched, "downloads": 1, "total": sum(fetched.values()) + 1}
    assert stats(place, "--forceall", "downloads") == expected


def test_the_page_of_results_is_named_only_where_this_run_made_it(place, finished):
    for target, is_named in (("results/ledger.html", False), ("results/index.html", True)):
        printed = snakemake(["--cores", "1", "--touch", "--force", target], place.folder)
        assert ("index.html in a browser." in printed) == is_named


def test_what_is_no_yaml_in_the_workflows_own_config_is_told_with_its_line(place, finished):
    with place.edited({"config.yaml": "seed: 1\nmodels: [\n"}):
        printed = snakemake(["--dry-run"], place.folder, check=False)
    assert "config.yaml cannot be read as YAML" in printed
    assert "line 3" in printed


def stats(place: Workplace, *arguments: str) -> dict[str, int]:
    return job_counts(snakemake(["--dry-run", "--quiet", "rules", *arguments], place.folder))


def test_a_model_that_is_made_of_one_that_is_made_needs_neither_to_be_selected(place):
    """And the training data of that one are looked for before anything runs."""
    with place.configured(edited(place.config, "select", {"models": ["schooled"], "tasks": ["made"]})):
        jobs = {job.key for job in planned_jobs(place.folder)}
    assert {("finetune_model", "taught"), ("finetune_model", "schooled"), ("fetch_model", "base")} <= jobs


def test_gpus_of_a_kind_are_asked_for_by_jobs_that_run_a_model_and_no_others(place):
    """Of rules whose jobs go to a cluster; a kind without a number would be enough to be given one."""
    command = ["--dry-run", "--cores", "2", "--forceall", "--default-resources", "gpu=1", "gpu_model=a100"]
    printed = snakemake(command, place.folder)
    asked = re.findall(r"^rule (\w+):$.*?^    resources: (.*?)$", printed, re.MULTILINE | re.DOTALL)
    kinds = {rule: ("gpu=1" in asks, "gpu_model=a100" in asks) for rule, asks in asked if "runtime=" in asks}
    assert {rule for rule, kind in kinds.items() if kind == (True, True)} == RUN_A_MODEL
    assert {kind for rule, kind in kinds.items() if rule not in RUN_A_MODEL} == {(False, False)}
