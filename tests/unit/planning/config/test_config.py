"""The configuration: every mistake is reported in one line that names the key and says what is allowed there."""

import json
import os
from types import UnionType
from typing import Any, get_args, get_origin

import pytest

from headtypes.planning.config.reading import mistakes_in, read_config
from headtypes.planning.config.schema import Config, Strict
from headtypes.planning.plan import Plan
from tests.docs.schema import json_schema
from tests.support.configs import DELETE, edited, full_config
from tests.support.job_specs import all_specs
from tests.support.places import ROOT
from tests.support.refusals import refusal


@pytest.fixture
def full(tmp_path):
    return full_config(tmp_path)


def planned(raw) -> Plan:
    """What Snakemake would make of a configuration, with every spec."""
    all_specs(raw)
    return Plan(read_config(raw))


def refused(raw) -> str:
    message = refusal(planned, raw)
    assert message.startswith("config: ")
    return message


# Of each kind of mistake, one.
MISTAKES = [
    # A key that is not known, with the nearest one that is; a key that is missing.
    ("sead", 1, ['sead: this key is unknown. Did you mean "seed"? Allowed: ablation, analyses, clustering']),
    ("tests/types", ["gradient"], ['tests.types: there is no "gradient". Did you mean "gradients"?']),
    ("models/taught/source/finetuned/epoch", 1, ["taught.source.finetuned.epoch: ", 'Did you mean "epochs"?']),
    ("models/base/source", DELETE, ["models.base.source: this key is missing."]),
    # A value of the wrong type, or out of bounds.
    ("seed", "1", ["seed:", "valid integer", "found '1'; write it without quotes"]),
    ("controls/questions", 0, ["controls.questions:", "greater than or equal to 1", "or input should be 'all'"]),
    ("clustering/k", 4, ["clustering.k:", "valid list", "found 4; write [4]"]),
    ("tasks/squad/samples", "1e3", ["tasks.squad.samples: input should be a valid integer; found '1e3'."]),
    ("models/taught/source/finetuned/learning_rate", "1e-4", ["finetuned.learning_rate", "write a decimal point"]),
    ("models/taught/source/finetuned/epochs", float("nan"), ["finetuned.epochs"]),
    ("clustering", None, ["clustering: a mapping of keys is needed", "found None"]),
    # One of a few values.
    ("clustering/methods/0", "kmean", ["clustering.methods.0", 'Did you mean "kmeans"?', "'spectral'"]),
    ("clustering/distance_bins", 10, ["clustering.distance_bins: input should be 1, 2, 4, 8, 16, 32 or 64"]),
    ("conditions/zero-dense/dense", "zeros", ["conditions.zero-dense.dense", 'Did you mean "zero"?', ", drop_inter"]),
    ("conditions/mixed/2-3", "temperature 0", ["conditions.mixed.2-3: temperature takes a number above 0"]),
    ("conditions/mixed/2-3", "zero 2", ["conditions.mixed.2-3: zero takes no number; found 'zero 2'"]),
    # Keys that do not go together.
    ("models/base/source/folder", "x", ["models.base.source", "exactly one of hub, folder", "found hub and folder"]),
    ("tasks/squad/columns", {}, ["tasks.squad:", "columns belongs to a task of kind sentence_pair"]),
    ("windows/max_seq_length", 50, ["windows:", "50 < 30 + 4 + 20"]),
    ("models/trained/evaluate", "bank", ["models.trained.evaluate: bank is of kind treebank, which no model"]),
    # A name that is not text, or that would leave the results folder.
    ("models/new", 5, ["models.5: input should be a valid string; found 5"]),
    ("models/new", "a/b", ["models.a/b: string should match pattern"]),
    # Entries that are not there.
    ("models/base/tasks/0", "squadd", ["models.base.tasks", 'no "squadd"', 'Did you mean "squad"?', "Known: asked"]),
    ("models/base/evaluate", "asked", ["models.base.evaluate", "add it to models.base.tasks"]),
    ("models/base/parent", "tuned+1.0", ["parent: base -> tuned+1.0 -> base is circular"]),
    ("models/taught/source/finetuned/task", "pairs", ["pairs has no training data"]),
    # Types that no partition has, or that no one partition has together; a head is counted from 1.
    ("conditions/zero-dense/dence", "zero", ["conditions.zero-dense", 'the type "dence"', 'Did you mean "dense"?']),
    ("conditions/zero-dense/near", "zero", ["no one partition has all of dense, vertical, near"]),
    ("conditions/zero-dense/0-1", "zero", ['no partition has the type "0-1"', "layer-head, both counted from 1"]),
    # What would be something else than it says.
    ("conditions/baseline", {"dense": "zero"}, ["conditions: each of them changes heads", "baseline: {}"]),
    ("select", {"models": ["base"], "tasks": ["chosen"]}, ["select.tasks: no selected model reads one of these tasks"]),
    # Files that are not there.
    ("models/tuned+1.0/source/folder", "/nowhere", ["models.tuned+1.0.source.folder: there is no folder /nowhere."]),
    ("models/tuned+1.0/source/folder", __file__, ["test_config.py is there and is no folder, nor a link to one;"]),
    ("models/tuned+1.0/source/folder", "/" + "a/" * 2500, ["tuned+1.0.source.folder: there is no folder /a/a", "a/a…"]),
    ("tasks/squad/source/file", "/dev", ["tasks.squad.source.file: /dev is there and is no file, nor a link to one;"]),
    ("models/tuned+1.0/source/folder", "/a/{b}", ["models.tuned+1.0.source.folder: /a/{b} has braces"]),
    ("tasks/squad/source/file", "/a/{workflow}/b", ["tasks.squad.source.file: /a/{workflow}/b has braces"]),
    ("partitions/mine/file", "a{0}.csv", ["partitions.mine.file: a{0}.csv has braces"]),
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
    """Nor with what is chosen on the same sentences, whatever the path says."""
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


@pytest.mark.parametrize("registry", ["models", "tasks", "partitions", "conditions"])
def test_no_entry_has_the_name_of_the_folder_of_results(full, registry):
    """Under a prefix, the last folder of this name is the one that results are in."""
    for name in ("results", "Results"):
        config = edited(full, f"{registry}/{name}", next(iter(full[registry].values())))
        assert refused(config) == f"config: {registry}.{name}: the folder of results has this name; rename the entry."


@pytest.mark.parametrize("registry", ["models", "tasks", "partitions", "conditions", "readings", "analyses"])
def test_names_that_differ_in_case_alone_are_refused(full, registry):
    """Where a file system does not tell them apart, results of one would overwrite those of the other."""
    entry = next(iter(full[registry].values()))
    config = edited(edited(full, f"{registry}/Other", entry), f"{registry}/oTher", entry)
    assert refused(config).startswith(f"config: {registry}.oTher: it differs from Other in upper and")


@pytest.mark.parametrize("ending", ["labels", "best"])
def test_no_task_has_a_name_by_which_results_of_another_are_called(full, ending):
    """As `results/company/MODEL/qa.labels.csv`, the labels of `qa`, which would be the costs of `qa.labels`."""
    name, entry = next(iter(full["tasks"].items()))
    said = f"config: tasks.{name}.{ending}: results of {name} have this name in their files; rename one of the two."
    assert refused(edited(full, f"tasks/{name}.{ending}", entry)) == said


def test_a_partition_has_the_name_of_no_clustering_in_any_case(full):
    entry = next(iter(full["partitions"].values()))
    name = f"{entry['task']}-kmeans-k4".upper()
    assert refused(edited(full, f"partitions/{name}", entry)).startswith(f"config: partitions.{name}: a clustering has")


@pytest.mark.parametrize("name", ["surface", "Relations", "ablation", "provenance", "guan2020"])
def test_an_analysis_of_the_users_has_the_name_of_nothing_of_ours(full, name):
    config = edited(full, f"analyses/{name}", full["analyses"]["reach"])
    told = f"config: analyses.{name}: results of ours have the name {name.lower()}; choose another one."
    assert refused(config) == told


def test_an_analysis_of_the_users_can_be_among_those_that_are_tested(full):
    assert planned(edited(full, "tests/types", ["reach"])).config.tests.types == ["reach"]


def test_a_file_of_an_analysis_without_one_is_told_with_its_key(full, tmp_path):
    (tmp_path / "reach.py").write_text("reach = 1\n")
    assert refused(full).startswith("config: analyses.reach.file: ")
    assert refused(full).endswith("reach.py: no class derives from HeadAnalysis, and exactly one has to.")


def test_no_two_tasks_give_a_partition_one_name(full):
    """`qa` by norms and `qa-norms` by weights have partitions of one name, of which one overwrote the other."""
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
