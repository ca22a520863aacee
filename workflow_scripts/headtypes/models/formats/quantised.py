"""Weights that are stored quantised, and that Transformers turns into floating-point numbers when it loads them.

Of the ways of `quantization_config`, two need no package beside Transformers, so that the numbers depend on the files
alone: blocks of 8 bits with a factor each (fp8), and of 4 bits (mxfp4, in the experts of gpt-oss). What a third needs
is in `compressed`.
"""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from safetensors import safe_open

from headtypes.core.errors import InputError
from headtypes.core.files import StrPath
from headtypes.core.installed import version_of
from headtypes.models.formats import compressed

DEQUANTISED = ("fp8", "mxfp4", compressed.METHOD)
# Types of numbers in safetensors that stand for others, and the endings of the names of what turns them into these.
_STAND_INS = ("F8_E4M3",)
_FACTORS = ("_scale_inv", "_scales", ".activation_scale", ".input_scale")


def quantisation_of(config: Any) -> dict | None:
    """What the contents of a config.json say of how the weights are quantised; None where they are not."""
    found = isinstance(config, dict) and (config.get("quantization_config") or config.get("compression_config"))
    return found if isinstance(found, dict) else {} if found else None


def is_dequantised(config: Any) -> bool:
    """Whether weights are quantised in one of the ways that are supported, by the contents of a config.json."""
    return _method(config) in DEQUANTISED


def reader_of(config: Any) -> str | None:
    """The version of the package, where the weights need one, by the contents of a config.json."""
    return version_of(compressed.METHOD) if _method(config) == compressed.METHOD else None


def as_loaded(config: Any, tensors: Mapping[str, str]) -> Mapping[str, str]:
    """Tensors and the types of their numbers once they are loaded; config: the contents of a config.json.

    tensors: name and type of what is stored.
    """
    if _method(config) == compressed.METHOD:
        return compressed.as_loaded(tensors)
    if is_dequantised(config):
        return {name: "F32" if kind in _STAND_INS else kind for name, kind in tensors.items()}
    return tensors


def numbers_in(file: Path) -> int:
    """How many numbers of a model the tensors in a file of safetensors stand for."""
    with safe_open(file, "np") as weights:
        return sum(_numbers_in(weights, name) for name in weights.offset_keys())


def _numbers_in(weights: Any, name: str) -> int:
    of_compressed = compressed.numbers_in(weights, name)
    if of_compressed is not None:
        return of_compressed
    if name.endswith(_FACTORS):
        return 0
    # Two of 4 bits in a byte.
    return math.prod(weights.get_slice(name).get_shape()) * (2 if name.endswith("_blocks") else 1)


def check_quantised(key: str, folder: StrPath, config: dict, files: Iterable[Path]) -> None:
    """Raise `InputError` where Transformers would not make the numbers that the format of the weights defines.

    key: of the model in the configuration, for messages; config: the contents of its config.json, by which
    `is_dequantised`; files: of its weights.
    """
    if _method(config) == compressed.METHOD:
        compressed.check_compressed(key, folder, config["quantization_config"], files)
    else:
        _check_blocks(key, config, files)


def _method(config: Any) -> str | None:
    # By another key, Transformers takes the weights for what they are stored as.
    said = config.get("quantization_config") if isinstance(config, dict) else None
    return said.get("quant_method") if isinstance(said, dict) else None


def _check_blocks(key: str, config: dict, files: Iterable[Path]) -> None:
    """Raise `InputError` where a matrix does not consist of whole blocks, for which Transformers takes other blocks."""
    block = config["quantization_config"].get("weight_block_size")
    for file in files if isinstance(block, list) else ():
        with safe_open(file, "np") as weights:
            for name in weights.offset_keys():
                shape = weights.get_slice(name).get_shape()
                if weights.get_slice(name).get_dtype() in _STAND_INS and any(
                    size % of_block for size, of_block in zip(shape[-2:], block, strict=True)
                ):
                    raise InputError(
                        f"{key}: {file} holds {name} as a matrix of {shape[-2]} by {shape[-1]} numbers, which blocks "
                        f"of {block[0]} by {block[1]} do not divide; name the model in floating-point numbers."
                    )
