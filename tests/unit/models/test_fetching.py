"""Models: found, checked and recorded once; whatever is wrong with the files is reported in one sentence."""

import json
import os
import re
import shutil
import sys
from functools import partial

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import (
    AutoModelForQuestionAnswering,
    DebertaV2Config,
    DebertaV2Model,
    Gemma3Config,
)

from headtypes.attention.hook import run
from headtypes.core.errors import InputError
from headtypes.core.files import sha256_file
from headtypes.models.fetching import fetch_model, load_tokenizer
from headtypes.models.hub import snapshots
from headtypes.models.loading import load_model
from headtypes.models.records import ModelRecord, read_model_record, write_model_record
from tests.support.models import opened, tiny_bert, tiny_roberta
from tests.support.refusals import refusal
from tests.support.tiny import bert_tokenizer

MODEL, TOKENIZER = tiny_bert(layers=2, heads=2)


def save(folder, model=MODEL, tokenizer=TOKENIZER):
    model.save_pretrained(folder)
    if tokenizer is not None:
        tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return save(tmp_path_factory.mktemp("saved"))


@pytest.fixture
def folder(saved, tmp_path):
    """A folder of its own with a good model in it."""
    return shutil.copytree(saved, tmp_path / "model")


def fetch(folder, sha256=None, **source):
    return fetch_model("bert", {"folder": str(folder), **source}, sha256=sha256)


def refused(act, *arguments, **named) -> str:
    message = refusal(act, *arguments, **named)
    assert message.startswith("models.bert")
    return message


def change_config(folder, **values):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **values}))


def split_weights(folder):
    """Put the weights into two files with an index."""
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    parts = {f"model-{number + 1}-of-2.safetensors": sorted(weights)[number::2] for number in range(2)}
    for name, keys in parts.items():
        save_file({key: weights[key] for key in keys}, folder / name, metadata={"format": "pt"})
    index = {"metadata": {}, "weight_map": {key: name for name, keys in parts.items() for key in keys}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def test_what_is_hashed_is_what_is_loaded(folder):
    whole = fetch(folder)
    save_file({"unused": torch.zeros(3)}, folder / "model-of-another-run.safetensors")
    assert fetch(folder) == whole
    split_weights(folder)
    record = fetch(folder)
    assert set(record.weights) == {"model-1-of-2.safetensors", "model-2-of-2.safetensors"}
    assert record.parameters == whole.parameters
    for ours, theirs in zip(load_model(record, "float32").parameters(), MODEL.bert.parameters(), strict=False):
        assert torch.equal(ours.cpu(), theirs)


@pytest.mark.parametrize("named", ["kernels-community/flash-attn", "flash_attention_2", "flex_attention"])
def test_how_attention_is_computed_is_not_for_a_models_files_to_say(folder, named):
    expected = load_model(fetch(folder), "float32").config._attn_implementation
    change_config(folder, attn_implementation=named, _attn_implementation=named)
    assert load_model(fetch(folder), "float32").config._attn_implementation == expected


@pytest.mark.parametrize("load", [partial(load_model, precision="float32"), load_tokenizer])
@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json"])
def test_a_file_that_changed_after_it_was_found_is_not_loaded(folder, load, name):
    """Though its size and its time are what they were."""
    record, file = fetch(folder), folder / name
    load(record)
    times, content = (file.stat().st_atime_ns, file.stat().st_mtime_ns), bytearray(file.read_bytes())
    content[-40] ^= 1
    file.write_bytes(content)
    os.utime(file, ns=times)
    if load is load_tokenizer and name == "model.safetensors":
        load(record)
        return
    assert f"{file} is not what it was when the model was fetched" in refused(load, record)


def test_weights_that_are_put_beside_those_that_were_found_are_not_loaded(folder):
    split_weights(folder)
    record = fetch(folder)
    shutil.copy(folder / "model-1-of-2.safetensors", folder / "model.safetensors")
    assert "is not what it was when the model was fetched" in refused(load_model, record, "float32")


def test_a_local_model_is_recorded_with_its_shape_and_hashes(folder):
    weights = {"model.safetensors": sha256_file(folder / "model.safetensors")}
    assert fetch(folder) == ModelRecord(
        name="bert",
        folder=str(folder),
        weights=weights,
        files={name: sha256_file(folder / name) for name in ("config.json", "tokenizer.json", "tokenizer_config.json")},
        pickle=False,
        model_type="bert",
        architectures=["BertForQuestionAnswering"],
        layers=2,
        heads=2,
        width=MODEL.config.hidden_size,
        parameters=sum(each.numel() for each in MODEL.parameters()),
        max_length=64,
    )
    assert fetch(folder, sha256=weights["model.safetensors"]).weights == weights


def test_a_recorded_model_answers_as_the_saved_one_does(folder, tmp_path):
    write_model_record(tmp_path / "record.json", fetch(folder))
    record = read_model_record(tmp_path / "record.json")
    model, tokenizer = load_model(record, "float32", head="question_answering"), load_tokenizer(record)
    inputs = tokenizer("who sat?", "a cat sat by the river.", return_tensors="pt")
    with torch.inference_mode():
        ours = run(opened(model.cpu()), inputs, lambda number, layer: layer.head_outputs())
        theirs = AutoModelForQuestionAnswering.from_pretrained(folder).eval()(**inputs)
    assert not model.training
    torch.testing.assert_close(ours.start_logits, theirs.start_logits)
    torch.testing.assert_close(ours.end_logits, theirs.end_logits)


@pytest.mark.parametrize(
    ("precision", "has", "dtype"),
    [
        ("float32", False, torch.float32),
        ("bfloat16", True, torch.bfloat16),
        ("bfloat16", False, torch.float32),
        ("float16", False, torch.float16),
    ],
)
def test_a_model_is_computed_in_the_precision_asked_for_where_it_is_fast(
    folder, precision, has, dtype, monkeypatch, capsys
):
    """Whatever its file holds."""
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: False)
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: has)
    assert load_model(fetch(folder), precision).dtype == dtype
    said = "bert: in float32, since this processor has no instructions for bfloat16\n"
    assert capsys.readouterr().err == said * (getattr(torch, precision) != dtype)


def test_positions_that_roberta_numbers_after_its_padding_are_not_counted(tmp_path):
    model, tokenizer = tiny_roberta()
    record = fetch(save(tmp_path, model, tokenizer))
    assert record.max_length == model.config.max_position_embeddings - 2
    ids = torch.full((1, record.max_length), 5)
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    with torch.inference_mode():
        output = run(opened(load_model(record, "float32").cpu()), inputs, lambda number, layer: layer.head_outputs())
    assert output.last_hidden_state.shape[1] == record.max_length


def test_the_limit_is_the_smaller_of_the_models_and_the_tokenizers(tmp_path):
    tokenizer = bert_tokenizer(["the"])
    tokenizer.model_max_length = 20
    assert fetch(save(tmp_path, tokenizer=tokenizer)).max_length == 20


def test_positions_without_a_limit_leave_that_of_the_tokenizer(folder):
    """XLNet's config.json says -1."""
    change_config(folder, max_position_embeddings=-1)
    assert fetch(folder).max_length == min(10**9, TOKENIZER.model_max_length)


def test_a_package_that_carries_a_model_is_found_without_being_imported(saved, tmp_path, monkeypatch):
    package = tmp_path / "carrier_of_bert"
    shutil.copytree(saved, package / "files" / "bert")
    (package / "__init__.py").write_text("raise RuntimeError('imported')\n")
    monkeypatch.syspath_prepend(tmp_path)
    record = fetch_model("bert", {"package": "carrier_of_bert", "subfolder": "files/bert"})
    assert record.package == "carrier_of_bert"
    assert record.folder == str(package / "files" / "bert")
    assert "carrier_of_bert" not in sys.modules
    assert load_model(record, "float32").config.num_hidden_layers == 2
    assert "holds no model.safetensors" in refused(
        fetch_model, "bert", {"package": "carrier_of_bert", "subfolder": "elsewhere"}
    )


class TestFilesThatAreNotAModel:
    @pytest.mark.parametrize(
        ("name", "key", "value"),
        [
            ("config.json", "transformers_weights", "other.safetensors"),
            ("config.json", "configuration_files", ["config.json", "../config.4.0.0.json"]),
            ("tokenizer_config.json", "fast_tokenizer_files", ["../tokenizer.4.0.0.json"]),
        ],
    )
    def test_a_file_that_has_another_one_read(self, folder, name, key, value):
        file = folder / name
        file.write_text(json.dumps({**json.loads(file.read_text()), key: value}))
        assert f"key {key} in its {name}" in refused(fetch, folder)

    def test_an_adapter_which_is_read_once_a_package_is_installed(self, folder):
        (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "someone/else"}')
        assert "holds adapter_config.json" in refused(fetch, folder)

    def test_an_adapter_alone(self, folder):
        (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "someone/else"}')
        (folder / "model.safetensors").rename(folder / "adapter_model.safetensors")
        assert "holds an adapter for someone/else and no model; load both with the package peft" in refused(
            fetch, folder
        )

    def test_heads_that_an_earlier_transformers_pruned(self, folder):
        change_config(folder, pruned_heads={"1": [0]})
        message = refused(fetch, folder)
        assert "has heads that were pruned (pruned_heads in its config.json, in layers 2), which this Transf" in message

    def test_a_model_of_several_parts(self, folder):
        text = {"vocab_size": 300, "num_hidden_layers": 2, "num_attention_heads": 2, "hidden_size": 8, "head_dim": 4}
        Gemma3Config(text_config=text).save_pretrained(folder)
        message = refused(fetch, folder)
        assert "is a gemma3 model, of which the part that reads text is one of several; load it with Tra" in message

    def test_weights_of_another_hash(self, folder):
        message = refused(fetch, folder, sha256="0" * 64)
        assert "models.bert.source.sha256" in message
        assert sha256_file(folder / "model.safetensors") in message

    @pytest.mark.parametrize(
        ("values", "fault"),
        [
            ({"intermediate_size": 34}, "weights that do not fit its config.json, bert.encoder.layer.0."),
            # Transformers would leave out the other layers without a word.
            ({"num_hidden_layers": 1}, "has weights of more layers than its config.json says, bert.encoder.layer.1."),
            ({"num_hidden_layers": 3}, "has no complete model: its weights lack bert.encoder.layer.2.*and others"),
        ],
    )
    def test_weights_of_another_shape_than_that_of_the_config(self, folder, values, fault):
        change_config(folder, **values)
        record = fetch(folder)
        assert re.search(fault, refused(load_model, record, "float32"))

    @pytest.mark.parametrize("kind", [torch.int8, torch.float8_e4m3fn])
    def test_weights_that_are_no_ordinary_numbers(self, folder, kind):
        """Transformers would take what stands for a number as that number."""
        weights = load_file(folder / "model.safetensors")
        # Old checkpoints also hold the positions, and the causal mask.
        others = {
            "embeddings.position_ids": torch.arange(4)[None],
            "h.0.attn.bias": torch.ones(4, 4, dtype=torch.uint8),
        }
        save_file({**weights, **others}, folder / "model.safetensors", metadata={"format": "pt"})
        assert fetch(folder).layers == 2
        query = "bert.encoder.layer.1.attention.self.query.weight"
        save_file({**weights, query: weights[query].to(kind)}, folder / "model.safetensors", metadata={"format": "pt"})
        assert "which are not the numbers that a model computes with" in refused(fetch, folder)

    def test_a_tokenizer_without_character_offsets(self, folder):
        (folder / "tokenizer.json").unlink()
        (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "CanineTokenizer"}')
        assert "has no fast tokenizer" in refused(fetch, folder)

    def test_a_tokenizer_of_another_model(self, tmp_path):
        save(tmp_path, tokenizer=bert_tokenizer([f"word{number}" for number in range(200)]))
        message = refused(fetch, tmp_path)
        assert "does not fit the model: its largest token id is" in message
        assert f"embeddings for {MODEL.config.vocab_size} tokens" in message

    def test_a_model_that_was_not_fine_tuned_for_the_task(self, tmp_path):
        record = fetch(save(tmp_path, MODEL.bert))
        message = refused(load_model, record, "float32", head="question_answering")
        assert "has no question-answering head: its weights lack qa_outputs.bias, qa_outputs.weight" in message
        assert "name a model that was fine-tuned for the task" in message

    def test_an_architecture_that_does_not_use_the_attention_interface(self, tmp_path):
        config = DebertaV2Config(
            vocab_size=len(TOKENIZER),
            hidden_size=12,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=8,
            max_position_embeddings=32,
        )
        record = fetch(save(tmp_path, DebertaV2Model(config)))
        inputs = load_tokenizer(record)("a cat", return_tensors="pt")
        with pytest.raises(InputError, match="0 of 2 layers use Transformers' attention interface") as caught:
            run(opened(load_model(record, "float32").cpu()), inputs, lambda number, layer: layer.head_outputs())
        assert "is not supported" in str(caught.value)
        assert len(str(caught.value).splitlines()) == 1


def test_a_model_of_the_hub_is_recorded_with_the_commit_that_was_had(saved, tmp_path, monkeypatch):
    commit = "c0ffee" * 6 + "1234"
    snapshot = shutil.copytree(saved, tmp_path / "snapshots" / commit)
    asked = []

    def download(repository, revision, allow_patterns):
        asked.append((repository, revision))
        assert "model*.safetensors" in allow_patterns
        assert not any("bin" in pattern or "md" in pattern for pattern in allow_patterns)
        return str(snapshot)

    monkeypatch.setattr(snapshots, "snapshot_download", download)
    record = fetch_model("bert", {"hub": "some/model", "revision": "main"})
    assert (record.hub, record.revision, record.folder) == ("some/model", commit, str(snapshot))
    fetch_model("bert", {"hub": "some/model"})
    fetch_model("bert", {"hub": "some/model", "pickle": True})
    assert asked == [("some/model", "main"), ("some/model", None), ("some/model", None)]


def test_a_pickle_of_the_hub_is_had_where_it_is_allowed_and_all_there_is(saved, tmp_path, monkeypatch):
    commit = "c0ffee" * 6 + "1234"
    snapshot = tmp_path / "snapshots" / commit
    asked = []

    def download(repository, revision, allow_patterns):
        asked.append(revision)
        safe = "config.json" in allow_patterns
        shutil.copytree(saved, snapshot, dirs_exist_ok=True, ignore=lambda *_: {"model.safetensors"})
        if not safe:
            torch.save(load_file(saved / "model.safetensors"), snapshot / "pytorch_model.bin")
        return str(snapshot)

    monkeypatch.setattr(snapshots, "snapshot_download", download)
    assert fetch_model("bert", {"hub": "some/model", "pickle": True}).pickle
    assert asked == [None, commit]
