"""After an edit in a finished working directory, exactly what depends on it is scheduled.

tests/unit/planning/test_specs.py and test_code.py test what edits change; here Snakemake plans (`expected`).
"""

import contextlib
import copy
import json
import os
import shutil

import pytest

from headtypes.core.errors import InputError
from headtypes.planning.config import read_config
from headtypes.planning.plan import Plan
from tests.contract.tables import changed, expected, leaf_rows, scheduled, with_leaf
from tests.support.configs import all_specs
from tests.support.planning import planned_jobs, take_as_made
from tests.support.workplace import PARTS, Workplace, copy_workflow


def reverse(part):
    return {key: reverse(part[key]) for key in reversed(part)} if isinstance(part, dict) else part


LEAVES = leaf_rows()
GROUPS = 4
# Leaves that are in no spec: the jobs that have other inputs by them, or whose results are new.
WITHOUT_SPEC = {
    "models/taught/source/finetuned/task": ("finetune_model", "taught"),
    "models/schooled/source/finetuned/task": ("finetune_model", "schooled"),
    "models/trained/source/finetuned/task": ("finetune_model", "trained"),
    "partitions/mine/file": ("import_partition", "tuned+1.0", "mine"),
    "probes/vectors": ("train_probes", "trained", "bank"),
}
# Leaves whose other value is not selected, and what no result depends on.
IDLE = {"models/base/source/sha256"}
IDLE |= {f"models/packed/memory/{place}" for place in ("gpu", "cpu")}
IDLE |= {f"models/kin-{{seed}}/{key}" for key in ("source/hub", "tasks", "over/seed")}


def configuration(place: Workplace, path: str, config: dict) -> dict:
    return with_leaf(config, place.folder / "inputs", path, LEAVES[path]["value"])


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
    assert scheduled(finished) == set()


@pytest.mark.parametrize("group", range(GROUPS))
def test_edited_leaves_schedule_what_depends_on_them_and_nothing_else(place, finished, group):
    config = in_groups(place)[group]
    with place.configured(config):
        after = planned_jobs(place.folder)
    specs = all_specs(config)
    assert all(job.parameters["spec"] == specs[job.key] for job in after)
    assert scheduled(after) == expected(finished, after).keys()


def test_leaves_that_are_in_no_spec_schedule_their_readers(place, finished):
    assert {path for path, row in LEAVES.items() if not row.keys() & {"spec", "refused"}} == IDLE | WITHOUT_SPEC.keys()
    config = place.config
    for path in WITHOUT_SPEC:
        config = configuration(place, path, config)
    with place.configured(config):
        after = planned_jobs(place.folder)
    reasons = expected(finished, after)
    assert scheduled(after) == reasons.keys()
    own = {job: why for job, why in reasons.items() if why != "follows"}
    assert own == dict.fromkeys(WITHOUT_SPEC.values(), "input")


def test_edited_code_schedules_the_rules_whose_hash_differs_and_what_follows(place, finished):
    edits = {
        # One figure; one kind of task, which jobs load by its name or for the class of its rows; and what changes no
        # result.
        "analyses/ablation/controls.py": ('label="their mean"', 'label="the mean"'),
        "data/kinds/coreference.py": ('"#end document"', '"#end"'),
        "planning/resources.py": ("_MB, _MARGIN = 1e6", "_MB, _MARGIN = 2e6"),
        "planning/provenance.py": ("was damaged or changed", "was changed"),
        "core/progress.py": ("elapsed", "gone"),
    }
    texts = {}
    for name, (old, new) in edits.items():
        path = f"workflow_scripts/headtypes/{name}"
        texts[path] = place.text(path).replace(old, new)
        assert texts[path] != place.text(path)
    with place.edited(texts):
        after = planned_jobs(place.folder)
    reasons = expected(finished, after)
    assert scheduled(after) == reasons.keys()
    edited = {job for job, reason in reasons.items() if reason == "code"}
    assert {job for job in edited if job[0].startswith(("fetch_", "extract_", "sample_"))} == {
        ("fetch_task", "stories"),
        ("extract_antecedents", "trained", "stories"),
    }
    assert {rule for rule, *_ in edited} >= {"plot_controls"}
    assert not {rule for rule, *_ in edited} & {"cluster_heads", "evaluate_condition", "finetune_model"}


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


def test_a_fresh_checkout_a_config_in_another_style_and_touched_inputs_schedule_nothing(place):
    published = "reference/guan2020.yaml"
    with place.edited({name: place.text(name) for name in ("config.yaml", published)}):
        for part in PARTS:
            shutil.rmtree(place.folder / part) if (place.folder / part).is_dir() else (place.folder / part).unlink()
        copy_workflow(place.folder)
        for file in (place.folder / "inputs").rglob("*"):
            file.touch()
        config = in_another_order(without_defaults(place.config))
        place.write({"config.yaml": f"# A comment.\n{json.dumps(config, indent=3)}\n"})
        place.write({published: f"# A comment.\n{place.text(published)}"})
        newest = max(file.stat().st_mtime for file in (place.folder / "results").rglob("*"))
        assert (place.folder / published).stat().st_mtime > newest
        assert scheduled(planned_jobs(place.folder)) == set()


def test_the_order_of_models_and_conditions_is_that_of_tables_and_figures_and_counts_there_alone(place, finished):
    after = reverse(place.config)
    # Claims are judged on partitions in their order, and intervals and controls have conditions in theirs.
    assert changed(all_specs(place.config), all_specs(after)).keys() == {
        "tabulate_types",
        "tabulate_ablations",
        "tabulate_readings",
        "compare_with_paper guan2020",
        "write_summary",
    }
    with place.configured(after):
        jobs = planned_jobs(place.folder)
    reasons = expected(finished, jobs)
    assert scheduled(jobs) == reasons.keys()
    # The order is that of the keys of their inputs.
    by_keys = {"measure_intervals", "plot_controls", "compare_models"}
    assert {rule for (rule, *_), why in reasons.items() if why == "input"} == by_keys


def test_a_folder_that_was_moved_schedules_nothing(place, tmp_path):
    config = json.loads(json.dumps(place.config).replace(f"{place.folder}/inputs", "inputs"))
    shutil.copytree(place.folder, tmp_path / "before")
    before, after = (Workplace(tmp_path / name, config) for name in ("before", "after"))
    before.write({"config.yaml": json.dumps(config)})
    take_as_made(before.folder)
    shutil.move(before.folder, after.folder)
    assert scheduled(planned_jobs(after.folder)) == set()


READERS = {
    "the user's": {
        "inputs/squad.json": {"fetch_task"},
        "inputs/texts/b.txt": {"fetch_task"},
        "inputs/train.json": {"fetch_training"},
        "inputs/dev.conllu": {"fetch_task"},
        "inputs/test.conllu": {"fetch_test"},
        "inputs/model/config.json": {"fetch_model"},
        "inputs/mine.csv": {"import_partition"},
    },
    "ours": {
        "reference/guan2020.yaml": {"tabulate_types", "tabulate_ablations", "tabulate_readings", "compare_with_paper"}
        | {"write_summary"},
        "workflow_scripts/headtypes/pages/atlas/assets/tiles.js": {"write_atlas"},
    },
}


@pytest.mark.parametrize("whose", READERS)
def test_changed_inputs_schedule_their_readers(place, finished, whose):
    inputs = {path for job in finished for path in job.inputs}
    edited = {name: {path for path in inputs if place.folder / path == place.folder / name} for name in READERS[whose]}
    readers = {name: {job.rule for job in finished if paths & {*job.inputs}} for name, paths in edited.items()}
    assert readers == READERS[whose]
    with place.edited({name: place.text(name).replace("82.85", "82.84") + "\n" for name in edited}):
        after = planned_jobs(place.folder)
    assert scheduled(after) == expected(finished, after, set().union(*edited.values())).keys()


def test_files_of_the_users_count_by_what_they_hold_however_old_they_are(place, finished):
    name, file = "inputs/squad.json", place.folder / "inputs/squad.json"
    text, long_ago = place.text(name), 1_000_000_000
    with place.edited({name: text + " \n"}):
        os.utime(file, (long_ago, long_ago))
        assert ("fetch_task", "squad") in scheduled(planned_jobs(place.folder))
    with place.edited({name: text}):
        assert scheduled(planned_jobs(place.folder)) == set()
    further = place.folder / "inputs/texts/c.txt"
    further.write_text("Seven.\n\nEight.\n")
    try:
        after = planned_jobs(place.folder)
        assert scheduled(after) == expected(finished, after).keys() > {("fetch_task", "paragraphs")}
    finally:
        further.unlink()
