"""The plan: each new entry of the configuration brings its own jobs and no others."""

import pytest

from headtypes.analyses.ablation.analysis import evaluate_condition
from headtypes.analyses.detectors.analysis import DETECTORS
from headtypes.core.errors import InputError
from headtypes.data.stage import prepare_windows
from headtypes.planning.checks import check_published
from headtypes.planning.config import read_config
from headtypes.planning.plan import AblationPlan, Plan
from tests.support.configs import all_specs, edited, full_config


@pytest.fixture
def small(tmp_path):
    """One model, one task, one clustering, two conditions; everything runs."""
    full = full_config(tmp_path)
    return {
        "tasks": {"squad": full["tasks"]["squad"]},
        "models": {"bert": {**full["models"]["base"], "tasks": ["squad"], "evaluate": "squad"}},
        "conditions": {"baseline": {}, "zero-dense": {"dense": "zero"}},
    }


@pytest.fixture
def imported(small, tmp_path):
    return edited(small, "partitions", {"mine": {"file": str(tmp_path / "mine.csv"), "model": "bert", "task": "squad"}})


def jobs(raw) -> tuple[list, ...]:
    plan = Plan(read_config(raw))
    return plan.features, list(plan.partitions), plan.ablations


def test_only_selected_models_are_tested_by_detectors(tmp_path):
    unread = edited(full_config(tmp_path), "select/models", ["base", "tuned+1.0", "packed"])
    del unread["models"]["copying"]
    full = edited(unread, "detectors/models", ["packed", "base"])
    assert [entry.model for entry in Plan(read_config(full)).detected] == ["base", "packed"]
    full["select"]["models"] = ["base"]
    plan = Plan(read_config(full))
    assert [entry.model for entry in plan.detected] == ["base"]
    assert [entry.model for entry in plan.entries_of(DETECTORS, "base")] == ["base"]
    assert plan.entries_of(DETECTORS, "tuned+1.0") == []


K4, K5 = "squad-kmeans-k4", "squad-kmeans-k5"
EVALUATED = {
    "the partition with all types of a condition": ({}, {K4: ["baseline", "zero-dense"]}),
    "no condition names the types of k = 5": (
        {"conditions/zero-near": {"near": "zero"}, "clustering": {"k": [4, 5]}},
        {K4: ["baseline", "zero-dense"], "mine": ["baseline", "zero-near"]},
    ),
    "a baseline alone goes with all": (
        {"partitions": {}, "conditions": {"baseline": {}}, "clustering": {"k": [4, 5]}},
        {K4: ["baseline"], K5: ["baseline"]},
    ),
    "a baseline of single heads": (
        {
            "partitions": {},
            "conditions": {"none": {"1-1": "keep"}, "zero": {"type-1": "zero"}},
            "clustering": {"k": [5]},
        },
        {K5: ["none", "zero"]},
    ),
    "a baseline with types that a partition lacks": (
        {"conditions": {"same": {"near": "keep"}, "head": {"1-1": "zero"}}},
        {K4: ["head"], "mine": ["same", "head"]},
    ),
    # How many heads the model has is not known before it is there; `operations` refuses one too many.
    "single heads go with all": (
        {"conditions": {"baseline": {}, "far-off": {"13-99": "zero"}}, "clustering": {"k": [5]}},
        {K5: ["baseline", "far-off"], "mine": ["baseline", "far-off"]},
    ),
    "a type and a single head": (
        {"conditions/both": {"near": "zero", "1-2": "mean"}},
        {K4: ["baseline", "zero-dense"], "mine": ["baseline", "both"]},
    ),
}


@pytest.mark.parametrize(("edits", "evaluated"), EVALUATED.values(), ids=EVALUATED)
def test_a_condition_goes_to_the_partitions_with_all_its_types_and_the_baseline_goes_along(imported, edits, evaluated):
    for path, value in edits.items():
        imported = edited(imported, path, value)
    assert Plan(read_config(imported)).ablations == [
        AblationPlan("bert", partition, condition, "squad")
        for partition in evaluated
        for condition in evaluated[partition]
    ]


@pytest.fixture
def read(small):
    more = {"drop": {"dense": "drop_intra"}, "even": {"dense": "uniform", "1-2": "mean"}, "same": {"dense": "keep"}}
    raw = edited(small, "conditions", {**small["conditions"], **more})
    readings = {
        "segments": {"sentences": "segments"},
        "wide": {"special_tokens": "inter", "uniform_over_padding": True},
    }
    return edited(raw, "readings", readings)


def test_a_condition_is_evaluated_under_the_readings_that_can_change_it(small, read):
    plan = Plan(read_config(read))
    own = ["baseline", "zero-dense", "drop", "even", "same"]
    names = ["baseline", "zero-dense", "drop", "drop@segments", "drop@wide", "even", "even@wide", "same"]
    assert [ablation.name for ablation in plan.ablations] == names
    assert [ablation.name for ablation in plan.tabulated] == own
    assert AblationPlan("bert", "squad-kmeans-k4", "drop", "squad", "wide") in plan.ablations
    # One that says what `ablation` says, or that differs in what the condition does not touch, changes nothing.
    same = edited(read, "readings/same", {"sentences": "splitter", "renormalise": False})
    assert Plan(read_config(same)).ablations == plan.ablations


def test_a_reading_is_laid_over_that_of_ablation(read):
    plan = Plan(read_config(edited(read, "ablation", {"renormalise": True})))
    own = {"sentences": "splitter", "special_tokens": "neither", "renormalise": True}
    assert plan.reading("drop") == ("drop", own)
    assert plan.reading("drop@segments") == ("drop", {**own, "sentences": "segments"})
    assert plan.reading("drop@wide") == ("drop", {**own, "special_tokens": "inter"})
    assert plan.reading("even@wide") == ("even", {"uniform_over_padding": True})
    assert plan.reading("zero-dense") == ("zero-dense", {})


def test_on_a_text_a_condition_is_evaluated_under_the_readings_that_mean_something_there(read):
    news = {"kind": "text", "source": {"hub": "some/news"}, "max_seq_length": 64, "questions": 9}
    config = edited(edited(read, "tasks/news", news), "models/bert", {"source": {"hub": "a/b"}, "tasks": ["news"]})
    plan = Plan(read_config(config))
    assert plan.ablations == []
    assert not any(rule in {key[0] for key in all_specs(config)} for rule in ("sample_questions", "prepare_windows"))
    config = edited(config, "models/bert/evaluate", "news")
    plan = Plan(read_config(config))
    names = ["baseline", "zero-dense", "drop", "drop@wide", "even", "same"]
    assert [ablation.name for ablation in plan.ablations if ablation.model == "bert"] == names
    assert plan.reading("drop@wide", "news") == ("drop", {"special_tokens": "inter", "renormalise": False})
    shape = prepare_windows.spec(plan, model="bert", task="news")
    assert {name: shape[name] for name in ("kind", "max_seq_length")} == {"kind": "text", "max_seq_length": 64}
    other = Plan(read_config(edited(config, "seed", 77)))
    assert prepare_windows.spec(other, model="bert", task="news")["seed"] != shape["seed"]
    assert evaluate_condition.spec(plan, "bert", "news-kmeans-k4", "drop")["kind"] == "text"


def test_the_conditions_that_change_some_head_have_controls(read):
    assert [ablation.name for ablation in Plan(read_config(read)).controlled] == ["zero-dense", "drop", "even"]
    some = edited(read, "controls", {"conditions": ["even", "drop", "baseline"]})
    assert [ablation.name for ablation in Plan(read_config(some)).controlled] == ["drop", "even"]
    assert Plan(read_config(edited(read, "controls", {"draws": 0}))).controlled == []
    kept = edited(read, "select", {"conditions": ["zero-dense", "same"]})
    assert [ablation.name for ablation in Plan(read_config(kept)).controlled] == ["zero-dense"]


def test_a_head_that_is_kept_counts_where_a_type_is_not(small):
    conditions = {
        "but-one": {"dense": "zero", "1-2": "keep"},
        "no-type": {"dense": "keep", "1-2": "keep", "1-3": "zero"},
        "nothing": {"dense": "keep", "1-2": "keep"},
    }
    plan = Plan(read_config(edited(small, "conditions", conditions)))
    assert plan.operations("but-one") == {"dense": "zero", "1-2": "keep"}
    assert plan.operations("no-type") == {"1-3": "zero"}
    assert plan.operations("nothing") == {}


def test_the_baseline_is_the_condition_that_changes_no_head(read):
    for names, baseline in [(None, "baseline"), (["zero-dense", "same"], "same"), (["zero-dense"], "baseline")]:
        plan = Plan(read_config(edited(read, "select", {"conditions": names})))
        evaluation = plan.baseline("bert", "squad-kmeans-k4")
        assert (evaluation and evaluation.name) == baseline


def test_the_partitions_that_conditions_are_evaluated_on_are_ablated(imported):
    plan = Plan(read_config(imported))
    assert list(plan.partitions) == [("bert", "squad-kmeans-k4"), ("bert", "mine")]
    assert [partition.name for partition in plan.ablated] == ["squad-kmeans-k4"]


def test_gradients_are_measured_on_texts_and_on_the_task_that_a_model_answers(tmp_path):
    config = full_config(tmp_path)
    assert {(entry.model, entry.task) for entry in Plan(read_config(config)).gradients} == {
        ("base", "pairs"),
        ("tuned+1.0", "squad"),
        ("packed", "asked"),
        ("trained", "paragraphs"),
    }
    both = edited(config, "models/base/tasks", ["squad", "pairs", "paragraphs"])
    plan = Plan(read_config(both))
    assert [entry.task for entry in plan.gradients if entry.model == "base"] == ["pairs", "paragraphs"]
    assert [plan.is_text(task) for task in ("pairs", "paragraphs")] == [False, True]
    assert Plan(read_config(edited(both, "gradients/samples", 0))).gradients == []


def test_the_users_partition_has_the_types_of_its_file(imported, tmp_path):
    assert Plan(read_config(imported)).partitions["bert", "mine"].types == ("far", "near")
    (tmp_path / "mine.csv").write_bytes("\ufeffhead,type,layer\r\n0, b ,0\r\n\r\n1,a,0\r\n".encode())
    assert Plan(read_config(imported)).partitions["bert", "mine"].types == ("a", "b")


def test_a_model_stands_beside_a_row_of_the_paper_and_no_other(tmp_path):
    config = read_config(full_config(tmp_path))
    check_published(config, "guan2020", ["pre-trained", "squad"])
    with pytest.raises(InputError, match=r'models\.tuned\+1\.0\.published\.guan2020: there is no "squad"'):
        check_published(config, "guan2020", ["pre-trained", "mrpc"])


def test_an_entry_that_is_not_selected_needs_neither_its_files_nor_its_variables(tmp_path):
    full = full_config(tmp_path)
    full["select"] = {"models": ["base"], "tasks": ["pairs"]}
    for path in ("tasks/squad/source/file", "tasks/paragraphs/source/folder", "partitions/mine/file"):
        full = edited(edited(full, path, "/nowhere"), path, "$HEADTYPES_NOWHERE/x")
    full = edited(full, "models/tuned+1.0/source/folder", "$HEADTYPES_NOWHERE")
    full = edited(full, "models/packed/source/package", "not_installed")
    assert Plan(read_config(full)).features == [("base", "pairs")]


def test_another_k_alone_leaves_out_the_conditions_of_four_types(small):
    raw = edited(small, "conditions/both", {"dense": "zero", "2-1": "zero"})
    plan = Plan(read_config(edited(raw, "clustering", {"k": [5]})))
    assert (plan.left_out_conditions, plan.ablations) == (["zero-dense", "both"], [])
    assert Plan(read_config(edited(raw, "clustering", {"k": [4, 5]}))).left_out_conditions == []
    own = edited(edited(raw, "clustering", {"k": [5]}), "conditions/zero-most", {"type-5": "zero"})
    assert [ablation.name for ablation in Plan(read_config(own)).ablations] == ["baseline", "zero-most"]


def test_a_treebank_has_its_own_jobs_and_no_types(small, tmp_path):
    bank = full_config(tmp_path)["tasks"]["bank"]
    with_bank = edited(edited(small, "tasks/bank", bank), "models/bert/tasks", ["squad", "bank"])
    assert jobs(with_bank) == jobs(small)
    plan = Plan(read_config(with_bank))
    assert plan.tasks_of("treebank") == ["bank"]
    assert plan.inputs_of("treebank") == [("bert", "bank")]
    assert plan.task_files("bank", "test_file") == [str(tmp_path / "test.conllu")]
    # A model that reads nothing else has no types, and a task that no model reads has no jobs.
    alone = edited(
        edited(edited(with_bank, "models/bert/tasks", ["bank"]), "models/bert/evaluate", None), "conditions", {}
    )
    assert jobs(alone) == ([], [], [])
    assert Plan(read_config(edited(small, "tasks/bank", bank))).tasks_of("treebank") == []
