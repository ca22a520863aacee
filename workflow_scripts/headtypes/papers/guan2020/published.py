"""What a paper published, to set beside our own figures: its numbers, its contradictions and its claims."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from headtypes.ablation.operations import head_of
from headtypes.base.errors import InputError, one_line

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
    layers: Literal["first", "middle", "last", "nearly_all"]


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
    """Where the paper contradicts itself or its sources, and which figure is taken.

    figures: ids of the comparison's figures, or the parts that they begin with, beside which the remark is put.
    """

    __pydantic_config__ = _STRICT

    place: str
    figures: list[str]
    remark: str
    text: str

    def concerns(self, figure: str) -> bool:
        """Whether the remark belongs beside the figure with this id."""
        return any(figure == each or figure.startswith(f"{each}.") for each in self.figures)


Metric = Literal["exact_match", "f1"]
LevelName = Literal["no_longer_works", "still_works", "costs_little"]


@dataclass(frozen=True)
class Level:
    """How much of the baseline's exact match is left, as a limit in percent of it."""

    __pydantic_config__ = _STRICT

    side: Literal["above", "below"]
    percent: float


@dataclass(frozen=True)
class LevelRule:
    """What a condition leaves of the baseline's exact match reaches a level."""

    __pydantic_config__ = _STRICT

    kind: Literal["level"]
    condition: int
    level: LevelName


@dataclass(frozen=True)
class DropRule:
    """A condition costs fewer points than `below`."""

    __pydantic_config__ = _STRICT

    kind: Literal["drop"]
    condition: int
    metric: Metric
    below: float


@dataclass(frozen=True)
class CostlierRule:
    """A condition costs more exact match than the conditions `than` cost together, each by itself."""

    __pydantic_config__ = _STRICT

    kind: Literal["costlier"]
    condition: int
    than: list[int]


@dataclass(frozen=True)
class ShareRule:
    """A type has the most or the fewest heads."""

    __pydantic_config__ = _STRICT

    kind: Literal["share"]
    type: str
    extreme: Literal["largest", "smallest"]


@dataclass(frozen=True)
class LayersRule:
    """A type has more heads in a third of the layers than in either of the others."""

    __pydantic_config__ = _STRICT

    kind: Literal["layers"]
    type: str
    third: Literal["first", "middle", "last"]


@dataclass(frozen=True)
class SpreadRule:
    """More than `above` percent of the layers have a head of the type."""

    __pydantic_config__ = _STRICT

    kind: Literal["spread"]
    type: str
    above: float


@dataclass(frozen=True)
class StabilityRule:
    """Clusterings of random halves into `k` types agree on more than `above` percent of the heads."""

    __pydantic_config__ = _STRICT

    kind: Literal["stability"]
    k: int
    above: float


@dataclass(frozen=True)
class BestKRule:
    """Of the numbers of clusters tried, `k` has the largest silhouette."""

    __pydantic_config__ = _STRICT

    kind: Literal["best_k"]
    k: int


@dataclass(frozen=True)
class KeptRule:
    """More than `above` percent of the heads have the type that they have in the model's parent."""

    __pydantic_config__ = _STRICT

    kind: Literal["kept"]
    above: float


Rule = Annotated[
    LevelRule | DropRule | CostlierRule | ShareRule | LayersRule | SpreadRule | StabilityRule | BestKRule | KeptRule,
    Field(discriminator="kind"),
]


@dataclass(frozen=True)
class Claim:
    """What the paper says its numbers show, as rules that all have to hold.

    types: those whose names the claim rests on.
    """

    __pydantic_config__ = _STRICT

    id: str
    place: str
    text: str
    types: list[str]
    rules: Annotated[list[Rule], Field(min_length=1)]


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
    levels: dict[LevelName, Level]
    claims: list[Claim]

    def published_condition(self, operations: Mapping[str, str]) -> PublishedCondition | None:
        """Return the condition with these operations, or None; types that are kept do not count, single heads do."""
        wanted = {
            target: operation for target, operation in operations.items() if operation != "keep" or head_of(target)
        }
        return next((condition for condition in self.conditions if condition.operations == wanted), None)

    def published_stability(self, trained_on: str) -> float | None:
        """Return the published stability in percent of a model by what it was trained on, or None."""
        return self.stability.models.get(trained_on)


def load_reference(path: str | Path) -> Reference:
    """Read a paper's published figures. Raises `InputError` that names the file and the key that is wrong."""
    try:
        return TypeAdapter(Reference).validate_python(yaml.safe_load(Path(path).read_text(encoding="utf-8")))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not valid YAML: {one_line(error)}.") from error
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{path}: {key or 'the file'}: {first['msg']}.") from error
