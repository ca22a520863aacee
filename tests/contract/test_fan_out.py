"""What is added to a configuration schedules its own jobs and the summaries, and nothing of another entry."""

import pytest

from tests.contract.tables import by_reason
from tests.support.configs import edited
from tests.support.demo import demo_file
from tests.support.rules import OF_TEXTS
from tests.support.workplace import Workplace

# Of each partition, and its list of heads.
FIGURES = {"embed_heads": 1, "plot_heads": 1, "plot_projection": 1, "plot_layers": 1, "plot_maps": 1}
# Of each clustering of a model on a task.
CLUSTERED = {"cluster_heads": 1, "measure_stability": 1, **FIGURES}
# Of each model on a task, with one clustering.
READ = {"extract_features": 1, "map_attention": 1, **CLUSTERED}
# Of each model on the task that it answers.
ANSWERED = {"prepare_windows": 1, "measure_importance": 1, "measure_gradients": 1, "plot_gradients": 1}
GUAN, CLARK = "compare_with_paper guan2020", "compare_with_paper clark2019"
# Of each partition that conditions are evaluated on: three of them, of which two have controls.
EVALUATED = {
    "evaluate_condition": 3,
    "measure_intervals": 1,
    "evaluate_controls": 2,
    "plot_controls": 1,
    "evaluate_curves": 1,
    "plot_curves": 1,
}
# Of each partition of a model with further analyses.
COMPARED_TYPES = {"compare_types": 1, "plot_compared_types": 1}
# Of a model that is evaluated.
ASKED = {"fetch_model": 1, "write_atlas": 1, **READ, **ANSWERED, **EVALUATED, **COMPARED_TYPES}
# Of each model on a task of text besides.
OF_TEXT = {**dict.fromkeys(OF_TEXTS, 1), "measure_gradients": 1, "plot_gradients": 1}
# What brings jobs together: the questions' scores of a partition, and the jobs of all partitions.
SUMMARIES = {
    "measure_intervals": 1,
    "plot_controls": 1,
    "tabulate_stability": 1,
    "tabulate_ablations": 1,
    GUAN: 1,
    "tabulate_models": 1,
    "plot_models": 1,
    "compare_types": 1,
    "plot_compared_types": 1,
    "write_ledger": 1,
    "write_summary": 1,
    "write_atlas": 1,
}
# What a model on a further task changes.
TABULATED = ("tabulate_stability", "tabulate_models", "plot_models", GUAN, "write_ledger")
# And one that is evaluated.
ALL_TABULATED = (*TABULATED, "tabulate_ablations")

TREES = {"file": str(demo_file("treebank")), "training_file": str(demo_file("treebank", "train"))}
CONFIG = {
    "tasks": {
        "squad": {"source": {"hub": "some/questions"}},
        "pairs": {"kind": "sentence_pair", "source": {"hub": "some/pairs"}, "columns": {"label": "label"}},
    },
    "models": {
        "one": {"source": {"hub": "some/one"}, "tasks": ["squad", "pairs"], "evaluate": "squad"},
        "two": {"source": {"hub": "some/two"}, "tasks": ["squad"]},
    },
    "conditions": {"baseline": {}, "zero-dense": {"dense": "zero"}, "drop-dense": {"dense": "drop_intra"}},
}


def with_all(config: dict, edits: dict) -> dict:
    for path, value in edits.items():
        config = edited(config, path, value)
    return config


def times(count: int, jobs: dict) -> dict:
    return {rule: count * number for rule, number in jobs.items()}


def of(*names: str) -> dict:
    return {name: SUMMARIES[name] for name in names}


ADDED = {
    "a model": (
        {"models/three": {"source": {"hub": "some/three"}, "tasks": ["squad"]}},
        {
            "new": {"fetch_model": 1, "write_atlas": 1, **READ},
            "own": of(*TABULATED, "write_summary"),
        },
    ),
    "a model that is evaluated": (
        {"models/three": {"source": {"hub": "some/three"}, "tasks": ["squad"], "evaluate": "squad"}},
        {
            "new": ASKED,
            "own": of(*ALL_TABULATED, "write_summary"),
        },
    ),
    "a model that is evaluated on pairs": (
        {"models/three": {"source": {"hub": "some/three"}, "tasks": ["pairs"], "evaluate": "pairs"}},
        {
            "new": {"sample_questions": 1, **ASKED},
            "own": of(*ALL_TABULATED, "write_summary"),
        },
    ),
    "a model that is made from another": (
        {"models/three": {"source": {"finetuned": {"base": "two", "task": "squad"}}, "tasks": ["squad"]}},
        {
            "new": {
                "fetch_training": 1,
                "finetune_model": 1,
                "fetch_model": 1,
                "write_atlas": 1,
                **READ,
            },
            "own": of(*TABULATED, "write_summary"),
        },
    ),
    "a task that no model reads": ({"tasks/news": {"source": {"hub": "some/news"}}}, {}),
    "a task": (
        {"tasks/news": {"source": {"hub": "some/news"}}, "models/two/tasks": ["squad", "news"]},
        {
            "new": {"fetch_task": 1, "sample_inputs": 1, **READ},
            "own": of(*TABULATED, "write_summary", "write_atlas"),
        },
    ),
    "a treebank": (
        {
            "tasks/trees": {"kind": "treebank", "source": TREES},
            "models/two/tasks": ["squad", "trees"],
        },
        {
            "new": {
                "fetch_task": 1,
                "fetch_training": 1,
                "measure_offsets": 1,
                "extract_arcs": 1,
                "measure_relations": 1,
                "train_probes": 1,
                "measure_probes": 1,
                "tabulate_relations": 1,
                "tabulate_probes": 1,
                "map_sentences": 1,
                "plot_sentences": 1,
                CLARK: 1,
                **COMPARED_TYPES,
            },
            "own": of("write_ledger", "write_summary", "write_atlas"),
        },
    ),
    "documents with mentions": (
        {
            "tasks/stories": {"kind": "coreference", "source": {"file": str(demo_file("coreference"))}},
            "models/two/tasks": ["squad", "stories"],
        },
        {
            "new": {
                "fetch_task": 1,
                "extract_antecedents": 1,
                "measure_coreference": 1,
                "tabulate_coreference": 1,
                "map_sentences": 1,
                "plot_sentences": 1,
                CLARK: 1,
                **COMPARED_TYPES,
            },
            "own": of("write_ledger", "write_summary", "write_atlas"),
        },
    ),
    "a task of text": (
        {"tasks/news": {"kind": "text", "source": {"hub": "some/news"}}, "models/two/tasks": ["squad", "news"]},
        {
            "new": {
                "fetch_task": 1,
                "sample_inputs": 1,
                **READ,
                **OF_TEXT,
                CLARK: 1,
                **times(2, COMPARED_TYPES),
            },
            "own": of(*TABULATED, "write_summary", "write_atlas"),
        },
    ),
    "a model that is evaluated on a text": (
        {
            "tasks/news": {"kind": "text", "source": {"hub": "some/news"}},
            "models/three": {"source": {"hub": "some/three"}, "tasks": ["news"], "evaluate": "news"},
        },
        {
            "new": {
                "fetch_task": 1,
                "fetch_model": 1,
                "sample_inputs": 1,
                "sample_questions": 1,
                "write_atlas": 1,
                CLARK: 1,
                **READ,
                **OF_TEXT,
                **ANSWERED,
                **EVALUATED,
                **COMPARED_TYPES,
            },
            "own": of(*ALL_TABULATED, "write_summary"),
        },
    ),
    "a model that is evaluated on multiple choice": (
        {
            "tasks/exam": {"kind": "multiple_choice", "source": {"hub": "some/exam"}},
            "models/three": {"source": {"hub": "some/three"}, "tasks": ["exam"], "evaluate": "exam"},
        },
        {
            "new": {"fetch_task": 1, "sample_inputs": 1, "sample_questions": 1, **ASKED},
            "own": of(*ALL_TABULATED, "write_summary"),
        },
    ),
    "a condition": (
        {"conditions/uniform-dense": {"dense": "uniform"}},
        {
            "new": {"evaluate_condition": 1, "evaluate_controls": 1},
            "own": of(
                "measure_intervals",
                "plot_controls",
                "tabulate_ablations",
                GUAN,
                "compare_types",
                "write_atlas",
            ),
            "follow": of("plot_compared_types", "write_ledger", "write_summary"),
        },
    ),
    "a condition of one head's mean": (
        {"conditions/mean-head": {"1-2": "mean"}},
        {
            "new": {"measure_head_outputs": 1, "evaluate_condition": 1, "evaluate_controls": 1},
            "own": of("measure_intervals", "plot_controls", "tabulate_ablations", GUAN, "write_atlas"),
            "follow": of("write_ledger", "write_summary"),
        },
    ),
    "a reading": (
        {"readings": {"segments": {"sentences": "segments"}}},
        {
            "new": {"evaluate_condition": 1, "tabulate_readings": 1},
            "own": of("measure_intervals", "write_ledger"),
            "follow": of("tabulate_ablations", GUAN, "write_summary", "write_atlas"),
        },
    ),
    "a reading that no condition depends on": (
        {"readings": {"padded": {"uniform_over_padding": True}}},
        {"new": {"tabulate_readings": 1}, "own": of("write_ledger"), "follow": of("write_summary")},
    ),
    "a k": (
        {"clustering": {"k": [4, 5]}},
        {
            "new": {**times(3, CLUSTERED), **of("tabulate_models", "plot_models"), **times(2, COMPARED_TYPES)},
            "own": {**of("tabulate_stability", GUAN, "write_ledger", "write_summary"), "write_atlas": 2},
        },
    ),
    "a method": (
        {"clustering": {"methods": ["kmeans", "gmm"]}},
        {
            "new": {
                **times(3, CLUSTERED),
                **EVALUATED,
                **of("tabulate_models", "plot_models"),
                **times(2, COMPARED_TYPES),
            },
            "own": {
                **of("tabulate_stability", "tabulate_ablations", GUAN, "write_ledger", "write_summary"),
                "write_atlas": 2,
            },
        },
    ),
    "an imported partition": (
        {"partitions": {"mine": {"file": "mine.csv", "model": "one", "task": "squad"}}},
        {
            "new": {"import_partition": 1, **EVALUATED, **FIGURES, **COMPARED_TYPES},
            "own": of("tabulate_ablations", GUAN, "write_ledger", "write_summary", "write_atlas"),
        },
    ),
    "an imported partition without types that a condition names": (
        {"partitions": {"mine": {"file": "others.csv", "model": "two", "task": "squad"}}},
        {
            "new": {"import_partition": 1, **FIGURES},
            "own": of(GUAN, "write_ledger", "write_summary", "write_atlas"),
        },
    ),
    "a model whose heads are tested": (
        {"detectors": {"models": ["two"]}},
        {
            "new": {"measure_detectors": 1, "tabulate_detectors": 1, **COMPARED_TYPES},
            "own": {"write_atlas": 1, "write_summary": 1},
        },
    ),
    "a model that is trained to copy": (
        {"models/three": {"source": {"trained": {"layers": 1}}}, "detectors": {"models": ["three"]}},
        {
            "new": {"train_model": 1, "fetch_model": 1, "measure_detectors": 1, "tabulate_detectors": 1},
            "own": of("write_ledger", "write_summary"),
        },
    ),
}
CHANGED = {
    "the distance bins of the feature": (
        {"clustering": {"distance_bins": 32}},
        {
            "own": {
                **times(
                    3,
                    {
                        "cluster_heads": 1,
                        "measure_stability": 1,
                        "embed_heads": 1,
                        "plot_heads": 1,
                    },
                ),
                "write_atlas": 2,
            },
            "follow": {
                "plot_projection": 3,
                "plot_layers": 3,
                "plot_maps": 3,
                **EVALUATED,
                **of("tabulate_stability", "tabulate_ablations", "tabulate_models", "plot_models", GUAN),
                **times(2, COMPARED_TYPES),
                **of("write_ledger", "write_summary"),
            },
        },
    ),
    "the seed": (
        {"seed": 1},
        {
            "own": {
                "sample_inputs": 2,
                **times(
                    3,
                    {
                        "cluster_heads": 1,
                        "measure_stability": 1,
                        "embed_heads": 1,
                    },
                ),
                "evaluate_controls": 2,
                "evaluate_curves": 1,
                "measure_gradients": 1,
                **of("measure_intervals", "plot_controls", "tabulate_ablations", GUAN),
                "compare_types": 2,
                "write_summary": 1,
                "write_ledger": 1,
            },
            "follow": {
                **times(
                    3,
                    {
                        "extract_features": 1,
                        "map_attention": 1,
                        "plot_heads": 1,
                        "plot_projection": 1,
                        "plot_layers": 1,
                        "plot_maps": 1,
                    },
                ),
                "evaluate_condition": 3,
                "plot_curves": 1,
                "plot_gradients": 1,
                **of("tabulate_stability", "tabulate_models", "plot_models"),
                "plot_compared_types": 2,
                "write_atlas": 2,
            },
        },
    ),
    "the draws of the controls": (
        {"controls": {"draws": 11}},
        {
            "own": {"evaluate_controls": 2},
            "follow": {
                **of("plot_controls", "tabulate_ablations", GUAN),
                **COMPARED_TYPES,
                **of("write_ledger", "write_summary", "write_atlas"),
            },
        },
    ),
    "controls that are taken away": (
        {"controls": {"draws": 0}},
        {
            "own": of("tabulate_ablations", "compare_types", "write_summary", "write_atlas"),
            "follow": of(GUAN, "plot_compared_types", "write_ledger"),
        },
    ),
    "the orders of the curves": (
        {"curves": {"orders": 4}},
        {"own": {"evaluate_curves": 1}, "follow": {"plot_curves": 1, "write_summary": 1}},
    ),
    "curves that are taken away": (
        {"curves": {"orders": 0}},
        {"follow": {"plot_compared_types": 2}, "own": {"compare_types": 2, **of("write_summary", "write_atlas")}},
    ),
    "more samples for gradients": (
        {"gradients": {"samples": 300}},
        {
            "own": {"measure_gradients": 1},
            "follow": {"plot_gradients": 1, **times(2, COMPARED_TYPES), **of("write_summary", "write_atlas")},
        },
    ),
    "gradients that are taken away": (
        {"gradients": {"samples": 0}},
        {"follow": {"plot_compared_types": 2}, "own": {"compare_types": 2, "write_atlas": 1, "write_summary": 1}},
    ),
    "conditions that are taken away": (
        {"conditions": {"baseline": {}}},
        {
            "own": of(
                *("measure_intervals", "tabulate_ablations", GUAN, "compare_types"),
                *("write_summary", "write_atlas"),
            ),
            "follow": of("plot_compared_types", "write_ledger"),
        },
    ),
    "a model that is not selected": (
        {"select": {"models": ["one"]}},
        {"own": of(*TABULATED, "write_summary")},
    ),
}


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Workplace:
    """A finished working directory in which everything that is named is selected."""
    place = Workplace.copied(tmp_path_factory.mktemp("small"), CONFIG)
    # No code is edited here, and digests take more than half of the time of a plan.
    digest = "workflow_scripts/headtypes/planning/code/digest.py"
    place.write({digest: place.text(digest) + '\n\ndef code_digest(script):\n    return "0" * 16\n'})
    place.finish()
    place.write({"mine.csv": "layer,head,type\n0,0,dense\n", "others.csv": "layer,head,type\n0,0,near\n"})
    return place


@pytest.mark.parametrize("what", [*ADDED, *CHANGED])
def test_it_schedules_its_own_jobs_and_the_summaries(small, what):
    edits, expected = {**ADDED, **CHANGED}[what]
    with small.configured(with_all(small.config, edits)):
        scheduled = by_reason(small.scheduled())
    # It is their own reason to run, whether a job's spec names the entries or its inputs have their keys.
    if own := {**scheduled.pop("spec", {}), **scheduled.pop("input", {})}:
        scheduled["own"] = own
    assert scheduled == {reason: dict(jobs) for reason, jobs in expected.items()}


@pytest.mark.parametrize("what", ADDED)
def test_what_is_added_leaves_the_jobs_of_others_alone(what):
    """So that no mistake in the table above can promise another extraction or evaluation."""
    _, expected = ADDED[what]
    assert expected.keys() <= {"new", "own", "follow"}
    assert {*expected.get("own", {}), *expected.get("follow", {})} <= SUMMARIES.keys()
