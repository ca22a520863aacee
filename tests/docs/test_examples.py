"""Examples of the documentation are what the software takes, and its list of files is complete."""

import json
import re

import yaml
from jsonschema import Draft202012Validator

from headtypes.planning.config import laid_over, read_config
from headtypes.planning.plan import RESULTS
from tests.docs.keys import with_keys
from tests.docs.lists import with_lists
from tests.docs.pages import blocks
from tests.support.places import ROOT


def examples(page: str) -> list[dict]:
    return [yaml.safe_load(block) for block in blocks((ROOT / page).read_text(encoding="utf-8"), "yaml")]


def test_editors_check_every_experiment_by_the_schema():
    schema = json.loads((ROOT / "schemas/config.schema.json").read_text(encoding="utf-8"))
    validator = Draft202012Validator(schema)
    for file in [ROOT / "config.yaml", *(ROOT / "experiments").glob("*.yaml")]:
        text = file.read_text(encoding="utf-8")
        named = re.match(r"# yaml-language-server: \$schema=(\S+)\n", text)
        assert (file.parent / named[1]).resolve() == ROOT / "schemas/config.schema.json"
        assert [error.message for error in validator.iter_errors(yaml.safe_load(text))] == []
    for file in (ROOT / "docs/understand/results").rglob("*.yaml"):
        assert [error.message for error in validator.iter_errors(yaml.safe_load(file.read_text("utf-8")))] == []
    for wrong in ({"models": {"one": {"sauce": {}}}}, {"tasks": {"qa": {"samples": "many"}}}, {"conditionz": {}}):
        assert not validator.is_valid(wrong)


def test_the_examples_of_all_keys_are_a_configuration():
    tasks, models, many, *others, _ = examples("docs/lookup/configuration.md")
    parts = {key: part for example in (tasks, models, *others) for key, part in example.items()}
    assert list(parts) == ["tasks", "models", "conditions", "partitions", "analyses", "select"]
    read_config(parts)
    assert len(read_config({**tasks, **many}).models) == 25 + 25 + 145


def test_the_example_of_null_takes_away_what_it_says(tmp_path):
    *_, example = examples("docs/lookup/configuration.md")
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(example), encoding="utf-8")
    demo, laid = (laid_over([ROOT / "config.yaml", *more]).values for more in ([], [tmp_path / "mine.yaml"]))
    assert laid["models"].keys() == demo["models"].keys() - {"minilm-qa"}
    assert not {"readings", "controls"} & laid.keys()


def test_the_examples_of_an_own_config_are_configurations():
    on_a_text, choices, example, two_models, further = examples("docs/run/own-model.md")
    assert read_config(choices).models["mine"].evaluate == "exam"
    read_config(example | further)
    read_config(two_models)
    laid_over = yaml.safe_load((ROOT / "experiments/text_local.yaml").read_text(encoding="utf-8"))
    laid_over["tasks"]["text_local"] |= on_a_text["tasks"]["text_local"]
    laid_over["models"]["local"] |= on_a_text["models"]["local"]
    assert read_config(on_a_text | laid_over).models["local"].evaluate == "text_local"


def test_the_lists_of_results_and_rules_are_those_that_are_declared():
    """Else run `make docs`."""
    text = (ROOT / "docs/lookup/outputs.md").read_text(encoding="utf-8")
    assert with_lists(text) == text
    listed = [result.path for result in RESULTS if result.section]
    assert [path for path in listed if f"| `{path}` |" not in text] == []
    assert "| `results/features/{model}/{task}.h5` | `extract_features`, `extract_text_features` |" in text


def test_the_tables_of_keys_are_those_of_the_schema():
    """Else run `make docs`."""
    text = (ROOT / "docs/lookup/configuration.md").read_text(encoding="utf-8")
    assert with_keys(text) == text
    assert "| `clustering.methods` | `[kmeans]`, or `gmm`, `agglomerative`, `spectral` | Ways" in text
