"""Where a model's files are, and which of them matter."""

import atexit
import importlib.util
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from headtypes.core.errors import InputError
from headtypes.core.files import StrPath, read_json

# What `from_pretrained` reads for a model and its tokenizer; a repository may hold much more.
MODEL_FILES = (
    "config.json",
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
# With the package peft, it has Transformers change the model, or load another.
_ADAPTER = "adapter_config.json"
# As Transformers names the files of a checkpoint that was saved by several processes.
_SHARD = re.compile(r"shard-\d{5}-model-\d{5}-of-\d{5}\.safetensors$")


def checkpoint_in(folder: StrPath, step: int) -> Path:
    """Where a model that the workflow made keeps itself as it was after so many updates of its training."""
    return Path(folder, f"step-{step}")


def model_files(folder: StrPath, pickle: bool = False) -> list[Path]:
    """The files of a model's folder that loading it reads, sorted; pickle: whether its weights may be one.

    Raises `InputError` where one of them is a folder, or a link that leads nowhere, or anything there is a pipe.
    """
    patterns = MODEL_FILES + PICKLES if pickle else MODEL_FILES
    files = list(Path(folder).iterdir()) if Path(folder).is_dir() else []
    found = sorted(file for file in files if any(fnmatchcase(file.name, pattern) for pattern in patterns))
    for file in found:
        if not file.exists():
            raise InputError(f"{file} is a link to {os.readlink(file)}, which is not there; fetch the model again.")
        if file.is_dir():
            raise InputError(f"{file} is a folder and has the name of a model's file; rename it, or fetch it again.")
    _check_ordinary(files)
    return found


def _check_ordinary(files: Iterable[Path]) -> None:
    """Refuse pipes and devices, for whose end who reads them would wait: Transformers opens more than `MODEL_FILES`."""
    for file in files:
        if file.exists() and not file.is_file() and not file.is_dir():
            raise InputError(f"{file} is not a file but a pipe or a device; remove it, or fetch the model again.")


def weight_files(folder: StrPath, pickle: bool = False, gguf: str | None = None) -> list[Path]:
    """The files of weights that Transformers loads from a model's folder, sorted; none where there are none.

    These are model.safetensors, or what its index names; where neither is there and `pickle` allows it,
    pytorch_model.bin, or what its index names. Of a model in GGUF, it is the file of this name. Raises `InputError`
    where an index names anything else.
    """
    if gguf is not None:
        return [file for file in (Path(folder, gguf),) if file.is_file()]
    for whole in ("model.safetensors", "pytorch_model.bin") if pickle else ("model.safetensors",):
        file, index = Path(folder, whole), Path(folder, f"{whole}.index.json")
        if file.is_file():
            return [file]
        if index.is_file():
            return _indexed(index)
    return []


def _indexed(index: Path) -> list[Path]:
    contents = read_json(index)
    files = contents.get("weight_map") if isinstance(contents, dict) else None
    if not isinstance(files, dict) or not files:
        raise InputError(f"{index} names no files of weights (weight_map); fetch it again.")
    stem, suffix = index.name.removesuffix(".index.json").split(".")
    for name in files.values():
        if not (isinstance(name, str) and Path(name).name == name and Path(name).match(f"{stem}*.{suffix}")):
            raise InputError(
                f"{index} names {name!r}, which is not one of {stem}*.{suffix} beside it; rename the file."
            )
        if not (index.parent / name).is_file():
            raise InputError(f"{index} names {name}, which is not there; fetch it again.")
    return sorted({index.parent / name for name in files.values()})


def package_folder(package: str) -> Path | None:
    """The folder of an installed Python package, without importing it; None where there is none."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0])


def place_of(source: Mapping[str, Any]) -> tuple[Path | None, str | None]:
    """The folder of a model's files, and for a model in GGUF the name of its only file, else None.

    source: as in the configuration. The folder is None where this machine need not have one: for a model of the Hub, or
        one that the workflow makes, and for a package that is not installed.
    """
    gguf = source.get("gguf")
    if source.get("package") is not None:
        package = package_folder(source["package"])
        folder = package and package / source.get("subfolder", ".")
    else:
        folder = Path(source["folder"]) if source.get("folder") else gguf and Path(gguf).absolute().parent
    return folder or None, gguf and Path(gguf).name


def gguf_among(weights: Iterable[str]) -> str | None:
    """Which of a model's files of weights is in GGUF: its only one, or none."""
    return next((name for name in weights if name.endswith(".gguf")), None)


def pretrained(folder: StrPath, gguf: str | None = None) -> dict[str, Any]:
    """The arguments by which every `from_pretrained` of Transformers finds a model's files, in its folder alone."""
    alone = folder if gguf is None else _folder_of(os.path.abspath(Path(folder, gguf)))
    arguments = {"pretrained_model_name_or_path": str(alone), "local_files_only": True, "trust_remote_code": False}
    return arguments if gguf is None else {**arguments, "gguf_file": gguf}


@cache
def _folder_of(file: str) -> str:
    """A folder in which a file is alone: Transformers reads what else it finds beside a model in GGUF."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.symlink(file, Path(folder, os.path.basename(file)))
    return folder


def check_beside(key: str, folder: StrPath) -> None:
    """Raise `InputError` where a folder holds files with which Transformers loads another model than its weights.

    key: of the model, for the message.
    """
    if Path(folder, _ADAPTER).exists():
        raise InputError(
            f"{key}: {folder} holds {_ADAPTER}, with which Transformers loads another model once the package peft is "
            "installed; merge the adapter into the weights (merge_and_unload) and save these, or remove the file."
        )
    files = list(Path(folder).iterdir())
    _check_ordinary(files)
    shards = [file.name for file in files if _SHARD.match(file.name)]
    if shards:
        raise InputError(
            f"{key}: {folder} holds {min(shards)}, of a checkpoint in shards, which Transformers loads instead of the "
            "model's weights; move the shards elsewhere, or save the model as model.safetensors."
        )
