"""The contract: after an edit in a finished working directory, exactly what depends on it is scheduled."""

import ast
import copy
import json
import re
import shutil
import subprocess
import sys
from collections import Counter

import pytest

from headtypes.planning.digest import reached_modules
from tests.contract.tables import (
    STATEMENT,
    by_reason,
    expected,
    leaf_paths,
    leaf_rows,
    observed,
    reasons_of,
    with_leaf,
)
from tests.support.configs import edited, swapped
from tests.support.places import ROOT, SCRIPTS
from tests.support.planning import take_as_made
from tests.support.workplace import PARTS, Workplace, copy_workflow

LEAVES = leaf_rows()
MODULES = sorted(file.relative_to(SCRIPTS).as_posix() for file in SCRIPTS.rglob("*.py"))
# Leaves whose other value is not selected, and what no result depends on.
IDLE = {
    "models/base/source/sha256",
    "clustering/methods",
    "clustering/k",
    "jobs/shards",
}


def test_nothing_is_scheduled_without_an_edit(place):
    assert place.scheduled() == []


@pytest.mark.parametrize("path", LEAVES)
def test_an_edited_leaf_schedules_what_depends_on_it_and_nothing_else(place, finished, path):
    row = LEAVES[path]
    with place.configured(with_leaf(place.config, place.folder / "inputs", path, row["value"])):
        after = observed(place)
    if "refused" in row:
        assert after == row["refused"]
        return
    assert by_reason(after, named=True).get("spec", {}) == row.get("spec", {})
    assert reasons_of(after) == expected(finished, after)
    assert bool(reasons_of(after)) == (path not in IDLE)


def test_every_leaf_has_a_row(place):
    """In the order of the configuration; else give it a line in leaves.yaml."""
    assert list(LEAVES) == leaf_paths(place.config)


@pytest.mark.parametrize("script", sorted(SCRIPTS.glob("*.py")), ids=lambda script: script.stem)
def test_the_digest_of_a_rule_covers_the_modules_that_python_loads_for_it(loaded, script):
    assert reached_modules(script) == loaded[script.stem]


@pytest.mark.parametrize("module", MODULES)
def test_an_edited_module_schedules_the_rules_that_load_it_and_what_follows(place, finished, loaded, module):
    name = f"{SCRIPTS.relative_to(ROOT)}/{module}"
    with place.edited({name: place.text(name) + STATEMENT}):
        after = observed(place)
    own = {job.key for job in after if module in loaded[job.rule]}
    assert {job.key for job in after if job.reason == "code"} == own
    assert reasons_of(after) == expected(finished, after)


def reverse(part):
    """The same mappings with their keys in the other order."""
    return {key: reverse(part[key]) for key in reversed(part)} if isinstance(part, dict) else part


def test_the_order_of_keys_does_not_count(place):
    named = ("models", "tasks", "partitions", "conditions", "readings")
    entries = {section: {name: reverse(entry) for name, entry in place.config[section].items()} for section in named}
    with place.configured(reverse(place.config) | entries):
        assert place.scheduled() == []


def test_the_order_of_models_and_conditions_is_that_of_tables_and_figures_and_counts_there_alone(place):
    with place.configured(reverse(place.config)):
        # The conditions of a partition stand in its intervals and its figure of controls, and a claim is judged on the
        # partitions in their order.
        expected = {
            "spec": {
                "measure_intervals": 4,
                "plot_controls": 3,
                "tabulate_stability": 1,
                "tabulate_ablations": 1,
                "tabulate_readings": 1,
                "compare_with_guan": 1,
                "tabulate_models": 2,
                "plot_models": 2,
                "write_summary": 1,
            },
            # It reads the intervals.
            "follow": {"write_atlas": 3},
        }
        assert by_reason(place.scheduled()) == expected


def test_a_configuration_written_in_another_style_schedules_nothing(place):
    with place.edited({"config.yaml": f"# A comment.\n{json.dumps(place.config, indent=3)}\n"}):
        assert place.scheduled() == []


def test_what_is_so_by_default_may_be_left_out(place):
    config = copy.deepcopy(place.config)
    for section, keys in {
        "clustering": ["methods", "distance_bins", "scale"],
        "ablation": ["sentences", "special_tokens", "renormalise", "uniform_over_padding"],
        "compute": ["precision"],
    }.items():
        for key in keys:
            del config[section][key]
    with place.configured(config):
        assert place.scheduled() == []


def in_other_clothes(text: str) -> str:
    """A module with other comments, docstrings, line breaks and quotation marks."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            described = ast.get_docstring(node) is not None
            node.body[: int(described)] = [ast.Expr(ast.Constant("Described otherwise."))]
    return f"# A comment.\n\n\n{ast.unparse(ast.fix_missing_locations(tree))}\n# Another.\n"


def test_comments_docstrings_and_formatting_of_every_module_schedule_nothing(place):
    texts = {name: in_other_clothes(place.text(name)) for name in place.modules()}
    with place.edited(texts):
        assert place.scheduled() == []


def test_a_fresh_checkout_of_the_same_code_schedules_nothing(place, tmp_path):
    copy_workflow(place.folder, tmp_path)
    for part in PARTS:
        shutil.rmtree(place.folder / part) if (place.folder / part).is_dir() else (place.folder / part).unlink()
    copy_workflow(tmp_path, place.folder)
    newest = max(file.stat().st_mtime for file in (place.folder / "results").rglob("*"))
    assert (place.folder / "reference/guan2020.yaml").stat().st_mtime > newest
    assert place.scheduled() == []


def test_a_folder_that_was_moved_schedules_nothing(place, tmp_path):
    config = json.loads(json.dumps(place.config).replace(f"{place.folder}/inputs", "inputs"))
    made = Workplace.copied(tmp_path / "before", config)
    shutil.copytree(place.folder / "inputs", made.folder / "inputs")
    made.finish()
    shutil.move(made.folder, tmp_path / "after")
    assert Workplace(tmp_path / "after", config).scheduled() == []


def test_touched_inputs_schedule_nothing(place):
    for file in (place.folder / "inputs").rglob("*"):
        file.touch()
    assert place.scheduled() == []


@pytest.mark.parametrize(
    ("name", "readers"),
    {
        "inputs/squad.json": {"fetch_task": 1},
        "inputs/texts/b.txt": {"fetch_task": 1},
        "inputs/train.json": {"fetch_training": 1},
        "inputs/dev.conllu": {"fetch_task": 1},
        "inputs/test.conllu": {"fetch_test": 1},
        "inputs/model/config.json": {"fetch_model": 1},
        "inputs/mine.csv": {"import_partition": 1},
        # compare_with_guan reads it too, and follows the tables anyway.
        "reference/guan2020.yaml": {
            "tabulate_stability": 1,
            "tabulate_ablations": 1,
            "tabulate_readings": 1,
            "plot_models": 2,
        },
        "workflow_scripts/headtypes/pages/atlas/assets/tiles.js": {"write_atlas": 6},
    }.items(),
)
def test_a_changed_input_schedules_its_readers(place, name, readers):
    with place.edited({name: place.text(name) + "\n"}):
        assert by_reason(place.scheduled())["input"] == readers


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
        "measure_intervals": 3,
        "tabulate_readings": 1,
    },
    ("conditions/zero-dense/dense", "conditions/drop-near/near"): {
        "evaluate_condition": 4,
        "measure_intervals": 4,
        "tabulate_ablations": 1,
        "tabulate_readings": 1,
        "compare_with_guan": 1,
        "write_atlas": 3,
        "join_types": 4,
        "plot_controls": 3,
    },
    ("conditions/mixed/dense", "conditions/mixed/2-3"): {
        "evaluate_condition": 6,
        "evaluate_controls": 3,
        "tabulate_ablations": 1,
        "tabulate_readings": 1,
        "compare_with_guan": 1,
        "write_atlas": 3,
        "plot_controls": 3,
    },
    ("conditions/baseline", "conditions/drop-near"): {
        "evaluate_condition": 2,
        "measure_intervals": 4,
        "tabulate_ablations": 1,
        "tabulate_readings": 1,
        "compare_with_guan": 1,
        "write_atlas": 3,
    },
    ("controls/draws", "controls/questions"): {"evaluate_controls": 6, "tabulate_ablations": 1},
    ("controls/questions", "curves/questions"): {"evaluate_controls": 6, "evaluate_curves": 4, "tabulate_ablations": 1},
    ("curves/orders", "curves/questions"): {"evaluate_curves": 4},
    ("clustering/restarts", "stability/models"): {
        "cluster_heads": 10,
        "measure_stability": 10,
        "measure_confidence": 10,
        "choose_clustering": 9,
    },
}


@pytest.mark.parametrize(("one", "other"), SWAPS)
def test_two_values_that_change_places_are_noticed(place, one, other):
    with place.configured(swapped(place.config, one, other)):
        scheduled = place.scheduled()
    assert Counter(job.rule for job in scheduled if job.reason == "spec") == SWAPS[one, other]


def test_a_further_file_in_a_folder_of_data_schedules_its_reader(place):
    further = place.folder / "inputs/texts/c.txt"
    further.write_text("Seven.\n\nEight.\n")
    try:
        assert by_reason(place.scheduled())["input"] == {"fetch_task": 1}
    finally:
        further.unlink()


def test_what_is_new_is_made_in_shards_and_what_is_there_stays(place):
    """Nor does it matter how many shards another result was joined from."""
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


@pytest.mark.parametrize(("joined_from", "configured"), [(1, 4), (4, 1)])
def test_a_further_attempt_on_a_cluster_takes_the_shards_that_the_run_planned(tmp_path, joined_from, configured):
    """The first one has deleted the result and its record, from which the run knows the number."""
    place = Workplace.copied(tmp_path).finish()
    result, record = "results/features/base/squad.h5", "results/provenance/features/base/squad.h5.json"
    place.write({record: json.dumps({**json.loads(place.text(record)), "shards": joined_from})})
    shards = [f"results/shards/features/base/squad/{shard}-of-{joined_from}.h5" for shard in range(joined_from)]
    with place.configured({**place.config, "jobs": {"shards": configured}}):
        _touch(place, shards)
        take_as_made(place.folder)
        # As Snakemake has taken them for joined.
        _touch(place, shards)
        for path in (result, record):
            (place.folder / path).unlink()
        command = [sys.executable, "-m", "snakemake", "--mode", "remote", "--force", "--dry-run", "--cores", "1"]
        command += ["--allowed-rules", "extract_features", "--target-jobs", "extract_features:model=base,task=squad"]
        run = subprocess.run(command, cwd=place.folder, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert [path for path in re.findall(r"[^\s,]+", run.stdout) if "/shards/" in path] == shards * (joined_from > 1)


def test_a_job_on_a_node_does_not_take_itself_for_a_run_that_has_ended_well(tmp_path):
    place = Workplace.copied(tmp_path)
    command = [sys.executable, "-m", "snakemake", "--cores", "1"]
    node = ["--mode", "remote", "--allowed-rules", "fetch_task", "--target-jobs", "fetch_task:task=made"]
    remembered = place.folder / "results/provenance/config.json"
    for arguments, is_run in ((node, False), (["--force", "results/sources/tasks/made.jsonl"], True)):
        run = subprocess.run([*command, *arguments], cwd=place.folder, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        assert (place.folder / "results/sources/tasks/made.jsonl").is_file()
        assert remembered.is_file() == is_run


def _touch(place: Workplace, paths: list[str]) -> None:
    for path in paths:
        (place.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (place.folder / path).touch()
