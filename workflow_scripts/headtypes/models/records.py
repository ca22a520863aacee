"""The files of a model, the record of them that jobs read, and the tokens that its tokenizer adds."""

from __future__ import annotations

import atexit
import importlib.metadata
import importlib.util
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from headtypes.core.errors import InputError
from headtypes.core.files import StrPath, reach_disk, read_json, sha256_file, undamaged, write_json

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

MODEL_FILES = (
    *("config.json", "adapter_config.json", "model*.safetensors", "model*.safetensors.index.json", "tokenizer*.json"),
    *("special_tokens_map.json", "added_tokens.json", "vocab.*", "merges.txt", "*.model", "tekken.json"),
    *("normalizer.json", "entity_vocab.json"),
)
PICKLES = ("pytorch_model*.bin", "pytorch_model*.bin.index.json")  # weights that can run code when they are read


def model_files(folder: StrPath, pickle: bool = False) -> list[Path]:
    """Return the sorted files in a folder that `from_pretrained` reads; pickle: whether weights may be a pickle."""
    patterns = MODEL_FILES + PICKLES if pickle else MODEL_FILES
    files = Path(folder).iterdir() if Path(folder).is_dir() else ()
    return sorted(file for file in files if file.is_file() and any(fnmatchcase(file.name, form) for form in patterns))


def weight_files(folder: StrPath, pickle: bool = False, gguf: str | None = None) -> list[Path]:
    """Return the sorted paths of the weights that Transformers loads from a model's folder; [] if the folder has none.

    pickle: whether weights may be a pickle. gguf: name of a file in GGUF in the folder; None for other formats.
    """
    if gguf is not None:
        return [Path(folder, gguf)]
    for whole in ("model.safetensors", "pytorch_model.bin") if pickle else ("model.safetensors",):
        file, index = Path(folder, whole), Path(folder, f"{whole}.index.json")
        if file.is_file():
            return [file]
        if index.is_file():
            read = read_json(index)
            named = read.get("weight_map") if isinstance(read, dict) else None
            if not isinstance(named, dict) or not all(
                isinstance(name, str) and name == Path(name).name for name in named.values()
            ):
                raise InputError(
                    f"{index} does not say which file holds each tensor (weight_map); put the right one there."
                )
            return sorted({Path(folder, name) for name in named.values()})
    return []


def version_of(package: str) -> str:
    """Return the version of an installed package, or "absent"; package: its name in the Python package index."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "absent"


def place_of(source: Mapping[str, Any]) -> tuple[Path | None, str | None]:
    """Return (folder of a model's files or None, name of the file if the model is in the format GGUF, else None).

    source: the model's `source` in the configuration, such as {"folder": "models/bert"}.
    The folder is None for a model of the Hub, a model that the workflow trains, and a package that is not installed.
    """
    gguf = source.get("gguf")
    if source.get("package") is not None:
        spec = importlib.util.find_spec(source["package"])
        folders = (spec and spec.submodule_search_locations) or ()
        folder = next((Path(package, source.get("subfolder", ".")) for package in folders), None)
    else:
        folder = Path(source["folder"]) if source.get("folder") else gguf and Path(gguf).absolute().parent
    return folder or None, gguf and Path(gguf).name


def config_json(source: Mapping[str, Any]) -> dict[str, Any]:
    """Return config.json of a model whose `source` is a folder or package; {} for other sources or without the file."""
    folder, gguf = place_of(source)
    file = None if folder is None or gguf else Path(folder, "config.json")
    read = read_json(file) if file is not None and file.is_file() else None
    return read if isinstance(read, dict) else {}


def pretrained(folder: StrPath, gguf: str | None = None) -> dict[str, Any]:
    """Return arguments with which `from_pretrained` reads a model from a local folder, or only its GGUF file `gguf`."""
    alone = folder if gguf is None else _folder_of(os.path.abspath(Path(folder, gguf)))
    arguments = {"pretrained_model_name_or_path": str(alone), "local_files_only": True, "trust_remote_code": False}
    return arguments if gguf is None else {**arguments, "gguf_file": gguf}


@cache
def _folder_of(file: str) -> str:
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.symlink(file, Path(folder, os.path.basename(file)))
    return folder


@dataclass(frozen=True, kw_only=True)
class ModelRecord:
    """The record of a model whose files are on this machine, as `results/sources/models/{model}.json` holds it.

    hub, revision: id of the repository on the Hub that the files come from, and its commit; package: import name of the
        Python package that they come from. All three are None for a local folder.
    weights, files: {file name: SHA-256} of the weights, and of all other files of the model and its tokenizer.
    pickle: whether the weights are a pickle, which can run code when it is read.
    reader: for a model in GGUF, the version of the package `gguf`, on which the model's numbers depend.
    layers, heads: number of layers with heads, and of heads in each of these layers.
    causal: whether tokens attend only to themselves and to earlier tokens, as in a decoder.
    width, max_length: number of channels of a token between layers, and of tokens in the longest input.
    """

    name: str
    hub: str | None = None
    package: str | None = None
    revision: str | None = None
    folder: str
    weights: Mapping[str, str]
    files: Mapping[str, str]
    pickle: bool
    reader: str | None = None
    parameters: int
    model_type: str
    architectures: list[str] | None
    layers: int
    heads: int
    causal: bool = False
    width: int
    max_length: int

    @property
    def gguf(self) -> str | None:
        return next((name for name in self.weights if name.endswith(".gguf")), None)

    @property
    def language_head(self) -> Literal["causal_lm", "masked_lm"]:
        return "causal_lm" if self.causal else "masked_lm"

    @property
    def pretrained(self) -> dict[str, Any]:
        return pretrained(self.folder, self.gguf)


def write_model_record(path: StrPath, record: ModelRecord) -> None:
    write_json(path, asdict(record))


def read_model_record(path: StrPath) -> ModelRecord:
    content = read_json(path)
    with undamaged(path, "is not a record of a model"):
        lacking = [field.name for field in fields(ModelRecord) if field.name not in content]
        if lacking:
            raise ValueError(f"it lacks {lacking[0]}")
        record = ModelRecord(**content)
    if not Path(record.folder).is_dir():
        raise InputError(
            f"{path}: {record.folder} is no longer there; delete {path} and run again to fetch the model again."
        )
    return record


def unavailable(key: str, repository: str, revision: str | None) -> str:
    """Return the start of an error's text: neither Hub nor cache has `repository`, named in the config under `key`."""
    return f"{key}: {repository}{f' ({revision})' if revision else ''} cannot be had from the Hub or the local cache"


def check_contents(where: str, folder: Path) -> None:
    """Raise `InputError` ("{where}: ...") if a Hub snapshot's file has not the Hub's SHA-256; remove the file."""
    # The file's name in the cache is its SHA-256 on the Hub, whose own client compares lengths alone.
    for file in filter(Path.is_symlink, folder.rglob("*")):
        content = file.resolve()
        if re.fullmatch("[0-9a-f]{64}", content.name) and sha256_file(content) != content.name:
            content.unlink()
            file.unlink()
            raise InputError(
                f"{where}: {file.name} came damaged: its content is not what the Hub says; it is removed from the "
                "cache; run again."
            )


def added_tokens(tokenizer, where: str = "the model") -> set[int]:
    """Return the ids of the tokens that a tokenizer adds to a text, such as that of `[CLS]`.

    Raises `InputError` if one is not among the tokenizer's special tokens. where: the model, for the message.
    """
    added: dict[int, str] = {}
    for encoded in (tokenizer("a"), tokenizer("a", "b")):
        texts = encoded.sequence_ids(0)
        for place, token in enumerate(encoded["input_ids"]):
            if texts[place] is None:
                added.setdefault(token, "sep_token" if 0 in texts[:place] else "cls_token")
    ends = {getattr(tokenizer, f"{name}_token_id") for name in ("cls", "sep", "bos", "eos")}
    # Other special tokens may stand beside these, such as the language of a text.
    unnamed = [token for token in added if ends == {None} or token not in tokenizer.all_special_ids]
    if unnamed:
        lines = (f'"{added[token]}": "{tokenizer.convert_ids_to_tokens(token)}"' for token in unnamed)
        raise InputError(
            f"{where} has a tokenizer that adds special tokens to a text without naming them; write "
            f"{', '.join(lines)} into tokenizer_config.json."
        )
    return {*added}


def save_model(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    out_folder: Path,
    beside: Mapping[str, Any] | None = None,
) -> None:
    """Save a model with its tokenizer in a folder, which appears only when complete; an older folder is replaced.

    beside: {file name: contents} of further JSON files for the folder.
    """
    temporary = out_folder.with_name(f".{out_folder.name}.tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    # In one file, as the rule expects it.
    model.save_pretrained(temporary, max_shard_size="1000TB")
    # Truncation or padding, from an earlier call or from the base's own file, would be saved with the tokenizer.
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    tokenizer.save_pretrained(temporary)
    for name, contents in (beside or {}).items():
        write_json(temporary / name, contents)
    reach_disk(temporary)
    if out_folder.exists():
        shutil.rmtree(out_folder)
    os.replace(temporary, out_folder)
