"""Files laid over one another: what `null` takes away, the order of entries, and no key twice in a file."""

import pytest
import yaml

from headtypes.planning.config.files import Layers, laid_over
from headtypes.planning.config.messages import mistakes_in
from headtypes.planning.config.schema import read_config
from headtypes.planning.plan import Plan, plan_of
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
