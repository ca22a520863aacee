"""Where a model's files are, and which of them matter."""

import importlib.util
import os
from fnmatch import fnmatchcase
from pathlib import Path

from headtypes.base.errors import InputError
from headtypes.base.files import read_json

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
)
# Weights that can run code when they are read.
PICKLES = ("pytorch_model*.bin", "pytorch_model*.bin.index.json")


def model_files(folder: str | Path, pickle: bool = False) -> list[Path]:
    """The files of a model's folder that loading it reads, sorted; pickle: whether its weights may be one.

    Raises `InputError` where one of them is a link that leads nowhere.
    """
    patterns = MODEL_FILES + PICKLES if pickle else MODEL_FILES
    files = Path(folder).iterdir() if Path(folder).is_dir() else ()
    found = sorted(file for file in files if any(fnmatchcase(file.name, pattern) for pattern in patterns))
    for file in found:
        if not file.exists():
            raise InputError(f"{file} is a link to {os.readlink(file)}, which is not there; fetch the model again.")
    return found


def weight_files(folder: str | Path, pickle: bool = False) -> list[Path]:
    """The files of weights that Transformers loads from a model's folder, sorted; none where there are none.

    These are model.safetensors, or what its index names; where neither is there and `pickle` allows it,
    pytorch_model.bin, or what its index names. Raises `InputError` where an index names anything else.
    """
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
