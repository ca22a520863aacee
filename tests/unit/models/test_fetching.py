"""Models: found, checked and recorded once; whatever is wrong with the files is reported in one sentence."""

import json
import os
import re
import shutil
import sys
from functools import partial
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import DebertaV2Config, DebertaV2Model, Gemma3Config, PreTrainedTokenizerFast
from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES, tokenizer_class_from_name

from headtypes.attention.hook import run
from headtypes.core.errors import InputError
from headtypes.core.files import sha256_file
from headtypes.data.encoding import encode_samples
from headtypes.models import fetching
from headtypes.models.fetching import fetch_model, load_tokenizer
from headtypes.models.loading import load_model
from headtypes.models.records import MODEL_FILES, ModelRecord
from tests.support.models import opened, saved, tiny_bert
from tests.support.reading import distance_features
from tests.support.records import SAMPLES
from tests.support.refusals import refusal
from tests.support.tiny import bert_tokenizer

MODEL, TOKENIZER = tiny_bert(layers=2, heads=2)


@pytest.fixture
def folder(tmp_path):
    return saved(MODEL, TOKENIZER, tmp_path / "model")


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
    # Weights that are put beside those that were found are not loaded.
    shutil.copy(folder / "model-1-of-2.safetensors", folder / "model.safetensors")
    assert "is not what it was when the model was fetched" in refused(load_model, record, "float32")


@pytest.mark.parametrize(("of", "named"), [("attn", "kernels-community/flash-attn"), ("experts", "deepgemm")])
def test_how_attention_or_experts_are_computed_is_not_for_a_models_files_to_say(folder, of, named):
    expected = getattr(load_model(fetch(folder), "float32").config, f"_{of}_implementation")
    change_config(folder, **{f"{of}_implementation": named, f"_{of}_implementation": named})
    assert getattr(load_model(fetch(folder), "float32").config, f"_{of}_implementation") == expected


@pytest.mark.parametrize("load", [partial(load_model, precision="float32"), load_tokenizer])
@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json"])
def test_a_file_that_changed_after_it_was_found_is_not_loaded(folder, load, name):
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
    message = refused(fetch, folder, sha256="0" * 64)
    assert "models.bert.source.sha256" in message
    assert weights["model.safetensors"] in message


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
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: False)
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: has)
    assert load_model(fetch(folder), precision).dtype == dtype
    said = "bert: in float32, since this processor has no instructions for bfloat16\n"
    assert capsys.readouterr().err == said * (getattr(torch, precision) != dtype)


def test_the_limit_is_the_smaller_of_the_models_and_the_tokenizers(tmp_path):
    tokenizer = bert_tokenizer(["the"])
    tokenizer.model_max_length = 20
    assert fetch(saved(MODEL, tokenizer, tmp_path)).max_length == 20


def test_a_package_that_carries_a_model_is_found_without_being_imported(tmp_path, monkeypatch):
    package = tmp_path / "carrier_of_bert"
    saved(MODEL, TOKENIZER, package / "files" / "bert")
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


def adapter(folder):
    (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "someone/else"}')


def adapter_alone(folder):
    adapter(folder)
    (folder / "model.safetensors").rename(folder / "adapter_model.safetensors")


def of_several_parts(folder):
    text = {"vocab_size": 300, "num_hidden_layers": 2, "num_attention_heads": 2, "hidden_size": 8, "head_dim": 4}
    Gemma3Config(text_config=text).save_pretrained(folder)


def without_character_offsets(folder):
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "CanineTokenizer"}')


def with_a_larger_tokenizer(folder):
    bert_tokenizer([f"word{number}" for number in range(200)]).save_pretrained(folder)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (adapter, "holds an adapter for someone/else (adapter_config.json), with which"),
        (adapter_alone, "holds an adapter for someone/else (adapter_config.json) and no model"),
        (of_several_parts, "is a gemma3 model, of which the part that reads text is one of several"),
        (without_character_offsets, "has no fast tokenizer"),
        (with_a_larger_tokenizer, "does not fit the model: its largest token id is"),
    ],
)
def test_files_that_are_not_a_model_are_refused(folder, change, fault):
    change(folder)
    assert fault in refused(fetch, folder)


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ({"intermediate_size": 34}, "weights that do not fit its config.json, bert.encoder.layer.0."),
        # Transformers would leave out the other layers without a word.
        ({"num_hidden_layers": 1}, "does not take, bert.encoder.layer.1.attention"),
        ({"num_hidden_layers": 3}, "has no complete model: its weights lack bert.encoder.layer.2.*and others"),
    ],
)
def test_weights_of_another_shape_than_that_of_the_config_are_refused(folder, values, fault):
    change_config(folder, **values)
    record = fetch(folder)
    assert re.search(fault, refused(load_model, record, "float32"))


QUERY = "bert.encoder.layer.1.attention.self.query"


def put(folder, **tensors):
    weights = {**load_file(folder / "model.safetensors"), **tensors}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


@pytest.mark.parametrize("method", [None, "modelopt", "finegrained_fp8", "mine"])
@pytest.mark.parametrize("kind", [torch.int8, torch.float8_e4m3fn])
@pytest.mark.parametrize(("pickle", "part"), [(False, "weight"), (False, "bias"), (True, "weight")])
def test_weights_that_are_no_ordinary_numbers_are_refused_unless_transformers_makes_numbers_of_them(
    folder, kind, method, pickle, part
):
    """Transformers would take what stands for a number as that number."""
    if method:
        change_config(folder, quantization_config={"quant_method": method})
    # Old checkpoints also hold the positions, and the causal mask.
    put(folder, **{"positions": torch.arange(4), "h.0.attn.bias": torch.ones(4, 4, dtype=torch.uint8)})
    assert fetch(folder).layers == 2
    put(folder, **{f"{QUERY}.{part}": getattr(MODEL.get_submodule(QUERY), part).data.to(kind)})
    if pickle:
        torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
        (folder / "model.safetensors").unlink()
    assert "which are not the numbers that a model computes with" in refused(fetch, folder, pickle=pickle)


PARTS = ["weight_scale", "input_scale", "lora_A.weight", "relative.bias"]
OTHERS = [
    "encoder.layer.0.adapter.weight",
    "base.encoder.layer.0.lora_B.weight",
    "bert.prompt.weight",
    "qa_outputs.scale",
]


@pytest.mark.parametrize("name", [*(f"{QUERY}.{part}" for part in PARTS), *OTHERS])
def test_a_tensor_that_the_model_does_not_take_is_refused_by_name(folder, name):
    put(folder, **{name: torch.ones(3)})
    told = refused(load_model, fetch(folder), "float32", head="question_answering")
    assert f"does not take, {name} among them; take both from the same model" in told


def test_heads_on_top_and_buffers_that_were_once_saved_may_be_left_over(folder):
    names = ("cls.predictions.bias", "cls.seq_relationship.weight", "classifier.weight", "lm_head.weight_scale")
    buffers = ("embeddings.position_ids", "encoder.layer.0.attention.self.masked_bias", "rotary.inv_freq")
    put(folder, **{name: torch.ones(3) for name in (*names, *(f"bert.{name}" for name in buffers))})
    for head in (None, "question_answering"):
        load_model(fetch(folder), "float32", head=head)


@pytest.mark.parametrize("extra", [[], ["[CLS]", "[SEP]"]])
def test_a_tokenizer_that_adds_special_tokens_and_does_not_name_them_is_refused_with_the_line_that_does(folder, extra):
    """They would count as ordinary ones, and two texts as one."""
    said = {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "[UNK]", "extra_special_tokens": extra}
    (folder / "tokenizer_config.json").write_text(json.dumps(said))
    lines = '"cls_token": "[CLS]", "sep_token": "[SEP]"'
    assert f"without naming them; write {lines} into tokenizer_config.json" in refused(fetch, folder)
    (folder / "tokenizer_config.json").write_text(json.dumps({**said, **json.loads(f"{{{lines}}}")}))
    assert fetch(folder).layers == 2


INDEX, NO_MAP = "model.safetensors.index.json", "does not say which file holds each tensor (weight_map)"


@pytest.mark.parametrize(
    ("file", "content", "fault"),
    [
        ("model-2-of-2.safetensors", None, "model-2-of-2.safetensors is not there, and holds weights of the model"),
        (INDEX, [], NO_MAP),
        *((INDEX, {"weight_map": named}, NO_MAP) for named in (None, [], {"a": 1}, {"a": "../b"})),
        ("adapter_config.json", [], "holds an adapter for another model"),
        *(
            ("tokenizer_config.json", {"model_max_length": size}, f"{size!r} in its token")
            for size in ("512", -1, True)
        ),
        *(("config.json", {f"num_{of}": -5}, f"num_{of}: -5 in") for of in ("attention_heads", "hidden_layers")),
    ],
)
def test_a_file_beside_the_weights_that_says_nothing_is_told_in_one_sentence(folder, file, content, fault):
    split_weights(folder)
    if isinstance(content, dict):
        content = {**json.loads((folder / file).read_text()), **content}
    (folder / file).write_text(json.dumps(content))
    if content is None:
        (folder / file).unlink()
    assert fault in refusal(fetch, folder)


def test_a_model_that_tells_no_two_texts_apart_is_not_given_two(folder):
    change_config(folder, type_vocab_size=1)
    table = "bert.embeddings.token_type_embeddings.weight"
    put(folder, **{table: MODEL.state_dict()[table][:1].contiguous()})
    record = fetch(folder)
    encoded = encode_samples(SAMPLES, load_tokenizer(record), "question_answering", 64)
    model = load_model(record, "float32").cpu()
    with pytest.raises(InputError, match=r"leave token_type_ids out of model_input_names in tokenizer_config\.json"):
        distance_features(model, encoded)


def test_an_architecture_is_refused_where_only_a_forward_pass_shows_that_it_cannot_be_read(tmp_path):
    sizes = {"hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 8}
    model = DebertaV2Model(DebertaV2Config(vocab_size=len(TOKENIZER), max_position_embeddings=32, **sizes))
    record = fetch(saved(model, TOKENIZER, tmp_path))
    inputs = load_tokenizer(record)("a cat", return_tensors="pt")
    with pytest.raises(InputError, match="0 of 2 layers use Transformers' attention interface"):
        run(opened(load_model(record, "float32").cpu()), inputs, lambda number, layer: layer.head_outputs())


def test_a_pickle_of_the_hub_is_had_where_it_is_allowed_and_all_there_is(folder, tmp_path, monkeypatch):
    commit = "c0ffee" * 6 + "1234"
    snapshot = tmp_path / "snapshots" / commit
    asked = []

    def download(repository, revision, allow_patterns):
        asked.append(revision)
        safe = "config.json" in allow_patterns
        shutil.copytree(folder, snapshot, dirs_exist_ok=True, ignore=lambda *_: {"model.safetensors"})
        if not safe:
            torch.save(load_file(folder / "model.safetensors"), snapshot / "pytorch_model.bin")
        return str(snapshot)

    monkeypatch.setattr(fetching, "snapshot_download", download)
    assert fetch_model("bert", {"hub": "some/model", "pickle": True}).pickle
    assert asked == [None, commit]


# Read, and of no consequence: no text is generated here, and no conversation is formatted.
OF_NO_CONSEQUENCE = {"generation_config.json", "chat_template.jinja", "additional_chat_templates/short.jinja"}


def test_what_is_opened_in_a_models_folder_is_hashed(folder):
    for name in (
        *(*OF_NO_CONSEQUENCE, "chat_template.json"),
        *("custom_generate/generate.py", "modeling_bert.py", "tokenization_bert.py", "preprocessor_config.json"),
        *("processor_config.json", "tekken.json", "vocab.txt", "vocab.json", "merges.txt", "added_tokens.json"),
        *("special_tokens_map.json", "config.4.0.0.json", "tokenizer.4.0.0.json", "spiece.model", "tiktoken.model"),
        *("model.fp16.safetensors", "pytorch_model.bin", "adapter_model.safetensors", "sub/config.json"),
        *("normalizer.json", "entity_vocab.json", "merges_file", "vocab_file", ".metadata"),
    ):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("{}")
    seen: set[str] = set()

    def hook(event, arguments):
        if event == "open" and isinstance(arguments[0], str | bytes):
            seen.add(os.path.realpath(os.fsdecode(arguments[0])))

    sys.addaudithook(hook)
    record = fetch_model("bert", {"folder": str(folder)})
    load_tokenizer(record)
    load_model(record, "float32")
    inside = {os.path.relpath(path, os.path.realpath(folder)) for path in seen}
    inside = {path for path in inside if not path.startswith("..")}
    assert "tokenizer_config.json" in inside, "the hook sees nothing"
    assert inside - {*record.weights, *record.files} <= OF_NO_CONSEQUENCE


def test_the_files_of_every_fast_tokenizer_are_hashed():
    lacking = {}
    for name in set(filter(None, TOKENIZER_MAPPING_NAMES.values())):
        found = tokenizer_class_from_name(name)
        # A class whose package is not installed stands for one that raises.
        if isinstance(found, type) and issubclass(found, PreTrainedTokenizerFast):
            for file in found.vocab_files_names.values():
                if not any(Path(file).match(pattern) for pattern in MODEL_FILES):
                    lacking[name] = file
    assert lacking == {}
