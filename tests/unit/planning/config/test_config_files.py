"""Files laid over one another: what `null` takes away, the order of entries, and no key twice in a file."""

from types import SimpleNamespace

import pytest
import yaml
from snakemake.utils import update_config

from headtypes.core.errors import InputError
from headtypes.planning.config.files import LaidOver, laid_over, read_keys
from headtypes.planning.config.schema import read_config
from headtypes.planning.plan import Plan, plan_of
from tests.support.places import ROOT


@pytest.fixture
def file(tmp_path):
    def written(name: str, text: str):
        path = tmp_path / name
        path.write_text(text)
        return path

    return written


def merged(*files, given: dict | None = None) -> LaidOver:
    """Files, the lowest first, as Snakemake merges them, and then as we do."""
    config, over = yaml.safe_load(files[0].read_text()), {}
    for each in (*files[1:], SimpleNamespace(read_text=lambda: yaml.safe_dump(given or {}))):
        update_config(over, yaml.safe_load(each.read_text()) or {})
    update_config(config, over)
    return laid_over(config, files, given)


BASE = """
tasks: {a: {kind: text, source: {hub: x/a}}, b: {kind: text, source: {hub: x/b}}}
models: {one: {source: {hub: x/y}, tasks: [a]}, two: {source: {hub: x/z}, tasks: [b]}}
conditions: {baseline: {}, less: {dense: zero}}
controls: {draws: 2, questions: 60}
"""


def test_an_overlay_that_names_an_entry_does_not_move_it(file):
    base = file("config.yaml", "models:\n  a: {tasks: [x], parent: b}\n  b: {tasks: [x]}\nseed: 1\n")
    overlay = file("mine.yaml", "seed: 2\nmodels:\n  c: {tasks: [y]}\n  b: {parent: null, tasks: [y]}\n")
    # As Snakemake merges them.
    config = {
        "seed": 2,
        "models": {
            "c": {"tasks": ["y"]},
            "b": {"parent": None, "tasks": ["y"]},
            "a": {"tasks": ["x"], "parent": "b"},
        },
    }
    ordered = laid_over(config, [base, overlay]).values
    assert ordered == config
    assert list(ordered) == ["models", "seed"]
    assert list(ordered["models"]) == ["a", "b", "c"]
    assert list(ordered["models"]["b"]) == ["tasks", "parent"]


def test_what_stands_in_no_file_comes_last(file):
    ordered = laid_over({"x": 1, "b": {"z": 1, "y": 2}}, [file("config.yaml", "b: {y: 0}\na: 3\n")]).values
    assert list(ordered) == ["b", "x"]
    assert list(ordered["b"]) == ["y", "z"]


def test_null_takes_an_entry_away(file):
    base, mine = file("config.yaml", BASE), file("mine.yaml", "models: {two: null, three: {source: {hub: x/w}}}\n")
    found = merged(base, mine)
    assert list(found.values["models"]) == ["one", "three"]
    assert found.values["tasks"] == yaml.safe_load(BASE)["tasks"]
    assert found.removed == {"models": {"two": "models.two"}}


@pytest.mark.parametrize("registry", ["tasks", "models", "partitions", "conditions", "readings"])
def test_every_registry_loses_entries_and_all_of_them(file, registry):
    base = file("config.yaml", f"{registry}: {{a: {{x: 1}}, b: {{}}}}\n")
    one, all_ = file("one.yaml", f"{registry}: {{a: null}}\n"), file("all.yaml", f"{registry}: null\n")
    assert merged(base, one).values == {registry: {"b": {}}}
    found = merged(base, one, all_)
    assert found.values == {}
    assert found.removed == {registry: {"a": f"{registry}.a", "b": registry}}


def test_what_is_taken_away_and_named_again_has_nothing_of_what_lay_below(file):
    base, none = file("config.yaml", BASE), file("none.yaml", "tasks: {a: null}\nmodels: null\ncontrols: null\n")
    mine = "tasks: {a: {source: {file: mine.txt}}}\nmodels: {one: {tasks: [a]}}\ncontrols: {questions: 5}\n"
    found = merged(base, none, file("mine.yaml", mine))
    assert found.values["tasks"]["a"] == {"source": {"file": "mine.txt"}}
    assert found.values["models"] == {"one": {"tasks": ["a"]}}
    assert found.values["controls"] == {"questions": 5}
    assert found.removed == {"tasks": {}, "models": {"two": "models"}}


def test_a_section_that_is_taken_away_has_its_defaults(file):
    base, mine = file("config.yaml", BASE), file("mine.yaml", "controls: null\ncurves: null\n")
    config = read_config(merged(base, mine).values)
    assert (config.controls.draws, config.controls.questions) == (200, 250)
    assert read_config(merged(base, file("empty.yaml", "{}")).values).controls.draws == 2


def test_null_on_the_command_line_takes_a_section_away(file):
    assert "controls" not in merged(file("config.yaml", BASE), given={"controls": None}).values


def test_null_in_the_lowest_file_takes_nothing_away(file):
    """A section there without keys is more likely a mistake, which `read_config` tells."""
    assert merged(file("config.yaml", "clustering:\ntasks: {a: }\n")).values == {
        "clustering": None,
        "tasks": {"a": None},
    }


@pytest.mark.parametrize("text", ["conditions:\n", "models: {two: }\n", "controls:\n  # draws: 20\nseed: 2\n"])
def test_a_key_with_nothing_behind_it_is_still_a_mistake(file, text):
    found = merged(file("config.yaml", BASE), file("mine.yaml", text))
    with pytest.raises(InputError, match="a mapping of keys is needed; found None"):
        read_config(found.values, found.removed)


@pytest.mark.parametrize(
    ("overlay", "key", "by"),
    [
        ("tasks: {b: null}", "models.two.tasks", "tasks.b"),
        ("models: {one: null, two: {parent: one}}", "models.two.parent", "models.one"),
        ("models: {one: {source: {finetuned: {base: two, task: a}}}, two: null}", None, "models.two"),
        ("models: {one: null}\nselect: {models: [one]}", "select.models", "models.one"),
        ("conditions: {less: null}\nselect: {conditions: [less]}", "select.conditions", "conditions.less"),
        ("tasks: {a: null}\nmodels: {one: null}\nselect: {tasks: [a]}", "select.tasks", "tasks.a"),
        ("models: {one: null}\npartitions: {p: {file: x, model: one, task: a}}", "partitions.p.model", "models.one"),
    ],
)
def test_what_still_refers_to_an_entry_that_was_taken_away_is_named_with_it(file, overlay, key, by):
    found = merged(file("config.yaml", BASE), file("mine.yaml", overlay))
    if key is None:  # Its source has a hub as well.
        del found.values["models"]["one"]["source"]["hub"]
        key = "models.one.source.finetuned.base"
    with pytest.raises(InputError) as caught:
        Plan(read_config(found.values, found.removed))
    assert f"config: {key} names " in str(caught.value)
    assert f"which {by}: null takes away" in str(caught.value)


def test_the_file_that_takes_the_demo_away_leaves_its_conditions_alone(file):
    mine = {"tasks": {"t": {"kind": "text", "source": {"hub": "x/z"}}}}
    mine["models"] = {"m": {"source": {"hub": "x/y"}, "tasks": ["t"]}}
    below = [ROOT / "config.yaml", ROOT / "experiments/without_demo.yaml"]
    found = merged(*below, file("mine.yaml", yaml.safe_dump(mine)))
    plan = Plan(read_config(found.values, found.removed))
    assert (plan.models, plan.tasks, len(plan.conditions)) == (["m"], ["t"], 19)
    defaults = read_config(mine)
    assert (plan.config.controls, plan.config.curves) == (defaults.controls, defaults.curves)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("seed: 1\nseed: 2\n", "line 2: the key seed stands there twice, first in line 1."),
        ("models:\n  a: {}\n  b: {}\n  a: {x: 1}\n", "line 4: the key models.a stands there twice, first in line 2."),
        ('{"a": {"b": 1,\n"b": 2}}', "line 2: the key a.b stands there twice, first in line 1."),
    ],
)
def test_a_key_that_stands_twice_is_refused(file, text, sentence):
    path = file("mine.yaml", text)
    with pytest.raises(InputError) as caught:
        read_keys(path)
    assert str(caught.value) == f"{path}, {sentence}"


@pytest.mark.parametrize(
    ("text", "line", "number", "value"),
    [
        ("seed: 0100\n", 1, "0100", 64),
        ("tasks:\n  a: {samples: 0024}\n", 2, "0024", 20),
        ("clustering:\n  k: [4, 1:30]\n", 2, "1:30", 90),
        ("seed: -0_10\n", 1, "-0_10", -8),
        ("words: {rate: 1:30.5}\n", 1, "1:30.5", 90.5),
        ("tasks:\n  a: {labels: {010: x}}\n", 2, "010", 8),
    ],
)
def test_a_number_that_yaml_reads_otherwise_than_it_looks_is_refused_with_its_value(file, text, line, number, value):
    path = file("mine.yaml", text)
    with pytest.raises(InputError) as caught:
        read_keys(path)
    assert str(caught.value) == (
        f"{path}, line {line}: YAML reads {number} as {value}; write the number that you mean without leading zeros "
        "and colons, or text in quotes."
    )


def test_numbers_that_are_what_they_look_like_and_text_are_read(file):
    numbers = "[0, 10, -7, +7, 007, 1_000, 0.5, .5, 1.0e-4, 0x1F, 0b11, .inf, -.INF, .nan, '0100', \"1:30\", 08, 1:70]"
    assert read_keys(file("mine.yaml", f"a: {numbers}\n")) == {"a": {}}


@pytest.mark.parametrize(
    ("text", "given", "told"),
    [
        # A value, an unknown key, and what is missing, each where it stands or would stand.
        ("clustering:\n  k: many\n", {}, {"clustering.k": "mine.yaml, line 2"}),
        (
            "models:\n  one:\n    tasks: [a]\n    evalute: a\nseed: x\n",
            {},
            {'unknown key "evalute" in models.one': "mine.yaml, line 4", "seed": "mine.yaml, line 5"},
        ),
        ("models: {three: {tasks: [a]}}\n", {}, {'models.three needs the key "source"': "mine.yaml, line 1"}),
        ("seed: 1\n", {"controls": {"draws": -1}}, {"controls.draws": "--config"}),
        # What a pattern stands for stands where the pattern does.
        (
            "models:\n  s-{x}:\n    source: {folder: 'gone-{x}'}\n    tasks: [a]\n    over: {x: 1-2}\n",
            {},
            {"models.s-1.source.folder": "mine.yaml, line 3", "models.s-2.source.folder": "mine.yaml, line 3"},
        ),
    ],
)
def test_each_mistake_is_told_with_the_file_and_line_of_its_key(file, text, given, told):
    with pytest.raises(InputError) as caught:
        plan_of(merged(file("base.yaml", BASE), file("mine.yaml", text), given=given))
    mistakes = [f"config: {mistake}" for mistake in str(caught.value).split("config: ")[1:]]
    assert len(mistakes) == len(told)
    for mistake, (key, place) in zip(mistakes, told.items(), strict=True):
        assert mistake.startswith(f"config: {key}")
        assert mistake.strip().endswith(f"{place}]")
