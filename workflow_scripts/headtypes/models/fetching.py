"""Models and tokenizers: found once and recorded, then loaded from the record without the network."""

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from huggingface_hub import snapshot_download
from safetensors import safe_open
from transformers import AutoConfig, AutoTokenizer, PreTrainedTokenizerFast
from transformers.quantizers import AutoHfQuantizer

from headtypes.core.errors import InputError, told
from headtypes.core.files import StrPath, read_json, sha256_file
from headtypes.models.model_config import headed_layers, is_causal, longest_input
from headtypes.models.records import (
    MODEL_FILES,
    PICKLES,
    ModelRecord,
    added_tokens,
    check_contents,
    model_files,
    place_of,
    pretrained,
    unavailable,
    version_of,
    weight_files,
)

_ADAPTER = "adapter_config.json"  # with the package peft, it has Transformers change the model, or load another
_NUMBERS = ("F64", "F32", "F16", "BF16", "float64", "float32", "float16", "bfloat16")


def fetch_model(model: str, source: dict, sha256: str | None = None) -> ModelRecord:
    """Return the record of a model, after downloading the model's files if they come from the Hub.

    source: the model's `source` in the configuration, such as {"hub": "google-bert/bert-base-uncased"}.
    sha256: SHA-256 that the only file of weights must have; None for no check.
    Raises `InputError` if the files are missing, are not a Transformer, or have no fast tokenizer that fits the model.
    """
    key = f"models.{model}"
    pickle = source.get("pickle", False)
    folder, gguf = place_of(source)
    origin = {"package": source["package"]} if "package" in source else {}
    if "hub" in source:
        hub, revision = source["hub"], source.get("revision")
        with told(unavailable(f"{key}.source.hub", hub, revision)):
            folder = Path(snapshot_download(hub, revision=revision, allow_patterns=list(MODEL_FILES)))
            if pickle and not any(folder.glob("*.safetensors")):
                # From the same commit, into the same folder.
                snapshot_download(hub, revision=folder.name, allow_patterns=list(PICKLES))
            check_contents(f"{key}.source.hub: {hub}", folder)
        origin = {"hub": hub, "revision": folder.name}
    if folder is None:
        raise InputError(f"{key}: there is no installed package {source['package']}; install it with pip.")
    where = f"{key}: {Path(folder, gguf or '')}"
    files = weight_files(folder, pickle, gguf)
    if gguf is None and Path(folder, _ADAPTER).exists():
        described = read_json(Path(folder, _ADAPTER))
        base = (isinstance(described, dict) and described.get("base_model_name_or_path")) or "another model"
        raise InputError(
            f"{where} holds an adapter for {base} ({_ADAPTER}){'' if files else ' and no model'}, with which "
            "Transformers loads another model once the package peft is installed; merge both by peft "
            "(merge_and_unload), save that with its tokenizer and name that folder."
        )
    if not files:
        remedy = (
            "and no pytorch_model.bin"
            if pickle
            else "and a pickle (pytorch_model.bin) can run code when it is opened; if you trust this model's pickle, "
            f"set {key}.source.pickle: true"
        )
        raise InputError(f"{where} holds no model.safetensors, {remedy}.")
    if gone := [file for file in files if not file.is_file()]:
        raise InputError(f"{key}: {gone[0]} is not there, and holds weights of the model; put it there.")
    shape = _read_shape(where, folder, gguf)
    weights = {file.name: sha256_file(file) for file in files}
    if sha256 is not None and list(weights.values()) != [sha256]:
        raise InputError(f"{key}.source.sha256: that of {where} is {' and '.join(weights.values())}, not {sha256}.")
    quantised = None if gguf else read_json(Path(folder, "config.json")).get("quantization_config")
    with told(f"{where} has a quantization_config that Transformers does not read"):
        # One that it does not know, it passes over.
        is_quantised = quantised is not None and AutoHfQuantizer.supports_quant_method(quantised)
    # A file in GGUF holds all there is to load.
    beside = model_files(folder, pickle) if gguf is None else []
    return ModelRecord(
        name=model,
        **origin,
        folder=str(folder),
        weights=weights,
        files={file.name: sha256_file(file) for file in beside if file.suffix not in (".safetensors", ".bin")},
        pickle=files[0].suffix == ".bin",
        reader=gguf and version_of("gguf"),
        parameters=sum(_count_parameters(key, file, is_quantised) for file in files),
        **shape,
    )


def load_tokenizer(record: ModelRecord) -> PreTrainedTokenizerFast:
    """Return the fast tokenizer of a model; raise `InputError` if its files have changed since they were fetched."""
    check_files(record, record.files)
    return _tokenizer_of(f"models.{record.name}: {record.folder}", record.folder, record.gguf)


def check_files(record: ModelRecord, expected: Mapping[str, str]) -> None:
    """Raise `InputError` if files of a model changed since it was fetched; expected: {name: SHA-256} to compare."""
    present = {file.name for file in weight_files(record.folder, record.pickle, record.gguf)}
    changed = sorted(present ^ set(record.weights))
    changed += [
        name
        for name, digest in expected.items()
        if not Path(record.folder, name).is_file() or sha256_file(Path(record.folder, name)) != digest
    ]
    if changed:
        # The record lies at results/sources/models, wherever the results are.
        raise InputError(
            f"models.{record.name}: {Path(record.folder, changed[0])} is not what it was when the model was fetched; "
            "put the right file back, or delete the model's record in results/sources/models "
            f"({record.name}.json; of a model that was fine-tuned here, delete {record.folder}), and run again."
        )


def _tokenizer_of(where: str, folder: StrPath, gguf: str | None) -> PreTrainedTokenizerFast:
    with told(f"{where} has no tokenizer that loads"):
        # With the package mistral-common, tekken.json would be read by that one.
        tokenizer = AutoTokenizer.from_pretrained(**pretrained(folder, gguf), mistral_format=False)
    if not tokenizer.is_fast:
        raise InputError(f"{where} has no fast tokenizer, which is needed for character offsets; add tokenizer.json.")
    # Where files are missing, Transformers makes a tokenizer that knows only its special tokens.
    if len(tokenizer) <= len(tokenizer.all_special_ids):
        raise InputError(f"{where} has a tokenizer that knows only special tokens; add tokenizer.json.")
    if not _is_size(tokenizer.model_max_length):
        raise InputError(
            f"{where} has model_max_length: {tokenizer.model_max_length!r} in its tokenizer_config.json; write a whole "
            "number above 0."
        )
    added_tokens(tokenizer, where)
    return tokenizer


def _is_size(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 1


def _count_parameters(key: str, file: Path, is_quantised: bool) -> int:
    with told(f"{key}: {file} is damaged"):
        if file.suffix == ".gguf":
            from gguf import GGUFReader

            return sum(int(tensor.n_elements) for tensor in GGUFReader(file).tensors)
        if file.suffix == ".bin":
            # Imports PyTorch, which other models do not need at this point.
            from transformers.modeling_utils import load_state_dict

            tensors = load_state_dict(file, weights_only=True)
            stored = {
                name: (str(tensor.dtype).removeprefix("torch."), tensor.shape) for name, tensor in tensors.items()
            }
        else:
            with safe_open(file, "np") as weights:
                tensors = {name: weights.get_slice(name) for name in weights.offset_keys()}
                stored = {name: (tensor.get_dtype(), tensor.get_shape()) for name, tensor in tensors.items()}
        # Old checkpoints of GPT-2 and its kin call the causal mask a bias of the attention.
        computed = re.compile(r"\.weight$|(?<!attn)(?<!attention)\.bias$")
        packed = [name for name, (kind, _) in stored.items() if computed.search(name) and kind not in _NUMBERS]
        if packed and not is_quantised:
            raise InputError(
                f"{key}: {file} holds {packed[0]} as {stored[packed[0]][0]}, which are not the numbers that a model "
                "computes with, and its config.json has no quantization_config that Transformers knows; take weights "
                "in floating point."
            )
        return sum(math.prod(shape) for _, shape in stored.values())


def _read_shape(where: str, folder: StrPath, gguf: str | None) -> dict:
    with told(f"{where} has no config.json that loads" if gguf is None else f"{where} does not load"):
        config = AutoConfig.from_pretrained(**pretrained(folder, gguf))
    if "text_config" in config.sub_configs:
        raise InputError(
            f"{where} is a {config.model_type} model, of which the part that reads text is one of several; load it "
            "with Transformers, save its language_model with its tokenizer by save_pretrained, and name that folder."
        )
    needed = ("vocab_size", "num_hidden_layers", "num_attention_heads")
    if lacking := [name for name in needed if not hasattr(config, name)]:
        raise InputError(f"{where} is not a Transformer that reads text: its config.json lacks {', '.join(lacking)}.")
    if wrong := [name for name in needed if not _is_size(getattr(config, name))]:
        value = getattr(config, wrong[0])
        raise InputError(f"{where} has {wrong[0]}: {value} in its config.json; write a whole number above 0.")
    tokenizer = _tokenizer_of(where, folder, gguf)
    largest = max(tokenizer.get_vocab().values())
    if largest >= config.vocab_size:
        raise InputError(
            f"{where} has a tokenizer that does not fit the model: its largest token id is {largest}, and the model "
            f"has embeddings for {config.vocab_size} tokens."
        )
    return {
        "model_type": config.model_type,
        "architectures": config.architectures if isinstance(config.architectures, list) else None,
        "layers": len(headed_layers(config)),
        "heads": config.num_attention_heads,
        "causal": is_causal(config),
        # If config.json does not give the width, the usual 64 channels per head are assumed.
        "width": getattr(config, "hidden_size", 64 * config.num_attention_heads),
        "max_length": longest_input(config, tokenizer),
    }
