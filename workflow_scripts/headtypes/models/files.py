"""The files of a model that loading it reads."""

import atexit
import importlib.util
import os
import shutil
import tempfile
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from headtypes.core.errors import InputError
from headtypes.core.files import StrPath, read_json

# What `from_pretrained` reads for a model and its tokenizer; a repository may hold much more.
MODEL_FILES = (
    "config.json",
    "adapter_config.json",
    "model*.safetensors",
    "model*.safetensors.index.json",
    "tokenizer*.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.*",
    "merges.txt",
    "*.model",
    "tekken.json",
    "normalizer.json",
    "entity_vocab.json",
)
# Weights that can run code when they are read.
PICKLES = ("pytorch_model*.bin", "pytorch_model*.bin.index.json")


def model_files(folder: StrPath, pickle: bool = False) -> list[Path]:
    """List the files that loading a model reads from its folder, sorted; pickle: whether its weights may be one."""
    patterns = MODEL_FILES + PICKLES if pickle else MODEL_FILES
    files = Path(folder).iterdir() if Path(folder).is_dir() else ()
    return sorted(file for file in files if file.is_file() and any(fnmatchcase(file.name, form) for form in patterns))


def weight_files(folder: StrPath, pickle: bool = False, gguf: str | None = None) -> list[Path]:
    """List the files of weights that Transformers loads from a model's folder, sorted; [] where there are none.

    These are the file in GGUF, or model.safetensors, or those that its index names; else, where `pickle` allows it, the
    same of pytorch_model.bin. Raises `InputError` for an index that names none.
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


def place_of(source: Mapping[str, Any]) -> tuple[Path | None, str | None]:
    """Return the folder of a model's files, and for a model in GGUF the name of its only file, else None.

    source: as in the configuration. The folder is None for a model of the Hub, one that the workflow makes, and one in
        a package that is not installed.
    """
    gguf = source.get("gguf")
    if source.get("package") is not None:
        # Without importing it.
        spec = importlib.util.find_spec(source["package"])
        folders = (spec and spec.submodule_search_locations) or ()
        folder = next((Path(package, source.get("subfolder", ".")) for package in folders), None)
    else:
        folder = Path(source["folder"]) if source.get("folder") else gguf and Path(gguf).absolute().parent
    return folder or None, gguf and Path(gguf).name


def config_json(source: Mapping[str, Any]) -> dict[str, Any]:
    """Read the config.json of a model; {} where it is not known before the model is fetched, or is no mapping.

    source: as in the configuration.
    """
    folder, gguf = place_of(source)
    file = None if folder is None or gguf else Path(folder, "config.json")
    read = read_json(file) if file is not None and file.is_file() else None
    return read if isinstance(read, dict) else {}


def pretrained(folder: StrPath, gguf: str | None = None) -> dict[str, Any]:
    """Return the arguments by which `from_pretrained` of Transformers finds a model's files, in its folder alone."""
    alone = folder if gguf is None else _folder_of(os.path.abspath(Path(folder, gguf)))
    arguments = {"pretrained_model_name_or_path": str(alone), "local_files_only": True, "trust_remote_code": False}
    return arguments if gguf is None else {**arguments, "gguf_file": gguf}


@cache
def _folder_of(file: str) -> str:
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.symlink(file, Path(folder, os.path.basename(file)))
    return folder
