"""What Transformers opens to load a model and its tokenizer is what was hashed, or is refused, whatever lies beside it.

The list for readers is in docs/lookup/reliability.md.
"""

import os
import sys
from pathlib import Path

from transformers import PreTrainedTokenizerFast
from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES, tokenizer_class_from_name

from headtypes.models.fetching import fetch_model, load_tokenizer
from headtypes.models.loading import load_model
from headtypes.models.records import MODEL_FILES
from tests.support.models import saved, tiny_bert

# Read, and of no consequence: no text is generated here, and no conversation is formatted.
OF_NO_CONSEQUENCE = {"generation_config.json", "chat_template.jinja", "additional_chat_templates/short.jinja"}


def test_what_is_opened_in_a_models_folder_is_hashed(tmp_path):
    folder = saved(*tiny_bert(layers=1, heads=2), tmp_path / "model")
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
    opened: set[str] = set()

    def hook(event, arguments):
        if event == "open" and isinstance(arguments[0], str | bytes):
            opened.add(os.path.realpath(os.fsdecode(arguments[0])))

    # It cannot be taken away again.
    sys.addaudithook(hook)
    record = fetch_model("bert", {"folder": str(folder)})
    load_tokenizer(record)
    load_model(record, "float32")
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
