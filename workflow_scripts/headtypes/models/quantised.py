"""Weights that are stored quantised, and that Transformers turns into floating-point numbers when it loads them.

Of the ways of `quantization_config`, these are the ones that need no package beside Transformers, so that the numbers
depend on the files alone: blocks of 8 bits with a factor each (fp8), and of 4 bits (mxfp4, in the experts of gpt-oss).
"""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from safetensors import safe_open

from headtypes.core.errors import InputError

DEQUANTISED = ("fp8", "mxfp4")
# Types of numbers in safetensors that stand for others, and the endings of the names of what turns them into these.
STAND_INS = ("F8_E4M3",)
_FACTORS = ("_scale_inv", "_scales", ".activation_scale", ".input_scale")


def quantisation_of(config: Any) -> dict | None:
    """What the contents of a config.json say of how the weights are quantised; None where they are not."""
    found = isinstance(config, dict) and (config.get("quantization_config") or config.get("compression_config"))
    return found if isinstance(found, dict) else {} if found else None


def is_dequantised(config: Any) -> bool:
    """Whether weights are quantised in one of the ways that are supported, by the contents of a config.json."""
    return (quantisation_of(config) or {}).get("quant_method") in DEQUANTISED


def numbers_in(name: str, shape: Sequence[int]) -> int:
    """How many numbers of a model a stored tensor stands for."""
    if name.endswith(_FACTORS):
        return 0
    # Two of 4 bits in a byte.
    return math.prod(shape) * (2 if name.endswith("_blocks") else 1)


def check_blocks(key: str, config: dict, files: Iterable[Path]) -> None:
    """Raise `InputError` where a matrix does not consist of whole blocks, for which Transformers takes other blocks.

    key: of the model in the configuration, for messages; config: the contents of its config.json.
    """
    block = (quantisation_of(config) or {}).get("weight_block_size")
    for file in files if isinstance(block, list) else ():
        with safe_open(file, "np") as weights:
            for name in weights.offset_keys():
                shape = weights.get_slice(name).get_shape()
                if weights.get_slice(name).get_dtype() in STAND_INS and any(
                    size % of_block for size, of_block in zip(shape[-2:], block, strict=True)
                ):
                    raise InputError(
                        f"{key}: {file} holds {name} as a matrix of {shape[-2]} by {shape[-1]} numbers, which blocks "
                        f"of {block[0]} by {block[1]} do not divide; name the model in floating-point numbers."
                    )
