"""What a paper published, to set beside our own figures."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml
from pydantic import ConfigDict, TypeAdapter, ValidationError

from headtypes.errors import InputError

_STRICT = ConfigDict(extra="forbid")


@dataclass(frozen=True)
class PublishedCondition:
    """An ablation and its scores in percent.

    operations: operation by type, for the types that are not kept; table: where it stands in the paper.
    """

    __pydantic_config__ = _STRICT

    id: int
    table: int
    operations: dict[str, str]
    exact_match: float
    f1: float


@dataclass(frozen=True)
class PublishedShare:
    """A type's part of all heads: percent as printed, how many heads that is, and where they mostly are."""

    __pydantic_config__ = _STRICT

    percent: float
    heads: int
    layers: str


@dataclass(frozen=True)
class PublishedShares:
    """Shares of the types, by type."""

    __pydantic_config__ = _STRICT

    place: str
    types: dict[str, PublishedShare]


@dataclass(frozen=True)
class PublishedStability:
    """Stability in percent, by what the model was trained on."""

    __pydantic_config__ = _STRICT

    place: str
    models: dict[str, float]


@dataclass(frozen=True)
class DocumentedScores:
    """Scores in percent that the checkpoint's own authors give."""

    __pydantic_config__ = _STRICT

    model: str
    exact_match: float
    f1: float


@dataclass(frozen=True)
class Note:
    """Where the paper contradicts itself or its sources, and which figure is taken."""

    __pydantic_config__ = _STRICT

    place: str
    text: str


@dataclass(frozen=True)
class Reference:
    """Everything published that is compared."""

    __pydantic_config__ = _STRICT

    paper: str
    url: str
    model: str
    task: str
    heads: int
    conditions: list[PublishedCondition]
    shares: PublishedShares
    stability: PublishedStability
    documented: DocumentedScores
    notes: list[Note]

    def published_condition(self, operations: Mapping[str, str]) -> PublishedCondition | None:
        """Return the condition with these operations by type, or None; types that are kept do not count."""
        wanted = {type_name: operation for type_name, operation in operations.items() if operation != "keep"}
        return next((condition for condition in self.conditions if condition.operations == wanted), None)

    def published_stability(self, trained_on: str) -> float | None:
        """Return the published stability in percent of a model by what it was trained on, or None."""
        return self.stability.models.get(trained_on)


def load_reference(path: str | Path) -> Reference:
    """Read a paper's published figures. Raises `InputError` that names the file and the key that is wrong."""
    try:
        return TypeAdapter(Reference).validate_python(yaml.safe_load(Path(path).read_text(encoding="utf-8")))
    except yaml.YAMLError as error:
        raise InputError(f"{path} is not valid YAML: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{path}: {key or 'the file'}: {first['msg']}.") from error
