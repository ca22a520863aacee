"""What is added to a configuration schedules its own jobs and the summaries, and nothing of another entry."""

import pytest

from tests.contract.tables import expected, scheduled
from tests.support.configs import edited
from tests.support.demo import demo_file
from tests.support.planning import planned_jobs, pretend
from tests.support.workplace import Workplace

# Rules that bring the results of several entries together.
SUMMARIES = {
    *(f"tabulate_{what}" for what in ("types", "ablations", "readings", "relations", "coreference", "probes")),
    *("measure_intervals", "measure_costs", "plot_controls", "plot_divergence"),
    *("compare_with_paper", "compare_models", "compare_types", "write_ledger", "write_summary", "write_atlas"),
}
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
_FILES = {"file": str(demo_file("treebank")), "training_file": str(demo_file("treebank", "train"))}
TREES = {"kind": "treebank", "source": _FILES}
STORIES = {"kind": "coreference", "source": {"file": str(demo_file("coreference"))}}
NEWS = {"kind": "text", "source": {"hub": "some/news"}}
EXAM = {"kind": "multiple_choice", "source": {"hub": "some/exam"}}
MINE = {"mine": {"file": "mine.csv", "model": "one", "task": "squad"}}


def model(*tasks: str, **more) -> dict:
    return {"source": {"hub": "some/three"}, "tasks": [*tasks], **more}


MADE = {"source": {"finetuned": {"base": "two", "task": "squad"}}, "tasks": ["squad"]}
# What is added or taken away, and some rules of the new jobs.
EDITS = {
    "a model": ({"models/three": model("squad")}, {"fetch_model", "extract_features", "cluster_heads"}),
    "a model that is evaluated": (
        {"models/three": model("pairs", evaluate="pairs")},
        {"sample_questions", "extract_features", "evaluate_condition", "evaluate_controls", "compare_types"},
    ),
    "a model that is made from another": ({"models/three": MADE}, {"fetch_training", "finetune_model"}),
    "a model that is evaluated on multiple choice": (
        {"tasks/exam": EXAM, "models/three": model("exam", evaluate="exam")},
        {"fetch_task", "prepare_windows", "evaluate_condition"},
    ),
    "a task that no model reads": ({"tasks/news": NEWS}, set()),
    "a task of text": (
        {"tasks/news": NEWS, "models/two/tasks": ["squad", "news"]},
        {"fetch_task", "extract_text_features", "plot_surface"},
    ),
    "a treebank": (
        {"tasks/trees": TREES, "models/two/tasks": ["squad", "trees"]},
        {"fetch_training", "extract_arcs", "measure_relations", "train_probes", "tabulate_relations"},
    ),
    "documents with mentions": (
        {"tasks/stories": STORIES, "models/two/tasks": ["squad", "stories"]},
        {"extract_antecedents", "measure_coreference", "tabulate_coreference"},
    ),
    "a condition": ({"conditions/uniform-dense": {"dense": "uniform"}}, {"evaluate_condition", "evaluate_controls"}),
    "a condition of one head's mean": ({"conditions/mean-head": {"1-2": "mean"}}, {"measure_head_outputs"}),
    "a reading": ({"readings": {"segments": {"sentences": "segments"}}}, {"evaluate_condition"}),
    "a reading that no condition depends on": ({"readings": {"padded": {"uniform_over_padding": True}}}, set()),
    "a k": ({"clustering": {"k": [4, 5]}}, {"cluster_heads", "compare_models"}),
    "a method": ({"clustering": {"methods": ["kmeans", "gmm"]}}, {"cluster_heads", "evaluate_condition"}),
    "an imported partition": ({"partitions": MINE}, {"import_partition", "evaluate_condition"}),
    "a model whose heads are tested": ({"detectors": {"models": ["two"]}}, {"measure_detectors"}),
    "controls taken away": ({"controls": {"draws": 0}}, set()),
    "gradients taken away": ({"gradients": {"samples": 0}}, set()),
    "conditions taken away": ({"conditions": {"baseline": {}}}, set()),
    "a model that is not selected": ({"select": {"models": ["one"]}}, set()),
}


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Workplace:
    place = Workplace.copied(tmp_path_factory.mktemp("small"), CONFIG)
    # No code is edited here, and hashes take more than half of the time of a plan.
    name = "workflow_scripts/headtypes/planning/code.py"
    place.write({name: f'{place.text(name)}\n\ndef code_hash(*of):\n    return "0" * 16\n'})
    pretend(place.folder)
    place.write({"mine.csv": "layer,head,type\n0,0,dense\n"})
    return place


@pytest.fixture(scope="module")
def before(small):
    return planned_jobs(small.folder)


@pytest.mark.parametrize(("edits", "rules"), EDITS.values(), ids=EDITS)
def test_it_schedules_its_own_jobs_and_the_summaries(small, before, edits, rules):
    config = small.config
    for path, value in edits.items():
        config = edited(config, path, value)
    with small.configured(config):
        after = planned_jobs(small.folder)
    reasons = expected(before, after)
    assert scheduled(after) == reasons.keys()
    new = {rule for (rule, *_), reason in reasons.items() if reason == "new"}
    assert rules <= new if rules else new <= SUMMARIES
    assert {rule for (rule, *_), reason in reasons.items() if reason != "new"} <= SUMMARIES
