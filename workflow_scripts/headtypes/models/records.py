"""Facts of a model once its files have been found, and the small file that records them."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from headtypes.core.errors import InputError
from headtypes.core.files import StrPath, read_json, undamaged, write_json
from headtypes.models.files import pretrained


@dataclass(frozen=True, kw_only=True)
class ModelRecord:
    """A model whose files have been found: their folder, their hashes, and the model's shape.

    name:          in the config; folder: of its files on this machine.
    hub, package, revision: where it was fetched from, if it was; the revision as the Hub resolved it.
    weights, files: SHA-256 of each file of weights, and of each other file that model and tokenizer are loaded from.
    pickle:        whether the weights are a pickle.
    reader:        for a model in GGUF, the version of the package `gguf`, on which its numbers depend.
    parameters:    how many numbers the weights hold.
    model_type, architectures: as in its `config.json`.
    layers, heads, width: number of layers, of heads in a layer, and of channels of a token between layers.
    causal:        whether it is a decoder; max_length: tokens of its longest input.
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
    def pretrained(self) -> dict[str, Any]:
        return pretrained(self.folder, self.gguf)


def write_model_record(path: StrPath, record: ModelRecord) -> None:
    write_json(path, asdict(record))


def read_model_record(path: StrPath) -> ModelRecord:
    """Read a record; raises `InputError` where the file is damaged or the model's folder is gone."""
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
