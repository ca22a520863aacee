"""The configuration: every mistake is reported in one line that names the key and says what is allowed there."""

import copy
import json
import os
import re
from types import UnionType
from typing import Any, get_args, get_origin

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from headtypes.core.errors import InputError
from headtypes.planning.config.derived import clusterings
from headtypes.planning.config.messages import mistakes_in
from headtypes.planning.config.schema import Config, Strict, json_schema, read_config
from headtypes.planning.plan import Plan
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


def test_the_full_configuration_is_accepted(full):
    models = ["base", "tuned+1.0", "packed", "taught", "schooled", "trained", "copying", "grown-0", "grown-5"]
    assert planned(full).models == models


MISTAKES = [
    # A key that is not known, with the nearest one that is.
    ("sead", 1, ['unknown key "sead" at the top', 'Did you mean "seed"?', "Allowed: ablation, clustering"]),
    ("readings/padded/uniform", True, ['unknown key "uniform" in readings.padded', "Allowed: renormalise"]),
    ("controls/draw", 1, ['unknown key "draw" in controls', 'Did you mean "draws"?']),
    ("clustering/restart", 1, ['unknown key "restart" in clustering', 'Did you mean "restarts"?']),
    ("models/taught/source/finetuned/epoch", 1, ["in models.taught.source.finetuned", 'Did you mean "epochs"?']),
    ("tasks/squad/source/fil", "x", ["in tasks.squad.source", 'Did you mean "file"?']),
    (
        "models/base/quite_another",
        1,
        ['unknown key "quite_another" in models.base', "Allowed: attention, evaluate"],
    ),
    ("a\nb", 1, ["unknown key", "at the top"]),
    # A key that is missing.
    ("models", DELETE, ['the config needs the key "models"']),
    ("models/base/source", DELETE, ['models.base needs the key "source"']),
    # A value of the wrong type.
    ("seed", "1", ["seed:", "valid integer", "found '1'; write it without quotes"]),
    ("controls/draws", "many", ["controls.draws: a whole number is expected; found 'many'."]),
    ("seed", True, ["seed:", "valid integer", "found True"]),
    ("seed", -1, ["seed:", "greater than or equal to 0", "found -1"]),
    ("controls/draws", -1, ["controls.draws:", "greater than or equal to 0", "found -1"]),
    ("controls/questions", 0, ["controls.questions:", "greater than or equal to 1", "or input should be 'all'"]),
    ("curves/orders", -1, ["curves.orders:", "greater than or equal to 0", "found -1"]),
    ("curves/questions", "most", ["curves.questions:", "found 'most'", "'all'"]),
    ("clustering/k", 4, ["clustering.k:", "valid list", "found 4; write [4]"]),
    ("clustering/k", [], ["clustering.k:", "at least 1 item"]),
    ("clustering/k/0", 1, ["clustering.k.0:", "greater than or equal to 2"]),
    ("clustering/scale", "no", ["clustering.scale: true or false is expected; found 'no'."]),
    ("tasks/squad/samples", 1e3, ["tasks.squad.samples:", "integer", "found 1000.0"]),
    ("tasks/squad/samples", "1e3", ["tasks.squad.samples:", "found '1e3'; write 1000."]),
    ("tasks/squad/questions", "2e+3", ["tasks.squad.questions:", "found '2e+3'; write 2000"]),
    ("tasks/squad/questions", "1.5E4", ["tasks.squad.questions:", "found '1.5E4'; write 15000; or input"]),
    ("tasks/squad/samples", "1.5e0", ["tasks.squad.samples: a whole number is expected; found '1.5e0'."]),
    ("tasks/squad/questions", 0, ["tasks.squad.questions:", "greater than or equal to 1", "or input should be 'all'"]),
    ("tasks/squad/questions", "al", ["tasks.squad.questions:", "found 'al'", "'all'"]),
    ("models/base/source/revision", 12, ["models.base.source.revision:", "string", "found 12"]),
    ("models/base/source/hub", "", ["models.base.source.hub:", "at least 1 character"]),
    ("models/base/source/sha256", "ab", ["models.base.source.sha256:", "64 hexadecimal digits"]),
    ("models/taught/source/finetuned/learning_rate", "1e-4", ["finetuned.learning_rate", "write a decimal point"]),
    ("models/taught/source/finetuned/epochs", "1.0e1", ["finetuned.epochs:", "found '1.0e1'; write 10."]),
    ("models/taught/source/finetuned/epochs", float("inf"), ["finetuned.epochs", "finite number"]),
    ("models/taught/source/finetuned/epochs", float("nan"), ["finetuned.epochs"]),
    # A section that YAML reads as nothing, or as something else.
    ("clustering", None, ["clustering: a mapping of keys is needed", "found None"]),
    ("models/base/published", "squad", ["models.base.published: a mapping of keys is needed", "found 'squad'"]),
    ("models/base", None, ["models.base: a mapping of keys is needed"]),
    # As the command line passes it on.
    ("controls", "null", ["controls: a mapping of keys is needed; found 'null'; with --config, null is text"]),
    ("select/partitions", "null", ["select.partitions:", "valid list; found 'null'; with --config, null is text"]),
    ("conditions/baseline", None, ["conditions.baseline: a mapping of keys is needed"]),
    ("tasks", [1] * 100, ["tasks: a mapping of keys is needed", "…"]),
    # One of a few values.
    ("clustering/methods/0", "kmean", ["clustering.methods.0", 'Did you mean "kmeans"?', "'spectral'"]),
    ("clustering/distance_bins", 10, ["clustering.distance_bins: 10 is not allowed here", "1, 2, 4, 8, 16, 32 or 64"]),
    ("conditions/zero-dense/dense", "zeros", ["conditions.zero-dense.dense", 'Did you mean "zero"?', ", drop_inter"]),
    (
        "conditions/zero-dense/dense",
        False,
        ["conditions.zero-dense.dense: there is no operation 'False'", "Known: keep, "],
    ),
    ("conditions/mixed/2-3", "average", ["conditions.mixed.2-3: there is no operation 'average'", ", mean, "]),
    *(
        ("conditions/mixed/2-3", f"temperature{number}", ["conditions.mixed.2-3: temperature takes a decimal number"])
        for number in ("", " 0", " 0.0", " -1", " 1e3", " nan", " 2 3", " two")
    ),
    ("conditions/mixed/2-3", {"temperature": 2}, ["mixed.2-3: there is no operation", 'Did you mean "temperature"?']),
    ("conditions/mixed/2-3", "resample 1.5", ["mixed.2-3: resample takes a whole number for another draw", "or none"]),
    ("conditions/mixed/2-3", "zero 2", ["conditions.mixed.2-3: zero takes no number; found 'zero 2'"]),
    ("readings/segments/sentences", "segment", ["readings.segments.sentences", 'Did you mean "segments"?']),
    ("models/base/published/guan", "squad", ["models.base.published.guan", 'Did you mean "guan2020"?']),
    ("compute/precision", "half", ["compute.precision", "'float32', 'bfloat16' or 'float16'"]),
    # Keys that do not go together.
    ("models/base/source/folder", "x", ["models.base.source", "exactly one of hub, folder", "found hub and folder"]),
    ("models/base/source", {}, ["models.base.source", "exactly one of", "found none"]),
    ("models/packed/source/revision", "x", ["models.packed.source", "revision belongs to a source with hub"]),
    ("tasks/squad/source/split", "x", ["tasks.squad.source", "split belongs to a source with hub"]),
    ("models/trained/source/pickle", True, ["models.trained.source", "pickle belongs to a source with files"]),
    ("tasks/squad/columns", {}, ["tasks.squad:", "columns belongs to a task of kind sentence_pair"]),
    ("tasks/made/max_seq_length", 64, ["tasks.made:", "max_seq_length belongs to a task of kind text"]),
    ("tasks/made/source", {"folder": "x"}, ["tasks.made:", "folder belongs to a task of kind text"]),
    ("tasks/squad/source/folder", "x", ["tasks.squad.source", "found file and folder"]),
    ("tasks/bank/questions", 5, ["tasks.bank:", "questions belongs to a task of kind", "multiple_choice or text"]),
    ("tasks/pairs/columns/choices", "x", ["tasks.pairs:", "choices belongs to a task of kind multiple_choice"]),
    ("tasks/chosen/columns/first", "x", ["tasks.chosen:", "first belongs to a task of kind sentence_pair"]),
    ("tasks/chosen/labels", {"a": "b"}, ["tasks.chosen:", "labels belongs to a task of kind sentence_pair"]),
    ("models/trained/evaluate", "bank", ["models.trained.evaluate: bank is of kind treebank, which no model"]),
    (
        "models/trained/evaluate",
        "paragraphs",
        ["on squad (question_answering) and cannot answer paragraphs"],
    ),
    (
        "models/trained/source/finetuned/task",
        "paragraphs",
        ["models.trained.source.finetuned.task: paragraphs is of kind text, on which no model is fine-tuned"],
    ),
    ("tasks/bank/source", {"hub": "x"}, ["tasks.bank: a task of kind treebank cannot be read from the Hub"]),
    ("tasks/bank/samples", 10, ["tasks.bank:", "samples belongs to a task of kind question_answering or"]),
    ("tasks/bank/source/folder", "x", ["tasks.bank.source:", "exactly one of", "found file and folder"]),
    ("tasks/squad/source/test_file", "x", ["tasks.squad:", "test_file belongs to a task of kind treebank"]),
    ("tasks/asked/source/test_file", "x", ["tasks.asked.source:", "test_file belongs to a source with file"]),
    ("relations/offsets", 0, ["relations.offsets:", "greater than or equal to 1"]),
    ("windows/max_seq_length", 50, ["windows:", "50 < 30 + 4 + 20"]),
    # A name that is not text, or that would leave the results folder.
    ("models/5", {}, ["models: the name 5 is not text", 'put it in quotes: "5"']),
    ("models/new", True, ["models: the name True is not text", 'in quotes as it is written, such as "yes" or "true"']),
    ("conditions/zero-dense/1", "zero", ["conditions.zero-dense: the name 1 is not text"]),
    *[
        (f"{registry}/new", name, [f"{registry}: the name {name!r} cannot be used", "letters, digits"])
        for registry in ("models", "tasks", "partitions", "conditions", "readings")
        for name in ("..", ".", ".hidden", "a\\b", "a b", "", "a\n", "{a}", "ä", "-n")
        if (registry, name) != ("models", "{a}")
    ],
    ("models/new", "{a}", ["models.{a}: a name with braces needs `over`"]),
    ("models/new", "a" * 300, ["models: the name 'aaa", "at most 80 characters"]),
    ("tasks/squad.best", {"source": {"hub": "x"}}, ["tasks.squad.best", "a file about squad may have this name"]),
    # Entries that are not there.
    ("models/base/tasks/0", "squadd", ["models.base.tasks", 'no "squadd"', 'Did you mean "squad"?', "Known: asked"]),
    ("models/base/tasks", [], ["models.base.tasks: nothing is asked of its heads", "detectors.models"]),
    ("models/tuned+1.0/evaluate", "squat", ["models.tuned+1.0.evaluate", 'Did you mean "squad"?']),
    ("tasks/pairs/columns/label", DELETE, ["tasks.pairs: the key labels needs columns.label"]),
    ("tasks/pairs/labels", None, ["tasks.pairs.labels: a mapping of keys is needed"]),
    ("tasks/pairs/labels/yes", True, ["tasks.pairs.labels.yes", "found True"]),
    ("tasks/squad/labels", {"a": "b"}, ["tasks.squad:", "the key labels belongs to a task of kind sentence_pair"]),
    ("models/base/evaluate", "asked", ["models.base.evaluate", "add it to models.base.tasks"]),
    ("models/tuned+1.0/parent", "bass", ["models.tuned+1.0.parent", 'Did you mean "base"?']),
    ("models/base/parent", "base", ["models.base.parent: base -> base is circular"]),
    ("models/base/parent", "tuned+1.0", ["parent: base -> tuned+1.0 -> base is circular"]),
    ("partitions/mine/model", "packet", ["partitions.mine.model", 'Did you mean "packed"?']),
    (
        "partitions/mine/task",
        "nothing",
        ["partitions.mine.task", "Known: asked, bank, chosen, german, made, pairs, paragraphs, squad"],
    ),
    ("partitions/mine/task", "pairs", ["partitions.mine.task", "add it to models.tuned+1.0.tasks"]),
    (
        "partitions/mine/task",
        "bank",
        ["partitions.mine.task: bank is of kind treebank, on which types have no features"],
    ),
    ("models/trained/evaluate", "bank", ["models.trained.evaluate: bank is of kind treebank, which no model answers"]),
    ("tasks/bank/source/test_file", "nowhere.conllu", ["tasks.bank.source.test_file: there is no file nowhere.conllu"]),
    ("tasks/bank/source/training_file", "a.conllu", ["tasks.bank.source.training_file: there is no file a.conllu"]),
    ("models/taught/source/finetuned/base", "bass", ["models.taught.source.finetuned.base", 'Did you mean "base"?']),
    ("models/taught/source/finetuned/base", "taught", ["finetuned.base: taught -> taught is circular"]),
    ("models/taught/source/finetuned/task", "mad", ["models.taught.source.finetuned.task", 'Did you mean "made"?']),
    (
        "models/taught/source/finetuned/task",
        "pairs",
        ["pairs has no training data", "tasks.pairs.source.training_file"],
    ),
    (
        "models/grown-5/source/checkpoint/step",
        6,
        ["step 6 of copying is not kept; add it to models.copying.source.trained.keep (now 0, 5, 7)"],
    ),
    (
        "models/grown-5/source/checkpoint/of",
        "base",
        ["models.grown-5.source.checkpoint.of: base is not trained by the workflow"],
    ),
    ("models/grown-5/source/checkpoint/of", "grown-0", ["of: grown-0 is not trained by the workflow"]),
    ("models/grown-5/source/checkpoint/of", "copyin", ["checkpoint.of", 'Did you mean "copying"?']),
    ("models/grown-5/source/trained", {"layers": 2}, ["exactly one of", "found trained and checkpoint"]),
    ("models/copying/source/trained/keep", [0, 801], ["trained.keep", "800"]),
    ("models/copying/source/trained/keep", [-1], ["trained.keep", "0"]),
    ("models/copying/source/trained/keep", [], ["trained.keep"]),
    ("models/taught/parent", "packed", ["models.taught.parent", "fine-tuned from base; leave parent out"]),
    ("select/models/0", "bas", ["select.models", 'Did you mean "base"?']),
    ("detectors/models/0", "tuned+1", ["detectors.models", 'Did you mean "tuned+1.0"?']),
    ("select/tasks/0", "squid", ["select.tasks", 'Did you mean "squad"?']),
    ("select/partitions/0", "squad-kmeans-k5", ["select.partitions", 'Did you mean "squad-kmeans-k']),
    ("select/conditions/0", "zero-dens", ["select.conditions", 'Did you mean "zero-dense"?']),
    # Types that no partition has, or that no one partition has together.
    ("conditions/zero-dense/dence", "zero", ["conditions.zero-dense", 'the type "dence"', 'Did you mean "dense"?']),
    (
        "conditions/zero-dense/near",
        "zero",
        ["conditions.zero-dense", "no one partition has all of dense, vertical, near"],
    ),
    # A head, like a layer, is counted from 1.
    ("conditions/zero-dense/0-1", "zero", ['no partition has the type "0-1"', "layer-head, both counted from 1"]),
    ("conditions/zero-dense/1-0", "zero", ['no partition has the type "1-0"', "layer-head, both counted from 1"]),
    ("conditions/baseline", {"dense": "zero"}, ["conditions: each of them changes heads", "baseline: {}"]),
    ("conditions/intervals.csv", {"dense": "zero"}, ["conditions.intervals.csv", "rename it"]),
    ("conditions/zero-dense.metrics", {"dense": "zero"}, ["conditions.zero-dense.metrics", "a file about zero-dense"]),
    ("select/models", [], ["select.models:", "at least 1 item"]),
    ("select/tasks", [], ["select.tasks:", "at least 1 item"]),
    ("select/partitions", [], ["select.partitions:", "at least 1 item"]),
    # A selection that leaves nothing.
    ("select", {"models": ["base"], "tasks": ["chosen"]}, ["select.tasks: no selected model has one of these tasks"]),
    (
        "select",
        {"models": ["base"], "partitions": ["chosen-kmeans-k4"]},
        ["select.partitions: no selected model has one of these on a selected task"],
    ),
    ("select", {"models": ["base"], "partitions": ["mine"]}, ["select.partitions: no selected model has one"]),
    ("select", {"partitions": ["bank-kmeans-k4"]}, ['select.partitions: there is no "bank-kmeans-k4"']),
    (
        "select",
        {"models": ["base"], "tasks": ["squad"], "conditions": ["zero-dense"]},
        ["select.conditions: no selected model with a selected partition is evaluated", "or no condition ([])"],
    ),
    ("models/taught/source/sha256", "0" * 64, ["models.taught.source", "sha256 belongs to a source with files"]),
    # Files that hold something else, and files and packages that are not there.
    ("tasks/squad/source/file", __file__, ["tasks.squad.source.file", "is not SQuAD v1.1 JSON", "begins with a brace"]),
    ("tasks/squad/source/file", "/nowhere/dev.json", ["tasks.squad.source.file", "there is no file /nowhere/dev.json"]),
    ("tasks/paragraphs/source/folder", "/nowhere", ["tasks.paragraphs.source.folder: there is no folder /nowhere"]),
    ("tasks/paragraphs/source/folder", "$HEADTYPES_NOWHERE/x", ["source.folder", "HEADTYPES_NOWHERE is not set"]),
    ("models/tuned+1.0/source/folder", "/nowhere", ["models.tuned+1.0.source.folder: there is no folder /nowhere."]),
    (
        "tasks/squad/source/file",
        "nowhere.json",
        ["there is no file nowhere.json in /", "relative paths count; give an absolute path, or, with --directory"],
    ),
    ("tasks/paragraphs/source/folder", "nowhere", ["there is no folder nowhere in /", "relative paths count"]),
    ("models/tuned+1.0/source/folder", "nowhere", ["there is no folder nowhere in /", "relative paths count"]),
    ("models/tuned+1.0/source/folder", "/usr", ["/usr holds no config.json. Name a folder that save_pretrained has"]),
    ("partitions/mine/file", "nowhere.csv", ["there is no file nowhere.csv in /", "relative paths count"]),
    ("models/trained/memory", {"cpu": 1.0}, ["models.trained.memory: probes compare", "or set probes.seeds: 0."]),
    ("probes/vectors/file", "nowhere.txt", ["probes.vectors.file: there is no file nowhere.txt in /"]),
    ("partitions/mine/file", "/nowhere.csv", ["partitions.mine.file", "there is no file /nowhere.csv"]),
    (
        "models/packed/source/package",
        "no_such",
        ["models.packed.source.package", "no installed package no_such", "pip"],
    ),
    ("models/packed/source/package", "abc", ["models.packed.source.package", "no installed package abc"]),
    (
        "models/packed/source/package",
        "a-b",
        ["models.packed.source.package", "'a-b' is not a name that Python can import"],
    ),
    ("tasks/squad/source/file", "$HEADTYPES_NOWHERE/x", ["tasks.squad.source.file", "HEADTYPES_NOWHERE is not set"]),
    ("tasks/squad/source/file", "${HEADTYPES_NOWHERE}", ["tasks.squad.source.file", "HEADTYPES_NOWHERE is not set"]),
    ("tasks/squad/source/file", "a\0b", ["tasks.squad.source.file", "one line of text"]),
    ("partitions/mine/file", "a\nb", ["partitions.mine.file", "one line of text"]),
    ("tasks/squad/source/file", "/a/{b}/c", ["tasks.squad.source.file", "takes braces in a path for wildcards"]),
    ("models/tuned+1.0/source/folder", "a}b", ["models.tuned+1.0.source.folder", "takes braces"]),
]


@pytest.mark.parametrize(("path", "value", "fragments"), MISTAKES)
def test_a_mistake_is_told_in_one_line_that_names_the_key(full, path, value, fragments):
    if path.endswith("/new"):  # The value is the name of a new entry.
        full[path.removesuffix("/new")][value] = {}
        message = refused(full)
    elif path.rpartition("/")[2] in ("5", "1"):
        registry = full["models"] if path == "models/5" else full["conditions"]["zero-dense"]
        registry[int(path[-1])] = value
        message = refused(full)
    else:
        message = refused(edited(full, path, value))
    for fragment in fragments:
        assert fragment in message


@pytest.mark.parametrize(("field", "value"), [("sentences", "segments"), ("uniform_over_padding", True)])
def test_a_reading_that_means_nothing_on_a_text_is_refused_where_one_is_evaluated(full, field, value):
    full["ablation"][field] = value
    full["models"]["tuned+1.0"] |= {"tasks": ["squad", "paragraphs"], "evaluate": "squad"}
    read_config(full)
    full["models"]["tuned+1.0"]["evaluate"] = "paragraphs"
    message = refused(full)
    assert message.startswith(f"config: ablation.{field}: it means nothing on paragraphs, which models.tuned+1.0.")
    assert "make it one of the readings" in message


@pytest.mark.parametrize("raw", [None, [], "text", {}])
def test_what_is_no_mapping_of_sections_is_refused(raw):
    refused(raw)


def test_a_misspelt_section_is_named_rather_than_the_one_it_replaces(full):
    full["modles"] = full.pop("models")
    assert 'unknown key "modles" at the top. Did you mean "models"?' in refused(full)


def test_all_mistakes_are_told_at_once(full):
    full["seed"] = full["stability"]["models"] = full["clustering"]["restarts"] = "many"
    full["modles"] = {}
    told = refused(full).split("config: ")[1:]
    assert [mistake.partition(":")[0].partition(" in")[0] for mistake in told] == [
        'unknown key "modles" at the top. Did you mean "models"? Allowed',
        "seed",
        "clustering.restarts",
        "stability.models",
    ]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl"])
def test_all_columns_that_a_local_table_lacks_are_told_with_their_keys(full, tmp_path, suffix):
    names = ["sentence1", "sentence2", "gold"]
    separator = {".csv": ",", ".tsv": "\t"}.get(suffix)
    file = tmp_path / f"named{suffix}"
    file.write_text(separator.join(names) if separator else json.dumps(dict.fromkeys(names, "a")))
    full["tasks"]["pairs"]["source"] = {"file": str(file)}
    full["tasks"]["pairs"]["columns"] = {"first": "sentence1", "second": "sentence_2", "label": "label", "id": "x y"}
    # Each begins a line of its own, where Snakemake prints them.
    assert mistakes_in(refused(full)) == [
        f'config: tasks.pairs.columns.second: {file} has no column sentence_2. Did you mean "sentence2"? It has '
        "sentence1, sentence2, gold.",
        f"config: tasks.pairs.columns.label: {file} has no column label. It has sentence1, sentence2, gold.",
        f"config: tasks.pairs.columns.id: {file} has no column x y. It has sentence1, sentence2, gold.",
    ]


@pytest.mark.parametrize("name", ["int", "str", "function-1", "[key]"[1:-1]])
def test_the_name_of_an_entry_is_told_even_where_it_looks_like_a_type(full, name):
    full["tasks"][name] = {"source": {}}
    assert f"tasks.{name}.source: needs exactly one of" in refused(full)


def test_paths_expand_home_and_environment(full, tmp_path, monkeypatch):
    monkeypatch.setenv("HEADTYPES_DATA", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    full["tasks"]["squad"]["source"]["file"] = "$HEADTYPES_DATA/squad.json"
    full["models"]["tuned+1.0"]["source"]["folder"] = "~/model"
    config = planned(full).config
    assert config.tasks["squad"].source.file == str(tmp_path / "squad.json")
    assert config.models["tuned+1.0"].source.folder == str(tmp_path / "model")


@pytest.mark.parametrize(
    ("one", "other"), [("file", "training_file"), ("file", "test_file"), ("test_file", "training_file")]
)
def test_a_treebank_is_not_scored_on_what_it_learns_from(full, tmp_path, one, other):
    """Nor with what is chosen on the same sentences, whatever the path says."""
    source = full["tasks"]["bank"]["source"]
    (tmp_path / "link.conllu").symlink_to(source[one])
    source[other] = str(tmp_path / "link.conllu")
    message = refused(full)
    assert message.startswith(f"config: tasks.bank.source.{other}: this is the file of tasks.bank.source.{one} too")


def test_reading_leaves_the_given_mapping_as_it_was(full):
    before = copy.deepcopy(full)
    planned(full)
    assert full == before


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


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["squad", "all", "$A"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4) | st.integers(), inner, max_size=3),
    max_leaves=4,
)


@settings(max_examples=250, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), kind=st.sampled_from(["replace", "delete", "rename", "retype", "add"]))
def test_any_edit_is_either_accepted_or_refused_in_one_line(full, data, kind):
    raw = copy.deepcopy(full)
    for _ in range(data.draw(st.integers(1, 3))):
        part = raw
        while True:
            keys = list(part) if isinstance(part, dict) else list(range(len(part)))
            if not keys:
                break
            key = data.draw(st.sampled_from(keys))
            if not isinstance(part[key], dict | list) or data.draw(st.integers(0, 3)) == 0:
                break
            part = part[key]
        if not keys:
            continue
        if kind == "replace":
            part[key] = data.draw(VALUES)
        elif kind == "delete":
            del part[key]
        elif kind == "retype":
            part[key] = data.draw(st.sampled_from([str(part[key]), [part[key]], {"a": part[key]}, None, {}, []]))
        elif isinstance(part, dict):
            value = part.pop(key) if kind == "rename" else data.draw(VALUES)
            part[data.draw(st.text(max_size=6) | st.integers() | st.none() | st.booleans())] = value
    message = "accepted"
    try:
        planned(raw)
    except InputError as error:
        message = str(error)
    assert message.splitlines() == [message]


def test_the_documentation_has_every_setting_with_its_default():
    text = (ROOT / "docs/lookup/configuration.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?`) \| (`.*?`) \|", text.partition("## Settings")[2], re.MULTILINE)
    told = {}
    for keys, defaults in rows:
        names, section = [], ""
        for key in re.findall("`(.*?)`", keys):
            section = key.partition(".")[0] or section
            names.append(section + key[key.index(".") :] if "." in key else key)
        told |= dict(zip(names, map(yaml.safe_load, re.findall("`(.*?)`", defaults)), strict=True))
    entries = {"tasks", "models", "partitions", "conditions", "select"}
    settings = {name: field.default for name, field in Config.model_fields.items() if name not in entries}
    expected = {}
    for name, default in settings.items():
        parts = default.model_dump() if isinstance(default, BaseModel) else None
        expected |= {name: default} if parts is None else {f"{name}.{part}": value for part, value in parts.items()}
    assert told == expected


@pytest.mark.parametrize("registry", ["models", "tasks", "partitions", "conditions"])
def test_no_entry_has_the_name_of_the_folder_of_results(full, registry):
    """Under a prefix, the last folder of this name is the one that results are in."""
    for name in ("results", "Results"):
        config = edited(full, f"{registry}/{name}", next(iter(full[registry].values())))
        assert refused(config) == f"config: {registry}.{name}: the folder of results has this name; rename the entry."


@pytest.mark.parametrize("registry", ["models", "tasks", "partitions", "conditions", "readings"])
def test_names_that_differ_in_case_alone_are_refused(full, registry):
    """Where a file system does not tell them apart, results of one would overwrite those of the other."""
    entry = next(iter(full[registry].values()))
    config = edited(edited(full, f"{registry}/Other", entry), f"{registry}/oTher", entry)
    assert refused(config) == (
        f"config: {registry}.oTher differs from Other in upper and lower case alone, which some file systems do not "
        "tell apart; rename one of the two."
    )


def test_a_partition_has_the_name_of_no_clustering_in_any_case(full):
    entry = next(iter(full["partitions"].values()))
    name = f"{entry['task']}-kmeans-k4".upper()
    assert refused(edited(full, f"partitions/{name}", entry)).startswith(f"config: partitions.{name} has the name of")


def test_no_two_tasks_give_a_partition_one_name(full):
    """`qa` by norms and `qa-norms` by weights have partitions of one name, of which one overwrote the other."""
    task = full["tasks"]["made"]
    config = edited(edited(full, "tasks/made-norms", task), "clustering/of", ["weights", "norms"])
    config = edited(config, "models/taught/tasks", ["made", "made-norms"])
    assert refused(config) == (
        "config: tasks.made-norms: its partition made-norms-kmeans-k3 has the name of one of made, by norms or by "
        "weights; rename one of the two tasks."
    )


def test_a_path_that_is_not_utf_8_is_told(full, monkeypatch):
    """Linux allows it, and the records of a result cannot hold it."""
    monkeypatch.setenv("HEADTYPES_DATA", os.fsdecode(b"/data/caf\xe9"))
    config = edited(full, "models/tuned+1.0/source/folder", "$HEADTYPES_DATA/model")
    assert "models.tuned+1.0.source.folder" in refused(config)
    assert "a path is UTF-8 text; rename the file or folder" in refused(config)


def test_models_that_are_compared_head_by_head_count_the_same_heads_and_no_norms_of_several(full):
    config = edited(full, "models/base/units", "key_value_heads")
    assert "models.tuned+1.0.units: it is compared head by head with base" in refused(config)
    config = edited(edited(full, "models/base/attention", "cross"), "models/base/tasks", ["german"])
    config = edited(config, "models/base/evaluate", "german")
    assert "models.tuned+1.0.attention: it is compared head by head with base" in refused(config)
    config = edited(edited(full, "models/packed/units", "key_value_heads"), "clustering/of", ["weights", "norms"])
    assert "take norms out of clustering.of" in refused(config)


def test_a_task_says_itself_what_heads_are_divided_by(full):
    config = edited(full, "tasks/paragraphs/divided_by", ["norms", "weights", "norms"])
    read = read_config(config)
    assert list(clusterings(read, "paragraphs")) == [
        f"paragraphs-{of}kmeans-k{k}" for of in ("norms-", "") for k in (3, 4)
    ]
    assert list(clusterings(read, "made")) == ["made-kmeans-k3", "made-kmeans-k4"]
    assert {(it.model, it.task) for it in Plan(read).with_norms} == {("trained", "paragraphs")}
    # Heads that several queries share have no norms; what is read of another task does not matter.
    assert Plan(read_config(edited(config, "models/packed/units", "key_value_heads")))
    assert "divided_by belongs to a task of kind" in refused(edited(full, "tasks/bank/divided_by", ["weights"]))
