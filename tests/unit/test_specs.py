"""What each rule depends on: a change of any value in the configuration changes the specs of the right rules only.

This is the unit form of the promise that an edit of config.yaml runs again what depends on it and nothing else.
"""

import inspect
import json
from pathlib import Path

import pytest

from headtypes import specs
from headtypes.config import read_config
from headtypes.errors import InputError
from headtypes.files import canonical_json
from headtypes.plan import Plan
from tests.configs import DELETE, edited, full_config, leaves

SCRIPTS = Path(specs.__file__).parents[1]
CANNOT = "cannot change alone"
COMPARED = {"tabulate_stability", "draw_models"}
CLUSTER = {"cluster_heads", "measure_stability"}
EVALUATE = {"evaluate_condition baseline", "evaluate_condition zero-dense", "evaluate_condition drop-near"}

# Every value of the full configuration: another value, and the rules whose specs must change with it.
EVERY_VALUE = [
    (
        "seed",
        2,
        {
            "draw_projection",
            "draw_samples",
            "draw_questions",
            "fetch_task",
            "fetch_training",
            "finetune_model",
            *CLUSTER,
        },
    ),
    ("tasks/squad/kind", "sentence_pair", CANNOT),
    ("tasks/squad/source/file", "pairs.tsv", {"fetch_task"}),
    ("tasks/squad/source/training_file", "pairs.tsv", {"fetch_training"}),
    ("tasks/squad/samples", 11, {"draw_samples"}),
    ("tasks/squad/questions", 21, {"draw_questions"}),
    ("tasks/asked/source/hub", "other/questions", {"fetch_task", "fetch_training"}),
    ("tasks/asked/source/name", "fancy", {"fetch_task", "fetch_training"}),
    ("tasks/asked/source/revision", "def", {"fetch_task", "fetch_training"}),
    ("tasks/asked/source/split", "test", {"fetch_task"}),
    ("tasks/asked/source/training_split", "other", {"fetch_training"}),
    ("tasks/asked/questions", 5, {"draw_questions"}),
    ("tasks/made/source/world", "paraphrase", CANNOT),
    ("tasks/made/source/size", 51, {"fetch_task"}),
    ("tasks/made/source/training_size", 61, {"fetch_training"}),
    ("tasks/pairs/kind", "question_answering", CANNOT),
    ("tasks/pairs/source/file", "squad.json", {"fetch_task"}),
    ("tasks/pairs/columns/first", "x", {"fetch_task"}),
    ("tasks/pairs/columns/second", "x", {"fetch_task"}),
    ("tasks/pairs/columns/label", "x", {"fetch_task"}),
    ("tasks/pairs/columns/id", "x", {"fetch_task"}),
    ("models/base/source/hub", "other/model", {"fetch_model"}),
    ("models/base/source/revision", "v2", {"fetch_model"}),
    ("models/base/source/sha256", "1" * 64, {"fetch_model"}),
    ("models/base/tasks", ["squad", "pairs", "asked"], COMPARED),
    ("models/base/published", "mrpc", {"tabulate_stability"}),
    ("models/tuned+1.0/source/folder", "other", {"fetch_model"}),
    ("models/tuned+1.0/parent", "packed", {"draw_models"}),
    ("models/tuned+1.0/tasks", ["squad", "asked"], COMPARED),
    ("models/tuned+1.0/evaluate", DELETE, {"tabulate_ablations"}),
    ("models/tuned+1.0/published", "mnli", {"tabulate_stability"}),
    ("models/packed/source/package", "xml", {"fetch_model"}),
    ("models/packed/source/subfolder", "x", {"fetch_model"}),
    ("models/packed/tasks", ["asked", "squad"], COMPARED),
    # The record of another base, and the rows of another task, are inputs of the rule.
    ("models/taught/source/finetuned/base", "packed", set()),
    ("models/taught/source/finetuned/task", "squad", set()),
    *[
        (f"models/taught/source/finetuned/{key}", value, {"finetune_model"})
        for key, value in {
            "learning_rate": 2e-4,
            "batch_size": 8,
            "epochs": 3.0,
            "warmup_share": 0.0,
            "max_length": 64,
            "freeze_embeddings": False,
            "bf16": True,
        }.items()
    ],
    ("models/taught/tasks", ["made", "asked"], COMPARED),
    # What is not selected changes nothing; test_plan tells what a new clustering brings.
    ("clustering/methods", ["kmeans", "gmm"], set()),
    ("clustering/k", [3, 4, 5], set()),
    ("clustering/windows", 32, {*CLUSTER, "import_partition", "draw_heads", "draw_projection"}),
    ("clustering/scale", True, CLUSTER),
    ("clustering/restarts", 6, CLUSTER),
    ("stability/models", 5, {"measure_stability"}),
    # The file is an input of the rule.
    ("partitions/mine/file", "same.csv", set()),
    ("partitions/mine/model", "base", {"tabulate_ablations"}),
    ("partitions/mine/task", "pairs", CANNOT),
    ("windows/tokens", 101, {"prepare_windows"}),
    ("windows/advance", 21, {"prepare_windows"}),
    ("windows/question_tokens", 31, {"prepare_windows"}),
    ("windows/answer_tokens", 11, EVALUATE),
    # The readings matter to conditions that drop attention within or between sentences, and to no other.
    ("ablation/sentences", "segments", {"evaluate_condition drop-near"}),
    ("ablation/special_tokens", "inter", {"evaluate_condition drop-near"}),
    ("ablation/renormalise", True, {"evaluate_condition drop-near"}),
    ("conditions/zero-dense/dense", "uniform", {"evaluate_condition zero-dense", "tabulate_ablations"}),
    ("conditions/zero-dense/vertical", "zero", {"evaluate_condition zero-dense", "tabulate_ablations"}),
    ("conditions/drop-near/near", "zero", {"evaluate_condition drop-near", "tabulate_ablations"}),
    ("compute/precision", "bfloat16", {"extract_features", "map_attention", *EVALUATE}),
    ("compute/batch_tokens", 2048, {"extract_features", *EVALUATE}),
    ("select/models", ["base", "tuned+1.0", "taught"], COMPARED),
    ("select/tasks", ["squad", "pairs", "made"], COMPARED),
    ("select/partitions", ["squad-kmeans-k4", "mine"], COMPARED),
    ("select/conditions", ["baseline", "zero-dense"], {"tabulate_ablations"}),
]


@pytest.fixture
def full(tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "config.json").write_text("{}")
    (tmp_path / "same.csv").write_text("layer,head,type\n0,0,near\n0,1,far\n")
    return full_config(tmp_path)


def all_specs(raw) -> dict[tuple, str]:
    """The spec of every job: (rule, its wildcards) -> canonical JSON."""
    plan = Plan(read_config(raw))
    jobs = [
        *(("fetch_model", model) for model in plan.models),
        *((rule, task) for task in plan.tasks for rule in ("fetch_task", "draw_samples", "draw_questions")),
        *(("fetch_training", task) for task in ("squad", "asked", "made")),
        *(("finetune_model", model) for model in plan.models if plan.finetuned(model)),
        *(("extract_features", *each) for each in plan.features),
        *(("prepare_windows", each.model, each.task) for each in plan.ablations),
        *(("import_partition" if each.file else "cluster_heads", *name) for name, each in plan.partitions.items()),
        *(("measure_stability", *name) for name, each in plan.partitions.items() if each.method),
        *(("evaluate_condition", each.model, each.partition, each.condition) for each in plan.ablations),
        *(("map_attention", *each) for each in plan.features),
        *((f"draw_{what}", *name) for name in plan.partitions for what in ("heads", "projection", "layers", "atlas")),
        *(("draw_models", clustering) for clustering in plan.clusterings),
        ("tabulate_stability",),
        ("tabulate_ablations",),
    ]
    return {job: canonical_json(getattr(specs, job[0])(plan, *job[1:])) for job in jobs}


def changed(before, after) -> set[str]:
    """The rules of the jobs that both plans have and whose specs differ, with the condition where there is one."""
    old, new = all_specs(before), all_specs(after)
    jobs = {job for job in old.keys() & new.keys() if old[job] != new[job]}
    return {f"{job[0]} {job[3]}" if len(job) == 4 else job[0] for job in jobs}


@pytest.mark.parametrize(("path", "value", "expected"), EVERY_VALUE, ids=[path for path, *_ in EVERY_VALUE])
def test_a_changed_value_changes_the_specs_of_the_rules_that_depend_on_it(full, tmp_path, path, value, expected):
    if path.endswith(("file", "/folder")):
        value = str(tmp_path / value)
    after = edited(full, path, value)
    if expected == CANNOT:
        with pytest.raises(InputError):
            all_specs(after)
    else:
        assert changed(full, after) == expected


def test_every_value_of_the_full_configuration_is_tried(full):
    values = {path for path, value in leaves(full).items() if value != {}}
    assert values - {path for path, *_ in EVERY_VALUE} == set()


def test_every_rule_has_a_spec_and_every_spec_a_rule():
    functions = {name for name, _ in inspect.getmembers(specs, inspect.isfunction) if not name.startswith("_")}
    functions -= {"derive_seed"}
    assert functions == {script.stem for script in SCRIPTS.glob("*.py")}


def test_a_spec_is_plain_data_that_json_brings_back_as_it_was(full):
    for spec in all_specs(full).values():
        assert canonical_json(json.loads(spec)) == spec


def test_equal_configurations_give_equal_specs_whatever_the_order_of_their_keys(full):
    def reverse(part):
        if not isinstance(part, dict):
            return part
        return {key: reverse(part[key]) for key in reversed(part)}

    for registry in ("compute", "clustering", "windows", "ablation"):
        reordered = edited(full, registry, reverse(full[registry]))
        assert all_specs(reordered) == all_specs(full)


def test_the_order_of_a_mapping_of_types_does_not_count(full):
    operations = dict(reversed(full["conditions"]["zero-dense"].items()))
    assert changed(full, edited(full, "conditions/zero-dense", operations)) == set()


def test_keep_is_the_same_as_not_naming_the_type(full):
    without = edited(full, "conditions/zero-dense/vertical", DELETE)
    assert not any(rule.startswith("evaluate_condition") for rule in changed(full, without))


def test_a_drawing_of_all_questions_does_not_depend_on_the_seed(full):
    first, second = (Plan(read_config(edited(full, "seed", seed))) for seed in (1, 2))
    assert specs.draw_questions(first, "asked") == specs.draw_questions(second, "asked")
    assert specs.draw_questions(first, "squad") != specs.draw_questions(second, "squad")


def test_each_random_choice_has_its_own_seed(full):
    seeds = [json.loads(spec).get("seed") for job, spec in all_specs(full).items()]
    seeds = [seed for seed in seeds if seed is not None]
    assert len(set(seeds)) == len(seeds) > 10
