"""Weights in the formats of the package `compressed-tensors`, by which they become floating-point numbers.

None of the package is imported here, since it is optional.
"""

import importlib.util
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from safetensors import safe_open

from headtypes.core.errors import InputError
from headtypes.core.files import StrPath
from headtypes.core.installed import version_of
from headtypes.models.records import ModelRecord

METHOD = "compressed-tensors"
_FORMATS = ("pack-quantized", "int-quantized", "float-quantized", "naive-quantized")
# Types of numbers in safetensors that a factor turns into those of the model.
_CODES = ("I8", "F8_E4M3")
_PACKED = "weight_packed"
# What a matrix is stored as, and what is stored of the activations, which stay as they are.
_OF_WEIGHTS = (_PACKED, "weight_scale", "weight_shape", "weight_zero_point")
_OF_ACTIVATIONS = ("input_scale", "input_zero_point", "output_scale", "output_zero_point", "k_scale", "v_scale")


def check_reader(record: ModelRecord) -> None:
    """Raise `InputError` where the package is no longer the version by which a model was found."""
    installed = version_of(METHOD)
    if record.gguf is None and record.reader not in (None, installed):
        raise InputError(
            f"models.{record.name}: its weights were found with {METHOD} {record.reader}, and installed is "
            f"{installed}; install the former, or delete the model's record in results/sources/models "
            f"({record.name}.json), and run again."
        )


def is_of_activations(name: str) -> bool:
    """Whether a stored tensor says how activations are quantised."""
    return name.rpartition(".")[2] in _OF_ACTIVATIONS


def as_loaded(tensors: Mapping[str, str]) -> dict[str, str]:
    """The tensors that stored ones become, and the type of their numbers; tensors: stored ones with theirs."""
    found = {name: "F32" if kind in _CODES else kind for name, kind in tensors.items()}
    for name in tensors:
        module, _, last = name.rpartition(".")
        if last in (*_OF_WEIGHTS, *_OF_ACTIVATIONS):
            del found[name]
        if last == _PACKED:
            found[f"{module}.weight"] = "F32"
    return found


def numbers_in(weights: Any, name: str) -> int | None:
    """How many numbers of a model a tensor stands for; None for one that these formats do not have.

    weights: an opened file of safetensors.
    """
    last = name.rpartition(".")[2]
    if last == "weight_shape":
        return math.prod(weights.get_tensor(name).tolist())
    return 0 if last in (*_OF_WEIGHTS, *_OF_ACTIVATIONS) else None


def check_compressed(key: str, folder: StrPath, said: Mapping[str, Any], files: Iterable[Path]) -> None:
    """Raise `InputError` where the package is missing, or would not give the numbers that a model computes with.

    key: of the model in the configuration, for messages; said: the `quantization_config` in its config.json; files: of
    its weights.
    """
    where = f"{key}: {folder}"
    if importlib.util.find_spec("compressed_tensors") is None:
        raise InputError(
            f"{where} has weights in the format of {METHOD}, which Transformers reads with a package that is not "
            f"installed; run `pip install {METHOD}`."
        )
    bits = _bits(where, said)
    kinds, shapes, said_shapes = {}, {}, {}
    for file in files:
        with safe_open(file, "np") as stored:
            for name in stored.offset_keys():
                kinds[name], shapes[name] = stored.get_slice(name).get_dtype(), stored.get_slice(name).get_shape()
                if name.endswith(".weight_shape"):
                    said_shapes[name] = stored.get_tensor(name).tolist()
    for name in sorted(kinds):
        module, _, last = name.rpartition(".")
        if last.startswith("weight_") and last not in _OF_WEIGHTS:
            raise _refused(where, f"need {name}, which Transformers does not read")
        needed = ("weight_scale", "weight_shape") if last == _PACKED else ()
        if last == "weight" and kinds[name] in _CODES:
            needed = ("weight_scale",)
        for other in needed:
            if f"{module}.{other}" not in kinds:
                raise InputError(f"{where} holds {name} without {other}; take all files from the same model.")
        if last == _PACKED:
            _check_packed(where, name, shapes[name], said_shapes[f"{module}.weight_shape"], bits)


def _bits(where: str, said: Mapping[str, Any]) -> int:
    """Of how many bits the numbers are; raises `InputError` where the settings are others than those that are read."""
    groups = said.get("config_groups")
    groups = list(groups.values()) if isinstance(groups, dict) else []
    group = groups[0] if len(groups) == 1 and isinstance(groups[0], dict) else {}
    weights = group.get("weights") if isinstance(group.get("weights"), dict) else {}
    found = group.get("format") or said.get("format")
    if found not in _FORMATS or not isinstance(weights.get("num_bits"), int):
        raise _refused(where, f"are not one group (config_groups) in one of the formats {', '.join(_FORMATS)}")
    for name in ("transform_config", "sparsity_config"):
        if said.get(name):
            raise _refused(where, f"are also stored in another way ({name})")
    return weights["num_bits"]


def _check_packed(where: str, name: str, shape: list[int], said: list[int], bits: int) -> None:
    rows, numbers = said
    if shape != [rows, -(-numbers * bits // 32)]:
        raise InputError(
            f"{where} holds {name} as {' by '.join(map(str, shape))} words of 32 bits, which are not {rows} by "
            f"{numbers} numbers of {bits} bits, as its config.json says; take both from the same model."
        )


def _refused(where: str, why: str) -> InputError:
    return InputError(
        f"{where} has weights quantised by {METHOD} (quantization_config in its config.json) that {why}; name the "
        "model in floating-point numbers."
    )
