"""A pattern among the models stands for many: which ones, what is in them, and one line where it cannot be read."""

import json

import pytest
import yaml
from jsonschema import Draft202012Validator

from headtypes.planning.config.patterns import expanded
from headtypes.planning.config.schema import read_config
from headtypes.planning.plan import Plan
from tests.docs.schema import json_schema
from tests.support.refusals import refusal

TASKS = {"news": {"kind": "text", "source": {"hub": "some/news"}}}
ENTRY = {"source": {"hub": "some/bert-{seed}"}, "tasks": ["news"]}


def models(text: str) -> dict:
    """The models of a configuration whose registry of models is written so, expanded."""
    return expanded({"tasks": TASKS, "models": yaml.safe_load(text)})["models"]


def test_an_entry_stands_for_each_value_in_its_place_and_is_filled_in_everywhere():
    made = models(
        "first: {}\n"
        "bert-{seed}: {source: {hub: 'some/bert_{seed}', revision: 'v{seed}'}, tasks: [news], over: {seed: 0-2}}\n"
        "last: {}\n"
    )
    assert list(made) == ["first", "bert-0", "bert-1", "bert-2", "last"]
    repeats = {"repeat_of": "bert-{seed}"}
    assert made["bert-1"] == {"source": {"hub": "some/bert_1", "revision": "v1"}, "tasks": ["news"], **repeats}


def test_only_models_that_differ_in_their_seed_are_repeats_of_one_another():
    made = models("m-{seed}-{step}: {over: {seed: 1-3, step: [0, 9]}}\nn-{step}: {over: {step: [0, 9]}}\n")
    assert made["m-2-9"]["repeat_of"] == "m-{seed}-9"
    assert "repeat_of" not in made["n-9"]
    text = "bert-{seed}: {source: {hub: 'some/{seed}'}, tasks: [news], over: {seed: 0-2}}\nother: "
    given = yaml.safe_load(text + "{source: {hub: a/b}, tasks: [news]}")
    plan = Plan(read_config({"tasks": TASKS, "models": given}))
    assert plan.repeats == {"bert-{seed}": ["bert-0", "bert-1", "bert-2"]}


@pytest.mark.parametrize(
    ("over", "names"),
    [
        ("0-3", "0 1 2 3"),
        ("08-11", "08 09 10 11"),
        ("1000-3000/1000", "1000 2000 3000"),
        ("0-10/4", "0 4 8"),
        ("[0, 1, 2-3, last]", "0 1 2 3 last"),
        ("2.5", "2.5"),
    ],
)
def test_values_are_single_ones_ranges_and_lists_of_both(over, names):
    assert list(models(f"m{{x}}: {{over: {{x: {over}}}}}")) == [f"m{name}" for name in names.split()]


def test_several_variables_are_combined_the_last_one_fastest():
    assert list(models("'{a}-{b}': {over: {a: [x, y], b: 1-2}}")) == ["x-1", "x-2", "y-1", "y-2"]


def test_a_value_that_is_one_variable_stays_a_number_and_variables_of_the_environment_stay():
    made = models("m{rate}: {a: '{rate}', b: 'r{rate}', c: '${HOME}/{rate}', over: {rate: [0.5, 2]}}")
    assert made["m0.5"] == {"a": 0.5, "b": "r0.5", "c": "${HOME}/0.5"}
    assert made["m2"]["a"] == 2


def test_a_configuration_is_read_and_planned_with_all_of_them():
    raw = {
        "tasks": TASKS,
        "models": {
            "bert-{seed}": {**ENTRY, "over": {"seed": "0-2"}},
            "child-{seed}": {**ENTRY, "parent": "bert-{seed}", "over": {"seed": "0-2"}},
            "step-{step}": {**ENTRY, "source": {"hub": "some/x", "revision": "step{step}"}, "family": "x"},
        },
        "detectors": {"models": ["child-{seed}"]},
        "select": {"models": ["child-{seed}", "step-{step}"]},
    }
    raw["models"]["step-{step}"]["over"] = {"step": [0, "1000-2000/1000"]}
    plan = Plan(read_config(raw))
    assert plan.models == ["child-0", "child-1", "child-2", "step-0", "step-1000", "step-2000"]
    assert plan.config.detectors.models == ["child-0", "child-1", "child-2"]
    assert {model: plan.config.family(model) for model in plan.models} == {
        **{f"child-{seed}": f"bert-{seed}" for seed in range(3)},
        **{f"step-{step}": "x" for step in (0, 1000, 2000)},
    }
    # As if each had been written by itself.
    apart = {**raw, **expanded(raw)}
    assert read_config(apart) == read_config(raw)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("b-{x}: {tasks: [news]}", "models.b-{x}: a name with braces needs `over`, such as over: {seed: 0-24}."),
        ("b-{x}: {a: '{seeds}', over: {x: 1-2}}", "models.b-{x}.a: over does not say what {seeds} is."),
        ("b: {over: {x: 0-2}}", "models.b.over.x: write {x} into the name, which all would share."),
        ("b-{x}: {over: {x: 4-2}}", "models.b-{x}.over.x: the range 4-2 ends before it begins; write 2-4."),
        # Lists of as many would not end.
        ("b-{x}: {over: {x: 0-99999999}}", "models.b-{x}.over.x: the range 0-99999999 is too long; name at most 10000"),
        (f"b-{{x}}: {{over: {{x: 0-{'9' * 6000}}}}}", "models.b-{x}.over.x: the range 0-999"),
        (f"b-{{x}}: {{over: {{x: 0-5/{'9' * 6000}}}}}", "models.b-{x}.over.x: the range 0-5/999"),
        ("b-{x}{y}{z}: {over: {x: 0-999, y: 0-999, z: 1-9}}", "models.b-{x}{y}{z}.over: these are more than 10000"),
        ("b-{x}: {over: 0-24}", "models.b-{x}: a name with braces needs `over`"),
        ("b-1: {}\nb-{x}: {over: {x: 0-2}}", "models.b-{x}: another entry gives a model the name b-1, too;"),
    ],
)
def test_a_mistake_is_told_in_one_line_with_its_key(text, said):
    message = refusal(models, text)
    assert message.startswith("config: ")
    assert said in message


def test_editors_check_patterns_as_they_check_models():
    check = Draft202012Validator(json.loads(json_schema())).is_valid
    assert check(
        {"models": {"bert-{seed}": {**ENTRY, "over": {"seed": ["0-24", 30]}}}, "select": {"models": ["b-{x}"]}}
    )
    learnt = {"source": {"finetuned": {"base": "bert-{seed}", "task": "{task}"}}, "tasks": ["{task}"]}
    assert check({"models": {"b-{task}": {**learnt, "evaluate": "{task}", "parent": "b-{x}", "family": "{task}"}}})
    assert not check({"models": {"bert-{seed}": {**ENTRY, "sauce": 1}}})
    assert not check({"models": {"bert-{seed}": {"over": {"seed": True}}}})
