"""Where a model's files are, and which of them matter."""

import importlib.util
from pathlib import Path

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
    """The files of a model's folder that loading it reads, sorted; pickle: whether its weights may be one."""
    patterns = MODEL_FILES + PICKLES if pickle else MODEL_FILES
    return sorted({file for pattern in patterns for file in Path(folder).glob(pattern)})


def weight_files(folder: str | Path, pickle: bool = False) -> list[Path]:
    """The weights in a model's folder, sorted: safetensors, or, where there are none, pickles if they are allowed."""
    safe = sorted(Path(folder).glob("model*.safetensors"))
    return safe or (sorted(Path(folder).glob("pytorch_model*.bin")) if pickle else [])


def package_folder(package: str) -> Path | None:
    """The folder of an installed Python package, without importing it; None where there is none."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0])
