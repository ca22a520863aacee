"""Files laid over one another, and patterns among the models: what they stand for, and one line for what is wrong."""

import json

import pytest
import yaml
from jsonschema import Draft202012Validator

from headtypes.planning.config.reading import Layers, expanded, laid_over, mistakes_in, read_config
from headtypes.planning.plan import Plan, plan_of
from tests.docs.schema import json_schema
from tests.support.places import ROOT
from tests.support.refusals import refusal

BASE = """
tasks: {a: {kind: text, source: {hub: x/a}}, b: {kind: text, source: {hub: x/b}}}
models: {one: {source: {hub: x/y}, tasks: [a]}, two: {source: {hub: x/z}, tasks: [b]}}
conditions: {baseline: {}, less: {dense: zero}}
controls: {draws: 2, questions: 60}
"""


@pytest.fixture
def over(tmp_path, monkeypatch):
    """Files of some texts, laid over one another."""
    monkeypatch.chdir(tmp_path)

    def laid(*texts: str, given: dict | None = None) -> Layers:
        names = ["config.yaml", "mine.yaml", "more.yaml"][: len(texts)]
        for name, text in zip(names, texts, strict=True):
            (tmp_path / name).write_text(text)
        return laid_over(names, given)

    return laid


def test_an_overlay_that_names_an_entry_does_not_move_it(over):
    base = "models:\n  a: {tasks: [x], parent: b}\n  b: {tasks: [x]}\nseed: 1\n"
    found = over(base, "seed: 2\nmodels:\n  c: {tasks: [y]}\n  b: {parent: null, tasks: [y]}\n").values
    assert found == {
        "models": {"a": {"tasks": ["x"], "parent": "b"}, "b": {"tasks": ["y"], "parent": None}, "c": {"tasks": ["y"]}},
        "seed": 2,
    }
    assert [*found, *found["models"], *found["models"]["b"]] == ["models", "seed", "a", "b", "c", "tasks", "parent"]


def test_what_the_command_line_says_lies_over_all_files(over):
    found = over("a: {y: 0, z: 1}\n", given={"x": 1, "a": {"z": 2}, "controls": None})
    assert found.values == {"a": {"y": 0, "z": 2}, "x": 1}
    assert (found.places["a.z"], found.places["a.y"]) == ("--config", "config.yaml, line 1")
    assert "controls" not in over(BASE, given={"controls": None}).values


def test_null_takes_an_entry_a_registry_or_a_section_away(over):
    found = over(BASE, "models: {two: null, three: {source: {hub: x/w}}}\ncontrols: ~\n").values
    assert list(found["models"]) == ["one", "three"]
    assert found["tasks"] == yaml.safe_load(BASE)["tasks"]
    assert read_config(over(BASE, "controls: null\n").values).controls.draws == 20
    assert read_config(over(BASE, "{}").values).controls.draws == 2
    assert refusal(read_config, over(BASE, '{"tasks": null}').values) == "config: tasks: this key is missing."


def test_what_is_taken_away_and_named_again_has_nothing_of_what_lay_below(over):
    mine = "tasks: {a: {source: {file: mine.txt}}}\nmodels: {one: {tasks: [a]}}\ncontrols: {questions: 5}\n"
    found = over(BASE, "tasks: {a: null}\nmodels: null\ncontrols: null\n", mine).values
    assert found["tasks"]["a"] == {"source": {"file": "mine.txt"}}
    assert found["models"] == {"one": {"tasks": ["a"]}}
    assert found["controls"] == {"questions": 5}


@pytest.mark.parametrize("text", ["conditions:\n", "models: {two: }\n", "controls:\n  # draws: 20\nseed: 2\n"])
def test_a_key_with_nothing_behind_it_is_a_mistake(over, text):
    assert "mine.yaml, line 1: nothing stands behind the key" in refusal(over, BASE, text)


def test_a_null_for_what_is_not_there_is_refusal(over):
    assert refusal(over, BASE, "models: {tow: null}\n") == (
        "mine.yaml: models.tow: null takes an entry away from what lies below, and there is none of this name. "
        'Did you mean "two"?'
    )


def test_the_file_that_takes_the_demo_away_leaves_its_conditions_alone(tmp_path):
    mine = {"tasks": {"t": {"kind": "text", "source": {"hub": "x/t"}}}}
    mine["models"] = {"m": {"source": {"hub": "x/y"}, "tasks": ["t"]}}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(mine))
    found = laid_over([ROOT / "config.yaml", ROOT / "experiments/without_demo.yaml", tmp_path / "mine.yaml"])
    plan = Plan(read_config(found.values))
    assert (plan.models, plan.tasks, len(plan.conditions)) == (["m"], ["t"], 19)
    defaults = read_config(mine)
    assert plan.config.controls == defaults.controls


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("seed: 1\nseed: 2\n", "line 2: the key seed stands there twice, first in line 1."),
        ("models:\n  a: {}\n  b: {}\n  a: {x: 1}\n", "line 4: the key models.a stands there twice, first in line 2."),
        ('{"a": {"b": 1,\n"b": 2}}', "line 2: the key a.b stands there twice, first in line 1."),
        ("models:\n  one: {tasks: [a\nseed: 1\n", "cannot be read as YAML (while parsing a flow sequence"),
        ("a: &a {b: 1, c: *a}\n", "cannot be read as YAML"),
        ("- 1\n", "holds no keys"),
    ],
)
def test_what_is_no_file_of_a_configuration_is_told(over, text, sentence):
    message = refusal(over, text)
    assert message.startswith("config.yaml")
    assert sentence in message


def test_a_file_that_is_not_utf8_is_told_with_its_line(tmp_path):
    (tmp_path / "mine.yaml").write_bytes("seed: 1\n# Café\n".encode("latin-1"))
    assert "mine.yaml, line 2 is not UTF-8 text; save" in refusal(laid_over, [tmp_path / "mine.yaml"])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("clustering:\n  k: many\n", {"clustering.k": "mine.yaml, line 2"}),
        ("models: {three: {tasks: [a]}}\n", {"models.three.source": "mine.yaml, line 1"}),
        (
            "select: {models: [nobody]}\nmodels:\n  two: {tasks: [c, d]}\n  one: {parent: tow}\n",
            {
                'models.two.tasks: there is no "c"': "mine.yaml, line 3",
                'models.two.tasks: there is no "d"': "mine.yaml, line 3",
                "models.one.parent": "mine.yaml, line 4",
                "select.models": "mine.yaml, line 1",
            },
        ),
        (
            "models:\n  s-{x}:\n    source: {folder: 'gone-{x}'}\n    tasks: [a]\n    over: {x: 1-2}\n",
            {"models.s-1.source.folder": "mine.yaml, line 1", "models.s-2.source.folder": "mine.yaml, line 1"},
        ),
    ],
)
def test_each_mistake_is_told_with_the_file_of_its_key(over, text, told):
    mistakes = mistakes_in(refusal(plan_of, over(BASE, text)))
    assert len(mistakes) == len(told)
    for mistake in mistakes:
        (place,) = [place for key, place in told.items() if mistake.startswith(f"config: {key}")]
        assert mistake.endswith(f"[{place}]")


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
