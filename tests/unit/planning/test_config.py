"""The configuration: files laid over one another, patterns among the models, and one line for every mistake."""

import json
import os
from types import UnionType
from typing import Any, get_args, get_origin

import pytest
import yaml
from jsonschema import Draft202012Validator

from headtypes.planning.config import Config, Layers, Strict, expanded, laid_over, mistakes_in, read_config
from headtypes.planning.plan import Plan, plan_of
from tests.docs.schema import json_schema
from tests.support.configs import DELETE, all_specs, edited, full_config
from tests.support.places import ROOT
from tests.support.refusals import refusal


@pytest.fixture
def full(tmp_path):
    return full_config(tmp_path)


def planned(raw) -> Plan:
    all_specs(raw)
    return Plan(read_config(raw))


def refused(raw) -> str:
    message = refusal(planned, raw)
    assert message.startswith("config: ")
    return message


MISTAKES = [
    ("sead", 1, ['sead: this key is unknown. Did you mean "seed"? Allowed: ablation, analyses, clustering']),
    ("tests/types", ["gradient"], ['tests.types: there is no "gradient". Did you mean "gradients"?']),
    ("models/taught/source/finetuned/epoch", 1, ["taught.source.finetuned.epoch: ", 'Did you mean "epochs"?']),
    ("models/base/source", DELETE, ["models.base.source: this key is missing."]),
    ("seed", "1", ["seed:", "valid integer", "found '1'; write it without quotes"]),
    ("controls/questions", 0, ["controls.questions:", "greater than or equal to 1", "or input should be 'all'"]),
    ("clustering/k", 4, ["clustering.k:", "valid list", "found 4; write [4]"]),
    ("tasks/squad/samples", "1e3", ["tasks.squad.samples: input should be a valid integer; found '1e3'."]),
    ("models/taught/source/finetuned/learning_rate", "1e-4", ["finetuned.learning_rate", "write a decimal point"]),
    ("models/taught/source/finetuned/epochs", float("nan"), ["finetuned.epochs"]),
    ("clustering", None, ["clustering: a mapping of keys is needed", "found None"]),
    ("clustering/methods/0", "kmean", ["clustering.methods.0", 'Did you mean "kmeans"?', "'spectral'"]),
    ("clustering/distance_bins", 10, ["clustering.distance_bins: input should be 1, 2, 4, 8, 16, 32 or 64"]),
    ("conditions/zero-dense/dense", "zeros", ["conditions.zero-dense.dense", 'Did you mean "zero"?', ", drop_inter"]),
    ("conditions/mixed/2-3", "temperature 0", ["conditions.mixed.2-3: temperature takes a number above 0"]),
    ("conditions/mixed/2-3", "zero 2", ["conditions.mixed.2-3: zero takes no number; found 'zero 2'"]),
    ("models/base/source/folder", "x", ["models.base.source", "exactly one of hub, folder", "found hub and folder"]),
    ("tasks/squad/columns", {}, ["tasks.squad:", "columns belongs to a task of kind sentence_pair"]),
    ("windows/max_seq_length", 50, ["windows:", "50 < 30 + 4 + 20"]),
    ("models/trained/evaluate", "bank", ["models.trained.evaluate: bank is of kind treebank, which no model"]),
    ("models/new", 5, ["models.5: input should be a valid string; found 5"]),
    ("models/new", "a/b", ["models.a/b: string should match pattern"]),
    ("models/base/tasks/0", "squadd", ["models.base.tasks", 'no "squadd"', 'Did you mean "squad"?', "Known: asked"]),
    ("models/base/evaluate", "asked", ["models.base.evaluate", "add it to models.base.tasks"]),
    ("models/base/parent", "tuned+1.0", ["parent: base -> tuned+1.0 -> base is circular"]),
    ("models/taught/source/finetuned/task", "pairs", ["pairs has no training data"]),
    ("conditions/zero-dense/dence", "zero", ["conditions.zero-dense", 'the type "dence"', 'Did you mean "dense"?']),
    ("conditions/zero-dense/near", "zero", ["no one partition has all of dense, vertical, near"]),
    ("conditions/zero-dense/0-1", "zero", ['no partition has the type "0-1"', "layer-head, both counted from 1"]),
    ("conditions/baseline", {"dense": "zero"}, ["conditions: each of them changes heads", "baseline: {}"]),
    ("select", {"models": ["base"], "tasks": ["chosen"]}, ["select.tasks: no selected model reads one of these tasks"]),
    ("models/tuned+1.0/source/folder", "/nowhere", ["models.tuned+1.0.source.folder: there is no folder /nowhere."]),
    ("models/tuned+1.0/source/folder", __file__, ["test_config.py is there and is no folder, nor a link to one;"]),
    ("models/tuned+1.0/source/folder", "/" + "a/" * 2500, ["tuned+1.0.source.folder: there is no folder /a/a", "a/a…"]),
    ("tasks/squad/source/file", "/dev", ["tasks.squad.source.file: /dev is there and is no file, nor a link to one;"]),
    ("models/tuned+1.0/source/folder", "/a/{b}", ["models.tuned+1.0.source.folder: /a/{b} has braces"]),
    ("tasks/squad/source/file", "/a/{workflow}/b", ["tasks.squad.source.file: /a/{workflow}/b has braces"]),
    ("analyses/reach/file", "nowhere.py", ["analyses.reach.file: there is no file nowhere.py"]),
    ("analyses/reach/file", "reach.txt", ["analyses.reach.file: the name of a file of Python ends with .py"]),
    ("analyses/reach/inputs", {"words": "no.txt"}, ["analyses.reach.inputs.words: there is no file no.txt"]),
    ("tasks/squad/source/file", "$HEADTYPES_NOWHERE/x", ["tasks.squad.source.file", "HEADTYPES_NOWHERE is not set"]),
]


@pytest.mark.parametrize(("path", "value", "fragments"), MISTAKES)
def test_a_mistake_is_told_in_one_line_that_names_the_key(full, path, value, fragments):
    if path.endswith("/new"):  # The value is the name of a new entry.
        full[path.removesuffix("/new")][value] = {}
        message = refused(full)
    else:
        message = refused(edited(full, path, value))
    for fragment in fragments:
        assert fragment in message


@pytest.mark.parametrize(
    ("says", "told"),
    [
        ({"architectures": ["GPT2LMHeadModel"]}, "its config.json says that it is a GPT2LMHeadModel"),
        ({"architectures": ["BertModel"]}, "name another model, or leave evaluate out"),
        ({"num_hidden_layers": 1}, "conditions.mixed: tuned+1.0 has 1 layers of ? heads by its config.json"),
        ({"n_layer": 6, "n_head": 2}, "has 6 layers of 2 heads by its config.json, both counted from 1, and no 2-3;"),
        ({"num_hidden_layers": 6, "num_attention_heads": 12, "architectures": ["BertForQuestionAnswering"]}, None),
        ({"architectures": None, "num_hidden_layers": "many"}, None),
    ],
)
def test_what_a_model_lacks_is_told_when_the_run_is_planned_where_its_config_json_says_so(full, tmp_path, says, told):
    (tmp_path / "model/config.json").write_text(json.dumps(says))
    if told is None:
        planned(full)
    else:
        assert told in refused(full)


@pytest.mark.parametrize(("field", "value"), [("sentences", "segments"), ("uniform_over_padding", True)])
def test_a_reading_that_means_nothing_on_a_text_is_refused_where_one_is_evaluated(full, field, value):
    full["ablation"][field] = value
    full["models"]["tuned+1.0"] |= {"tasks": ["squad", "paragraphs"], "evaluate": "squad"}
    read_config(full)
    full["models"]["tuned+1.0"]["evaluate"] = "paragraphs"
    message = refused(full)
    assert message.startswith(f"config: ablation.{field}: it means nothing on tasks of kind text, such as paragraphs")
    assert "make it one of the readings" in message


def test_all_mistakes_are_told_at_once_and_nothing_that_follows_from_them(full):
    names = edited(edited(full, "models/base/tasks", ["squadd"]), "select", {"models": ["bas"], "tasks": ["squad"]})
    full["seed"] = full["gradients"]["samples"] = full["clustering"]["restarts"] = "many"
    for config, keys in (
        (full, ["seed", "clustering.restarts", "gradients.samples"]),
        (names, ["models.base.tasks", "select.models"]),
    ):
        assert [mistake.split(": ")[1] for mistake in mistakes_in(refused(config))] == keys


def test_paths_expand_home_environment_and_the_workflow(full, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HEADTYPES_DATA", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    full["tasks"]["squad"]["source"]["file"] = "$HEADTYPES_DATA/squad.json"
    full["models"]["tuned+1.0"]["source"]["folder"] = "~/elsewhere/..//model/"
    full["tasks"]["bank"]["source"]["file"] = "{workflow}/demo/trees_dev.conllu"
    config = planned(full).config
    assert os.path.samefile(config.tasks["bank"].source.file, ROOT / "demo/trees_dev.conllu")
    assert config.tasks["squad"].source.file == str(tmp_path / "squad.json")
    assert config.models["tuned+1.0"].source.folder == str(tmp_path / "model")


@pytest.mark.parametrize(
    ("one", "other"), [("file", "training_file"), ("file", "test_file"), ("training_file", "test_file")]
)
def test_a_treebank_is_not_scored_on_what_it_learns_from(full, tmp_path, one, other):
    source = full["tasks"]["bank"]["source"]
    (tmp_path / "link.conllu").symlink_to(source[one])
    source[other] = str(tmp_path / "link.conllu")
    assert refused(full).startswith(f"config: tasks.bank.source.{other}: this is {one}, too, so that what is learnt")


def test_the_full_configuration_has_every_key(full):
    """So that the tests that change every leaf change every key there is."""

    def unused(model: type[Strict], given: list[dict], path: str) -> list[str]:
        found = []
        for name, field in model.model_fields.items():
            values = [part[name] for part in given if name in part]
            if not values:
                found.append(f"{path}{name}")
            for inner in parts_of(field.annotation):
                below = values if all(set(value) & set(inner.model_fields) for value in values) else []
                entries = below or [entry for value in values for entry in value.values()]
                found += unused(inner, entries, f"{path}{name}.")
        return found

    def parts_of(annotation: Any) -> list[type[Strict]]:
        if isinstance(annotation, type) and issubclass(annotation, Strict):
            return [annotation]
        if get_origin(annotation) in (dict, UnionType):
            return [part for argument in get_args(annotation) for part in parts_of(argument)]
        return []

    assert unused(Config, [full], "") == []


def test_the_schema_for_editors_is_the_one_that_is_checked():
    """Else run `make schema`."""
    kept = ROOT / "schemas" / "config.schema.json"
    assert kept.read_text(encoding="utf-8") == json_schema()


# `results/company/MODEL/pairs.labels.csv` are the labels of `pairs`, which would be the costs of `pairs.labels`.
NAMES = [
    *(
        (registry, name, "the folder of results has this name; rename the entry.")
        for registry in ("models", "tasks", "partitions", "conditions")
        for name in ("results", "Results")
    ),
    ("models", "BASE", "it differs from base in upper and lower case alone, which some file systems do not tell apart"),
    ("tasks", "squaD", "it differs from squad in upper and lower case alone"),
    ("partitions", "Mine", "it differs from mine in upper and lower case alone"),
    ("conditions", "Baseline", "it differs from baseline in upper and lower case alone"),
    ("readings", "Segments", "it differs from segments in upper and lower case alone"),
    ("analyses", "Reach", "it differs from reach in upper and lower case alone"),
    ("tasks", "squad.labels", "results of squad have this name in their files; rename one of the two."),
    ("tasks", "squad.best", "results of squad have this name in their files; rename one of the two."),
    ("partitions", "SQUAD-KMEANS-K4", "a clustering has this name; rename the partition."),
    *(
        ("analyses", name, f"results of ours have the name {name.lower()}; choose another one.")
        for name in ("surface", "Relations", "ablation", "provenance", "guan2020")
    ),
]


@pytest.mark.parametrize(("registry", "name", "said"), NAMES)
def test_no_two_entries_have_names_that_give_results_one_path(full, registry, name, said):
    config = edited(full, f"{registry}/{name}", next(iter(full[registry].values())))
    assert refused(config).startswith(f"config: {registry}.{name}: {said}")


def test_an_analysis_of_the_users_can_be_among_those_that_are_tested(full):
    assert planned(edited(full, "tests/types", ["reach"])).config.tests.types == ["reach"]


def test_a_file_of_an_analysis_without_one_is_told_with_its_key(full, tmp_path):
    (tmp_path / "reach.py").write_text("reach = 1\n")
    assert refused(full).startswith("config: analyses.reach.file: ")
    assert refused(full).endswith("reach.py: no class derives from HeadAnalysis, and exactly one has to.")


def test_no_two_tasks_give_a_partition_one_name(full):
    task = full["tasks"]["made"]
    config = edited(edited(full, "tasks/made-norms", task), "clustering/of", ["weights", "norms"])
    config = edited(config, "models/taught/tasks", ["made", "made-norms"])
    assert "tasks.made-norms: its partition made-norms-kmeans-k3 has the name of one of made;" in refused(config)


def test_a_task_says_itself_what_heads_are_divided_by(full):
    config = edited(full, "tasks/paragraphs/divided_by", ["norms", "weights", "norms"])
    read = read_config(config)
    assert list(read.clusterings("paragraphs")) == [
        f"paragraphs-{of}kmeans-k{k}" for of in ("norms-", "") for k in (3, 4)
    ]
    assert list(read.clusterings("made")) == ["made-kmeans-k3", "made-kmeans-k4"]
    assert {(it.model, it.task) for it in Plan(read).with_norms} == {("trained", "paragraphs")}
    assert "divided_by belongs to a task of kind" in refused(edited(full, "tasks/bank/divided_by", ["weights"]))


BASE = """
tasks: {a: {kind: text, source: {hub: x/a}}, b: {kind: text, source: {hub: x/b}}}
models: {one: {source: {hub: x/y}, tasks: [a]}, two: {source: {hub: x/z}, tasks: [b]}}
conditions: {baseline: {}, less: {dense: zero}}
controls: {draws: 2, questions: 60}
"""


@pytest.fixture
def over(tmp_path, monkeypatch):
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
    assert plan.config.controls == read_config(mine).controls


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
        ("x: 0-3", "m0- m1- m2- m3-"),
        ("x: 08-11", "m08- m09- m10- m11-"),
        ("x: 1000-3000/1000", "m1000- m2000- m3000-"),
        ("x: 0-10/4", "m0- m4- m8-"),
        ("x: [0, 1, 2-3, last]", "m0- m1- m2- m3- mlast-"),
        ("x: 2.5", "m2.5-"),
        ("x: [a, b], y: 1-2", "ma-1 ma-2 mb-1 mb-2"),
    ],
)
def test_values_are_single_ones_ranges_and_lists_of_both_and_the_last_variable_changes_fastest(over, names):
    assert list(models(f"m{{x}}-{'{y}' if 'y' in over else ''}: {{over: {{{over}}}}}")) == names.split()


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
    assert read_config({**raw, **expanded(raw)}) == plan.config


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("b-{x}: {tasks: [news]}", "models.b-{x}: a name with braces needs `over`, such as over: {seed: 0-24}."),
        ("b-{x}: {a: '{seeds}', over: {x: 1-2}}", "models.b-{x}.a: over does not say what {seeds} is."),
        ("b: {over: {x: 0-2}}", "models.b.over.x: write {x} into the name, which all would share."),
        ("b-{x}: {over: {x: 4-2}}", "models.b-{x}.over.x: the range 4-2 ends before it begins; write 2-4."),
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
