"""What Transformers opens to load a model and its tokenizer is what was hashed, or is refused, whatever lies beside it.

The list for readers is in docs/lookup/reliability.md.
"""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from transformers import PreTrainedTokenizerFast
from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES, tokenizer_class_from_name

from headtypes.core.errors import InputError
from headtypes.models.fetching import fetch_model, load_tokenizer
from headtypes.models.files import MODEL_FILES
from headtypes.models.loading import load_model
from tests.support.gguf_model import write_tiny_llama
from tests.support.models import tiny_bert

# Read, and of no consequence: no text is generated here, and no conversation is formatted.
OF_NO_CONSEQUENCE = {"generation_config.json", "chat_template.jinja", "additional_chat_templates/short.jinja"}
SHARD = "shard-00000-model-00001-of-00001.safetensors"
OPENED: list[set[str]] = []


def _hook(event, arguments):
    if OPENED and event == "open" and isinstance(arguments[0], str | bytes):
        OPENED[-1].add(os.path.realpath(os.fsdecode(arguments[0])))


# It cannot be taken away again, and does nothing outside these tests.
sys.addaudithook(_hook)


@pytest.fixture
def opened():
    """The files that this process opens from now on."""
    OPENED.append(set())
    yield OPENED[-1]
    OPENED.clear()


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    model, tokenizer = tiny_bert(layers=1, heads=2)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture
def folder(saved, tmp_path):
    return shutil.copytree(saved, tmp_path / "model")


def fetch(folder):
    return fetch_model("bert", {"folder": str(folder)})


@pytest.mark.parametrize("head", [None, "masked_lm"])
def test_what_is_opened_in_a_models_folder_is_hashed(folder, opened, head):
    for name in (
        *(
            "generation_config.json",
            "chat_template.jinja",
            "additional_chat_templates/short.jinja",
            "chat_template.json",
        ),
        *("custom_generate/generate.py", "modeling_bert.py", "tokenization_bert.py", "preprocessor_config.json"),
        *("processor_config.json", "tekken.json", "vocab.txt", "vocab.json", "merges.txt", "added_tokens.json"),
        *("special_tokens_map.json", "config.4.0.0.json", "tokenizer.4.0.0.json", "spiece.model", "tiktoken.model"),
        *("model.fp16.safetensors", "pytorch_model.bin", "adapter_model.safetensors", "sub/config.json"),
        *("normalizer.json", "entity_vocab.json", "merges_file", "vocab_file", ".metadata"),
    ):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("{}")
    opened.clear()
    record = fetch(folder)
    load_tokenizer(record)
    if head is None:
        load_model(record, "float32", head)
    else:
        with pytest.raises(InputError, match="has no head"):
            load_model(record, "float32", head)
    inside = {os.path.relpath(path, os.path.realpath(folder)) for path in opened}
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


def test_what_lies_beside_a_model_in_gguf_is_not_read(tmp_path, opened):
    """Transformers would take the tokenizer's class, its longest input and added tokens from there."""
    pytest.importorskip("gguf")
    folder = tmp_path / "alone"
    folder.mkdir()
    write_tiny_llama(folder / "tiny.gguf")
    alone = fetch_model("tiny", {"gguf": str(folder / "tiny.gguf")})
    change_to = {"tokenizer_class": "BertTokenizer", "model_max_length": 7, "bos_token": "[other]"}
    for name, contents in {
        "tokenizer_config.json": change_to,
        "config.json": {"model_type": "bert"},
        "tokenizer.json": {},
        "adapter_config.json": {"base_model_name_or_path": "someone/else"},
        SHARD: {},
    }.items():
        (folder / name).write_text(json.dumps(contents))
    opened.clear()
    record = fetch_model("tiny", {"gguf": str(folder / "tiny.gguf")})
    assert record == alone
    assert load_tokenizer(record).bos_token != "[other]"
    load_model(record, "float32")
    beside = {Path(path).name for path in opened if Path(path).parent == Path(os.path.realpath(folder))}
    assert beside <= {"tiny.gguf"}
