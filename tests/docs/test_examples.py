"""Examples of the documentation are what the software takes, and its list of files is complete."""

import re

import yaml

from headtypes.planning import paths
from headtypes.planning.config.schema import read_config
from tests.support.overlays import over_the_demo
from tests.support.places import ROOT


def blocks(page: str) -> list[dict]:
    """The blocks of YAML on a page."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [yaml.safe_load(block) for block in re.findall(r"^```yaml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)]


def test_the_examples_of_all_keys_are_a_configuration():
    *examples, _ = blocks("docs/lookup/configuration.md")
    parts = {key: part for example in examples for key, part in example.items()}
    assert list(parts) == ["tasks", "models", "conditions", "partitions", "select"]
    read_config(parts)


def test_the_example_of_null_takes_away_what_it_says():
    *_, example = blocks("docs/lookup/configuration.md")
    found = over_the_demo(example)
    assert found.values["models"].keys() == {"minilm", "minilm-qa", "minilm-paraphrase"}
    assert not {"readings", "controls"} & found.values.keys()


def test_the_examples_of_an_own_config_are_configurations():
    on_a_text, choices, example, two_models, further = blocks("docs/run/own-model.md")
    assert read_config(choices).models["mine"].evaluate == "exam"
    read_config(example | further)
    read_config(two_models)
    laid_over = yaml.safe_load((ROOT / "experiments/text_local.yaml").read_text(encoding="utf-8"))
    laid_over["tasks"]["text_local"] |= on_a_text["tasks"]["text_local"]
    laid_over["models"]["local"] |= on_a_text["models"]["local"]
    assert read_config(on_a_text | laid_over).models["local"].evaluate == "text_local"


def test_every_result_that_several_rules_use_is_in_the_list_of_files():
    text = (ROOT / "docs/lookup/outputs.md").read_text(encoding="utf-8")
    shared = [path for name, path in vars(paths).items() if name.isupper() and not name.endswith("_SHARD")]
    assert "results/features/{model}/{task}.h5" in shared
    assert [path for path in shared if path not in text] == []
