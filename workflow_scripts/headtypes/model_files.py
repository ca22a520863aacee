"""Where a model's files lie, and which of them count."""

import importlib.util
from pathlib import Path

# What `from_pretrained` reads of a model and its tokenizer; a repository may hold much beside it.
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


def model_files(folder: str | Path) -> list[Path]:
    """The files of a model's folder that loading it reads, sorted."""
    return sorted({file for pattern in MODEL_FILES for file in Path(folder).glob(pattern)})


def package_folder(package: str) -> Path | None:
    """The folder of an installed Python package, without importing it; None where there is none."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0])
