"""Models in one file in GGUF, the format of llama.cpp: what its header says, read without loading anything.

Transformers reads such files with the package `gguf`, and turns their weights, most of them quantised, into
floating-point numbers. The tokenizer is in the same file.
"""

import importlib.util
import math
import os
import struct
from dataclasses import dataclass
from typing import Any, BinaryIO

from headtypes.core.errors import InputError, one_line
from headtypes.core.files import StrPath

_MAGIC = b"GGUF"
# By the number of a type in a header: how `struct` names it.
_PLAIN = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_TEXT, _ARRAY = 8, 9
_LONGEST_TEXT = 100_000_000


@dataclass(frozen=True)
class Header:
    """What the header of a GGUF file says.

    values:  by key, such as `llama.block_count`; arrays, such as the vocabulary, are left out.
    tensors: how many numbers each tensor holds, by name.
    """

    values: dict[str, Any]
    tensors: dict[str, int]

    def of_model(self, key: str) -> Any:
        """The value of a key that begins with the name of the architecture; None where there is none."""
        return self.values.get(f"{self.values.get('general.architecture')}.{key}")


def check_gguf(key: str, file: StrPath) -> None:
    """Raise `InputError` where a file cannot be read as a model in GGUF: not there, another format, or no `gguf`.

    key: of the model in the configuration, for messages.
    """
    if not os.path.isfile(file):
        raise InputError(f"{key}: there is no file {file}; name a model's file in GGUF.")
    with open(file, "rb") as data:
        if data.read(len(_MAGIC)) != _MAGIC:
            raise InputError(f"{key}: {file} is not in GGUF; name another file, or the folder of a model as `folder`.")
    if importlib.util.find_spec("gguf") is None:
        raise InputError(
            f"{key}: {file} is in GGUF, which Transformers reads with a package that is not installed; "
            "run `pip install gguf`."
        )


def read_header(file: StrPath) -> Header:
    """Read the header of a GGUF file. Raises `InputError` where it is not one, or is damaged."""
    try:
        with open(file, "rb") as data:
            if data.read(len(_MAGIC)) != _MAGIC:
                raise ValueError("it does not begin as a GGUF file")
            _, tensors, keys = _number(data, "I"), _number(data, "Q"), _number(data, "Q")
            values = {_text(data): _value(data, _number(data, "I")) for _ in range(keys)}
            held = dict(_tensor(data) for _ in range(tensors))
    except Exception as error:  # Whatever the bytes lead to.
        raise InputError(f"{file} is damaged ({one_line(error)}); fetch it again.") from error
    return Header({key: value for key, value in values.items() if value is not None}, held)


def _tensor(data: BinaryIO) -> tuple[str, int]:
    name = _text(data)
    shape = [_number(data, "Q") for _ in range(_number(data, "I"))]
    # Its type, and where it begins.
    _number(data, "I"), _number(data, "Q")
    return name, math.prod(shape)


def _value(data: BinaryIO, kind: int) -> Any:
    """A value of a type; an array is passed over and gives None."""
    if kind in _PLAIN:
        return _number(data, _PLAIN[kind])
    if kind == _TEXT:
        return _text(data)
    if kind != _ARRAY:
        raise ValueError(f"a value of type {kind}")
    kind, length = _number(data, "I"), _number(data, "Q")
    if kind in _PLAIN:
        data.seek(struct.calcsize(f"<{_PLAIN[kind]}") * length, 1)
    else:
        for _ in range(length):
            _value(data, kind)
    return None


def _text(data: BinaryIO) -> str:
    length = _number(data, "Q")
    if length > _LONGEST_TEXT:
        raise ValueError(f"a text of {length} bytes")
    return data.read(length).decode(errors="replace")


def _number(data: BinaryIO, kind: str) -> Any:
    return struct.unpack(f"<{kind}", data.read(struct.calcsize(f"<{kind}")))[0]
