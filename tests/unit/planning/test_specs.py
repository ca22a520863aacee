"""What each rule depends on: a change of any value in the configuration changes the specs of the right rules only."""

import json
import subprocess
import sys

import pytest

from headtypes.analyses.ablation import analysis as ablation
from headtypes.pages import stage as pages
from headtypes.planning.config import read_config
from headtypes.planning.plan import STAGES, Plan
from tests.contract import tables
from tests.contract.tables import leaf_paths, leaf_rows
from tests.support.configs import all_specs, edited, full_config
from tests.support.places import ROOT, SCRIPTS

LEAVES = leaf_rows()


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    return tmp_path_factory.mktemp("inputs")


@pytest.fixture(scope="module")
def full(inputs):
    return full_config(inputs)


def changed(before: dict, after: dict) -> dict[str, int]:
    return tables.changed(all_specs(before), all_specs(after))


@pytest.mark.parametrize("path", LEAVES)
def test_a_changed_value_changes_the_specs_of_the_rules_that_depend_on_it(full, inputs, path):
    """Where this differs, `make contract` writes the table anew, to be read."""
    assert tables.row_of(full, inputs, path, LEAVES[path]["value"]) == LEAVES[path]


def test_every_value_of_the_full_configuration_is_tried(full):
    assert list(LEAVES) == leaf_paths(full)


def test_specs_do_not_depend_on_the_order_in_which_python_happens_to_keep_a_set(tmp_path):
    program = "import sys\nfrom pathlib import Path\nfrom tests.support.configs import full_config\n"
    program += "from tests.support.configs import all_specs\nprint(all_specs(full_config(Path(sys.argv[1]))))"
    command = [sys.executable, "-c", program, str(tmp_path)]
    starts = [
        subprocess.run(command, env={"PYTHONPATH": f"{SCRIPTS}:{ROOT}", "PYTHONHASHSEED": seed}, stdout=subprocess.PIPE)
        for seed in "12"
    ]
    assert starts[0].stdout == starts[1].stdout != b""


def test_an_atlas_shows_the_parents_types_where_the_parent_has_the_same_partition(full):
    plan = Plan(read_config(full))
    for model in plan.models:
        own, found = pages.results_of(plan, "partitions", model), pages.results_of(plan, "parents", model)
        parents = {entry.name for entry in plan.partitions.values() if entry.model == plan.config.parent(model)}
        assert {entry.name for entry in found.values()} == own.keys() & parents
        assert {entry.model for entry in found.values()} <= {plan.config.parent(model)}
        assert list(found) == [f"{entry.name} of {entry.model}" for entry in found.values()]
    with_parents = {model for model in plan.models if pages.results_of(plan, "parents", model)}
    assert with_parents == {"tuned+1.0", "schooled"}


def test_the_page_of_results_knows_which_partitions_are_by_norms(full):
    config = edited(full, "clustering/of", ["weights", "norms"])
    plan = Plan(read_config(config))
    shown = STAGES["write_summary"].spec(plan)["partitions"]
    of = {it["partition"]: it["features"].get("of", "weights") for it in shown}
    assert of == {it.name: it.of for it in plan.partitions.values()}
    assert set(of.values()) == {"weights", "norms"}


def test_what_is_drawn_depends_on_the_seed_and_on_the_draw_that_is_asked_for(full):
    drawing = edited(full, "conditions/zero-dense/dense", "resample")
    evaluated = {"evaluate_condition zero-dense": 3}
    assert evaluated.items() <= changed(drawing, edited(drawing, "seed", 2)).items()
    assert "evaluate_condition zero-dense" not in changed(full, edited(full, "seed", 2))
    assert evaluated.items() <= changed(drawing, edited(drawing, "conditions/zero-dense/dense", "resample 2")).items()
    softened, more = (edited(full, "conditions/zero-dense/dense", f"temperature {number}") for number in (2, 3))
    assert evaluated.items() <= changed(softened, more).items()


def test_a_head_draws_alike_whatever_is_done_to_others(full):
    full = edited(full, "conditions/zero-dense/dense", "resample")
    plan = Plan(read_config(edited(full, "conditions/mixed/dense", "resample")))
    seeds = {
        model: {
            stage.spec(plan, model, f"{task}-kmeans-k4", condition)["operations"]["dense"]
            for stage in (ablation.evaluate_condition, ablation.evaluate_controls)
            for condition in ("zero-dense", "mixed")
        }
        for model, task in (("base", "pairs"), ("tuned+1.0", "squad"))
    }
    assert [len(of_model) for of_model in seeds.values()] == [1, 1]
    assert seeds["base"] != seeds["tuned+1.0"]


def test_each_random_choice_has_its_own_seed(full):
    # Detectors read the same tokens in each model that has them.
    specs = {job[:1] if job[0] == "measure_detectors" else job: spec for job, spec in all_specs(full).items()}
    seeds = {job: json.loads(spec).get("seed") for job, spec in specs.items()}
    drawn = [seed for seed in seeds.values() if seed is not None]
    assert len(set(drawn)) == len(drawn) > 10
