"""The contract: after an edit in a finished working directory, exactly what depends on it is scheduled.

What an edit changes of a job's `spec` and `code` is looked up in one process: for every leaf of the configuration in
tests/unit/planning/test_specs.py, by the table of leaves, and here for values that change places and for every module.
Snakemake plans some twenty times, to show that equal specs, digests and inputs mean no job, and others exactly those
jobs and what follows them (`tables.expected`).
"""

import ast
import contextlib
import copy
import json
import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from headtypes.planning.code.digest import code_parts, reached_modules

from headtypes.core.errors import InputError
from headtypes.planning.config.schema import read_config
from headtypes.planning.plan import Plan
from headtypes.planning.stages.registry import STAGES
from tests.contract.tables import by_reason, expected, leaf_rows, observed, reasons_of, with_leaf
from tests.support.configs import edited, reverse, swapped
from tests.support.job_specs import all_specs
from tests.support.places import ROOT, SCRIPTS
from tests.support.planning import planned_jobs, take_as_made
from tests.support.warm import python
from tests.support.workplace import PARTS, Workplace, copy_workflow

LEAVES = leaf_rows()
GROUPS = 4
# Leaves that are in no spec: the jobs that have other inputs by them, or whose results are new.
WITHOUT_SPEC = {
    "models/taught/source/finetuned/task": {("finetune_model", "taught"): "input"},
    "models/schooled/source/finetuned/task": {("finetune_model", "schooled"): "input"},
    "models/trained/source/finetuned/task": {("finetune_model", "trained"): "input"},
    "partitions/mine/file": {("import_partition", "tuned+1.0", "mine"): "input"},
    "probes/vectors/file": {("train_probes", "trained", "bank"): "input"},
}
# Leaves whose other value is not selected, and what no result depends on.
IDLE = {"models/base/source/sha256", "clustering/methods", "clustering/k", "jobs/shards"}
IDLE |= {f"models/packed/memory/{place}" for place in ("gpu", "cpu")}
IDLE |= {f"models/kin-{{seed}}/{key}" for key in ("source/hub", "tasks", "over/seed")}
# No model of this configuration reads it.
IDLE |= {f"tasks/german/{key}" for key in ("source/file", "columns/text", "columns/target")}


def configuration(place: Workplace, path: str, config: dict | None = None) -> dict:
    """The configuration of a place, or another, in which a leaf has the value of its row."""
    return with_leaf(config or place.config, place.folder / "inputs", path, LEAVES[path]["value"])


def has_idle_base(config: dict) -> bool:
    """Whether a model is made from one that is not selected, whose job is planned without a result that is shown."""
    plan = Plan(read_config(config))
    return not {made.base for made in map(plan.finetuned, plan.models) if made} <= set(plan.models)


def in_groups(place: Workplace) -> list[dict]:
    """Configurations in which each leaf has its other value once, with as many leaves in each as fit together."""
    groups = [place.config] * GROUPS
    for count, path in enumerate(path for path, row in LEAVES.items() if "refused" not in row):
        for at in range(count, count + GROUPS):
            after = configuration(place, path, groups[at % GROUPS])
            with contextlib.suppress(InputError):
                all_specs(after)
                if has_idle_base(after):
                    continue
                groups[at % GROUPS] = after
                break
        else:
            raise AssertionError(f"{path} fits into no group")
    return groups


def test_nothing_is_scheduled_without_an_edit(finished):
    assert reasons_of(finished) == {}


@pytest.mark.parametrize("group", range(GROUPS))
def test_edited_leaves_schedule_what_depends_on_them_and_nothing_else(place, finished, group):
    config = in_groups(place)[group]
    with place.configured(config):
        after = planned_jobs(place.folder)
    specs = all_specs(config)
    # A shard has the spec of what is merged from it.
    of_shards = {job.key for job in after if job.rule.endswith("_shard")}
    planned = {job.key: ast.literal_eval(job.parameter("spec")) for job in after if job.key not in of_shards}
    assert planned == {key: specs[key] for key in planned}
    assert reasons_of(after) == expected(finished, after)


def test_leaves_that_are_in_no_spec_schedule_their_readers(place):
    assert {path for path, row in LEAVES.items() if not row.keys() & {"spec", "refused"}} == IDLE | WITHOUT_SPEC.keys()
    config = place.config
    for path in WITHOUT_SPEC:
        config = configuration(place, path, config)
    with place.configured(config):
        scheduled = {job.key: job.reason for job in place.scheduled() if job.reason != "follow"}
    assert scheduled == {key: reason for jobs in WITHOUT_SPEC.values() for key, reason in jobs.items()}


def test_a_refused_leaf_is_refused_in_the_words_of_its_row(place):
    path = next(path for path, row in LEAVES.items() if "refused" in row)
    with place.configured(configuration(place, path)):
        refused = observed(place)
    assert re.fullmatch(re.escape(LEAVES[path]["refused"]) + r" \[config\.yaml, line \d+\]", refused)


def test_the_digest_of_a_rule_covers_the_modules_that_python_loads_for_it(loaded):
    for script in SCRIPTS.glob("*.py"):
        assert reached_modules(script) <= loaded[script.stem]


def parts_of(scripts: Path) -> dict[str, dict]:
    return {script.stem: code_parts(script) for script in sorted(scripts.glob("*.py"))}


def rewritten(folder: Path, rewrite: Callable[[ast.Module], None]) -> Path:
    """A copy of the code in which every module's tree has been changed, printed in a formatting of its own."""
    for file in SCRIPTS.rglob("*.py"):
        tree = ast.parse(file.read_bytes())
        rewrite(tree)
        copied = folder / file.relative_to(SCRIPTS)
        copied.parent.mkdir(parents=True, exist_ok=True)
        copied.write_text(f"# A comment.\n\n\n{ast.unparse(ast.fix_missing_locations(tree))}\n# Another.\n")
    return folder


def describe_otherwise(tree: ast.Module) -> None:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            described = ast.get_docstring(node) is not None
            node.body[: int(described)] = [ast.Expr(ast.Constant("Described otherwise."))]


def do_otherwise(tree: ast.Module) -> None:
    """Change every statement with a body, every assignment and every annotated name."""
    for node in ast.walk(tree):
        if isinstance(getattr(node, "body", None), list):
            node.body.append(ast.Expr(ast.Constant(0)))
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            field = "value" if node.value else "annotation"
            setattr(node, field, ast.Tuple([getattr(node, field), ast.Constant(0)], ast.Load()))


def test_an_edit_of_any_definition_changes_the_digests_that_cover_it(tmp_path):
    before, after = parts_of(SCRIPTS), parts_of(rewritten(tmp_path, do_otherwise))
    for script, parts in before.items():
        same = {part.partition(":")[2] for part, digest in parts.items() if after[script].get(part) == digest}
        # Packages, orders, and calls.
        assert same <= {"", "(order)", "(import)"}


@pytest.fixture(scope="module")
def described(tmp_path_factory) -> Path:
    """The code with other comments, docstrings, line breaks and quotation marks."""
    return rewritten(tmp_path_factory.mktemp("described"), describe_otherwise)


def test_comments_docstrings_and_formatting_change_no_digest(described):
    assert parts_of(described) == parts_of(SCRIPTS)


# What is replaced by what in a module, and the scripts whose results that can change.
EDITS = {
    "what computes": (
        {"analyses/types/naming.py": ("SMALL_MARGIN = 0.05", "SMALL_MARGIN = 0.06")},
        {"measure_stability", "cluster_heads"},
    ),
    "what reads one kind of data": (
        {"data/kinds/coreference/conll2012.py": ('"#begin document"', '"#begin"')},
        {"fetch_task"},
    ),
    "a word in a figure": (
        {"papers/guan2020/figures/figure4.py": ('set_ylabel("layer"', 'set_ylabel("layers"')},
        {"compare_models"},
    ),
    "what plans, locks, records and reports": (
        {
            "planning/resources.py": ("_MB = 1e6", "_MB = 2e6"),
            "planning/code/digest.py": ("import gc", "import gc, os"),
            "planning/locks.py": ("the run that started this job has ended", "its run has ended"),
            "planning/provenance.py": ("was damaged or changed", "was changed"),
            "core/progress.py": ("elapsed", "gone"),
        },
        set(),
    ),
}


@pytest.mark.parametrize(("edits", "scripts"), EDITS.values(), ids=EDITS)
def test_edited_code_schedules_the_rules_whose_digest_differs_and_what_follows(place, finished, edits, scripts):
    texts = {}
    for name, (old, new) in edits.items():
        path = f"workflow_scripts/headtypes/{name}"
        texts[path] = place.text(path).replace(old, new)
        assert texts[path] != place.text(path)
    with place.edited(texts):
        after = planned_jobs(place.folder)
    before, digests = ({(STAGES[job.rule].script, job.parameter("code")) for job in jobs} for jobs in (finished, after))
    # Of each script one, but for what compares norms, which no job of this configuration reads.
    planned = sorted(script.stem for script in SCRIPTS.glob("*.py") if script.stem != "compare_norms")
    assert sorted(script for script, _ in digests) == planned
    assert {script for script, _ in digests - before} == scripts
    assert {job.key for job in after if job.reason == "code"} == {
        job.key for job in after if STAGES[job.rule].script in scripts
    }
    assert reasons_of(after) == expected(finished, after)


def without_defaults(config: dict) -> dict:
    config = copy.deepcopy(config)
    for section, keys in {
        "clustering": ["methods", "distance_bins", "scale"],
        "ablation": ["sentences", "special_tokens", "renormalise", "uniform_over_padding"],
        "compute": ["precision"],
    }.items():
        for key in keys:
            del config[section][key]
    return config


def in_another_order(config: dict) -> dict:
    """That of models, tasks and so on stays, since it is that of tables."""
    named = ("models", "tasks", "partitions", "conditions", "readings")
    return reverse(config) | {
        section: {name: reverse(entry) for name, entry in config[section].items()} for section in named
    }


@pytest.mark.parametrize("written", [in_another_order, without_defaults])
def test_how_a_configuration_is_written_changes_no_spec(place, written):
    assert all_specs(written(place.config)) == all_specs(place.config)


def test_a_fresh_checkout_in_another_style_and_touched_inputs_schedule_nothing(place, described):
    with place.edited({name: place.text(name) for name in ["config.yaml", *place.modules()]}):
        for part in PARTS:
            shutil.rmtree(place.folder / part) if (place.folder / part).is_dir() else (place.folder / part).unlink()
        copy_workflow(ROOT, place.folder)
        shutil.copytree(described, place.folder / "workflow_scripts", dirs_exist_ok=True)
        for file in (place.folder / "inputs").rglob("*"):
            file.touch()
        config = in_another_order(without_defaults(place.config))
        place.write({"config.yaml": f"# A comment.\n{json.dumps(config, indent=3)}\n"})
        newest = max(file.stat().st_mtime for file in (place.folder / "results").rglob("*"))
        assert (place.folder / "reference/guan2020.yaml").stat().st_mtime > newest
        assert place.scheduled() == []


def test_the_order_of_models_and_conditions_is_that_of_tables_and_figures_and_counts_there_alone(place):
    with place.configured(reverse(place.config)):
        # The conditions of a partition stand in its intervals and its figure of controls, and a claim is judged on the
        # partitions in their order.
        expected = {
            "spec": {
                "tabulate_stability": 1,
                "tabulate_ablations": 1,
                "tabulate_readings": 1,
                "compare_with_paper guan2020": 1,
                "write_summary": 1,
            },
            # The order is that of the keys of their inputs.
            "input": {
                "measure_intervals": 4,
                "plot_controls": 3,
                "tabulate_models": 2,
                "plot_models": 2,
                "write_atlas": 3,
            },
            "follow": {"write_ledger": 1},
        }
        assert by_reason(place.scheduled()) == expected


def test_a_folder_that_was_moved_schedules_nothing(place, tmp_path):
    config = json.loads(json.dumps(place.config).replace(f"{place.folder}/inputs", "inputs"))
    shutil.copytree(place.folder, tmp_path / "before")
    before, after = (Workplace(tmp_path / name, config) for name in ("before", "after"))
    before.write({"config.yaml": json.dumps(config)})
    take_as_made(before.folder)
    shutil.move(before.folder, after.folder)
    assert after.scheduled() == []


# By which rules inputs are read, and for how many jobs, of which none follows another.
READERS = {
    "the user's": {
        "inputs/squad.json": {"fetch_task": 1},
        "inputs/texts/b.txt": {"fetch_task": 1},
        "inputs/train.json": {"fetch_training": 1},
        "inputs/dev.conllu": {"fetch_task": 1},
        "inputs/test.conllu": {"fetch_test": 1},
        "inputs/model/config.json": {"fetch_model": 1},
    },
    "ours": {
        # The comparison and the page of results read it too, and follow the tables anyway.
        "reference/guan2020.yaml": {
            "tabulate_stability": 1,
            "tabulate_ablations": 1,
            "tabulate_readings": 1,
            "plot_models": 2,
        },
        "workflow_scripts/headtypes/pages/atlas/assets/tiles.js": {"write_atlas": 6},
    },
}


@pytest.mark.parametrize("whose", READERS)
def test_changed_inputs_schedule_their_readers(place, finished, whose):
    reading = {
        name: {job.key for job in finished if place.folder / name in {place.folder / path for path in job.inputs}}
        - {("compare_with_paper", "guan2020"), ("write_summary",)}
        for name in READERS[whose]
    }
    assert {name: Counter(rule for rule, *_ in jobs) for name, jobs in reading.items()} == READERS[whose]
    with place.edited({name: place.text(name) + "\n" for name in reading}):
        scheduled = place.scheduled()
    assert {job.key for job in scheduled if job.reason == "input"} == set().union(*reading.values())


def test_a_further_file_in_a_folder_of_data_and_a_changed_partition_schedule_their_readers(place):
    further = place.folder / "inputs/texts/c.txt"
    further.write_text("Seven.\n\nEight.\n")
    try:
        with place.edited({"inputs/mine.csv": place.text("inputs/mine.csv") + "\n"}):
            assert by_reason(place.scheduled())["input"] == {"fetch_task": 1, "import_partition": 1}
    finally:
        further.unlink()


def test_files_of_the_users_count_by_what_they_hold_however_old_they_are(place):
    name, large = "inputs/squad.json", place.folder / "inputs/squad.json"
    text, long_ago = place.text(name), 1_000_000_000
    with place.edited({name: text + " \n"}):
        os.utime(large, (long_ago, long_ago))
        assert by_reason(place.scheduled())["input"] == {"fetch_task": 1}
    made = "results/sources/tasks/squad.jsonl"
    with place.edited({name: text + " " * 2_000_000}):
        take_as_made(place.folder, made)
        later = large.stat().st_mtime + 1000
        os.utime(large, (later, later))
        assert place.scheduled() == []
    take_as_made(place.folder, made)


# Two leaves that a swap leaves well-formed, and the jobs that must see it themselves.
SWAPS = {
    ("tasks/squad/samples", "tasks/squad/questions"): {
        "sample_inputs": 1,
        "sample_questions": 1,
        "tabulate_stability": 1,
        "tabulate_ablations": 1,
    },
    ("tasks/squad/questions", "tasks/pairs/questions"): {"sample_questions": 2, "tabulate_ablations": 1},
    ("tasks/squad/source/file", "tasks/squad/source/training_file"): {"fetch_task": 1, "fetch_training": 1},
    ("tasks/bank/source/file", "tasks/bank/source/test_file"): {"fetch_task": 1, "fetch_test": 1},
    ("tasks/asked/source/split", "tasks/asked/source/training_split"): {"fetch_task": 1, "fetch_training": 1},
    ("tasks/pairs/columns/first", "tasks/pairs/columns/second"): {"fetch_task": 1},
    ("models/base/source", "models/packed/source"): {"fetch_model": 2},
    ("models/taught/source/finetuned/batch_size", "models/taught/source/finetuned/max_seq_length"): {
        "finetune_model": 1
    },
    ("windows/max_query_length", "windows/max_answer_length"): {
        "prepare_windows": 2,
        "evaluate_condition": 12,
        "evaluate_controls": 4,
        "evaluate_curves": 3,
    },
    ("readings/segments", "readings/padded"): {
        "evaluate_condition": 2,
        "tabulate_readings": 1,
    },
    ("conditions/zero-dense/dense", "conditions/drop-near/near"): {
        "evaluate_condition": 4,
        "evaluate_controls": 3,
        "tabulate_ablations": 1,
        "tabulate_readings": 1,
        "write_atlas": 3,
        "compare_types": 3,
        "plot_controls": 3,
    },
    ("conditions/mixed/dense", "conditions/mixed/2-3"): {
        "evaluate_condition": 6,
        "evaluate_controls": 3,
        "tabulate_ablations": 1,
        "tabulate_readings": 1,
        "write_atlas": 3,
        "plot_controls": 3,
    },
    ("conditions/baseline", "conditions/drop-near"): {
        "evaluate_condition": 2,
        "measure_intervals": 4,
        "tabulate_ablations": 1,
        "tabulate_readings": 1,
        "write_atlas": 3,
    },
    ("controls/draws", "controls/questions"): {"evaluate_controls": 6, "tabulate_ablations": 1},
    ("controls/questions", "curves/questions"): {"evaluate_controls": 6, "evaluate_curves": 4, "tabulate_ablations": 1},
    ("curves/orders", "curves/questions"): {"evaluate_curves": 4},
    ("clustering/restarts", "stability/models"): {
        "cluster_heads": 10,
        "measure_stability": 10,
        "compare_with_paper": 1,
    },
}


def test_two_values_that_change_places_are_noticed(place):
    before = all_specs(place.config)
    for (one, other), noticing in SWAPS.items():
        after = all_specs(swapped(place.config, one, other))
        differing = Counter(key[0] for key in before.keys() & after.keys() if before[key] != after[key])
        assert differing == noticing, (one, other)


def test_what_is_new_is_made_in_shards_and_what_is_there_stays(place):
    """Nor does it matter how many shards another result was merged from."""
    config = edited(place.config, "jobs/shards", 3)
    config["models"]["more"] = {**config["models"]["tuned+1.0"], "evaluate": None}
    config["select"]["models"] = [*config["select"]["models"], "more"]
    with place.configured(config):
        scheduled = place.scheduled()
    assert {job.wildcards[0] for job in scheduled if job.rule == "extract_features"} == {"more"}
    assert [job.wildcards for job in scheduled if job.rule == "extract_shard"] == [
        ("more", "squad", str(shard), "3") for shard in range(3)
    ]
    assert not [job for job in scheduled if job.rule.startswith("evaluate")]


@pytest.mark.parametrize(("merged_from", "configured"), [(1, 4), (4, 1)])
def test_a_further_attempt_on_a_cluster_takes_the_shards_that_the_run_planned(place, tmp_path, merged_from, configured):
    """The first one has deleted the result and its record, from which the run knows the number."""
    place = Workplace(shutil.copytree(place.folder, tmp_path / "finished"), place.config)
    result, record = "results/features/base/squad.h5", "results/provenance/features/base/squad.h5.json"
    place.write({record: json.dumps({**json.loads(place.text(record)), "shards": merged_from})})
    shards = [f"results/shards/features/base/squad/{shard}-of-{merged_from}.h5" for shard in range(merged_from)]
    with place.configured({**place.config, "jobs": {"shards": configured}}):
        place.touch(shards)
        take_as_made(place.folder, result)
        # As Snakemake has taken them for merged.
        place.touch(shards)
        for path in (result, record):
            (place.folder / path).unlink()
        command = [python(), "-m", "snakemake", "--mode", "remote", "--force", "--dry-run", "--cores", "1"]
        command += ["--allowed-rules", "extract_features", "--target-jobs", "extract_features:model=base,task=squad"]
        run = subprocess.run(command, cwd=place.folder, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert [path for path in re.findall(r"[^\s,]+", run.stdout) if "/shards/" in path] == shards * (merged_from > 1)


def test_a_job_on_a_node_does_not_take_itself_for_a_run_that_has_ended_well(tmp_path):
    place = Workplace.copied(tmp_path)
    command = [python(), "-m", "snakemake", "--cores", "1"]
    node = ["--mode", "remote", "--allowed-rules", "fetch_task", "--target-jobs", "fetch_task:task=made"]
    remembered = place.folder / "results/provenance/config.json"
    for arguments, is_run in ((node, False), (["--force", "results/sources/tasks/made.jsonl"], True)):
        run = subprocess.run([*command, *arguments], cwd=place.folder, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        assert (place.folder / "results/sources/tasks/made.jsonl").is_file()
        assert remembered.is_file() == is_run
