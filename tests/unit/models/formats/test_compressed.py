"""What is said of weights in the formats of compressed-tensors before the package reads them."""

import importlib.metadata
import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import load_file, save_file

from headtypes.core.installed import version_of
from headtypes.models.fetching import fetch_model
from headtypes.models.formats import compressed
from headtypes.models.loading import load_model
from headtypes.models.outline import outline_of
from tests.support.models import tiny_language_model
from tests.support.quantised import COMPRESSED, saved
from tests.support.refusals import refusal

QUERY = "model.layers.1.self_attn.q_proj."


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A model in 4 bits; as if the package were installed, which none of these tests needs."""
    monkeypatch.setattr(compressed.importlib.util, "find_spec", lambda name: SimpleNamespace())
    saved(*tiny_language_model("llama"), tmp_path, *COMPRESSED["4 bits"])
    return tmp_path


def fetched(folder):
    return fetch_model("tiny", {"folder": str(folder)})


def with_config(folder, change):
    contents = json.loads((folder / "config.json").read_text())
    change(contents["quantization_config"])
    (folder / "config.json").write_text(json.dumps(contents))


def with_tensors(folder, change):
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})


def test_a_missing_package_is_named(folder, monkeypatch):
    monkeypatch.setattr(compressed.importlib.util, "find_spec", lambda name: None)
    assert "a package that is not installed; run `pip install compressed-tensors`." in refusal(fetched, folder)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            lambda said: said["config_groups"].update(other={}),
            "are not one group (config_groups) in one of",
        ),
        (lambda said: said.update(config_groups={"W4A16": ["Linear"]}), "are not one group"),
        (
            lambda said: said.update(format="nvfp4-pack-quantized"),
            "of the formats pack-quantized, int-quantized,",
        ),
        (
            lambda said: said.update(transform_config={"config_groups": {}}),
            "stored in another way (transform_config)",
        ),
        (
            lambda said: said.update(sparsity_config={"format": "dense"}),
            "stored in another way (sparsity_config)",
        ),
        (
            lambda said: said["config_groups"]["group_0"]["weights"].update(num_bits=8),
            "numbers of 8 bits, as its",
        ),
    ],
)
def test_a_config_by_which_other_numbers_would_be_read_is_refused(change, says, folder):
    with_config(folder, change)
    assert says in refusal(fetched, folder)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda tensors: tensors.update({f"{QUERY}weight_g_idx": torch.zeros(1)}), f"need {QUERY}weight_g_idx, which"),
        (lambda tensors: tensors.pop(f"{QUERY}weight_scale"), f"{QUERY}weight_packed without weight_scale; take"),
        (lambda tensors: tensors.pop(f"{QUERY}weight_shape"), f"{QUERY}weight_packed without weight_shape; take"),
        (
            lambda tensors: (
                tensors.update({f"{QUERY}weight": torch.zeros(1, dtype=torch.int8)})
                or tensors.pop(f"{QUERY}weight_scale")
            ),
            f"{QUERY}weight without weight_scale; take",
        ),
    ],
)
def test_tensors_that_the_format_does_not_have_are_refused(change, says, folder):
    with_tensors(folder, change)
    assert says in refusal(fetched, folder)


def test_scales_may_lie_in_another_file_than_what_they_belong_to(folder):
    """Weights are divided into files tensor by tensor."""
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    files = {name: f"model-0000{1 + name.endswith('_scale')}-of-00002.safetensors" for name in tensors}
    for file in set(files.values()):
        save_file({name: tensors[name] for name in tensors if files[name] == file}, folder / file, {"format": "pt"})
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": files}))
    model, _ = tiny_language_model("llama")
    record = fetched(folder)
    assert record.parameters == sum(weight.numel() for weight in model.parameters())
    assert record.reader == version_of(compressed.METHOD)
    assert f"{QUERY}weight" in outline_of("models.tiny", folder).tensors


def test_another_version_of_the_package_is_refused(folder, monkeypatch):
    record, real = replace(fetched(folder), reader="7.1"), importlib.metadata.version
    monkeypatch.setattr(
        importlib.metadata, "version", lambda name: "7.2" if name == "compressed-tensors" else real(name)
    )
    says = "found with compressed-tensors 7.1, and installed is 7.2; install the former, or delete the model's record"
    assert says in refusal(load_model, record, "float32")
