"""What Guan et al. 2020 published: their numbers, contradictions and claims, as `reference/guan2020.yaml` has them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from headtypes.ablation.operations import head_of
from headtypes.papers import claims
from headtypes.papers.claims import NoVerdictError, join
from headtypes.papers.guan2020.rules import AnyRule, LevelName
from headtypes.papers.guan2020.words import doubtful_of, types_of
from headtypes.papers.published import Data, Published, read_published
from headtypes.papers.quantities import Quantities


class PublishedCondition(Data):
    """An ablation and its scores in percent.

    operations: operation by type, for the types that are not kept; table: where it stands in the paper.
    """

    id: int
    table: int
    operations: dict[str, str]
    exact_match: float
    f1: float


class PublishedShare(Data):
    """A type's part of all heads: percent as printed, how many heads that is, and where they mostly are."""

    percent: float
    heads: int
    layers: Literal["first", "middle", "last", "nearly_all"]


class PublishedShares(Data):
    """Shares of the types, by type."""

    place: str
    types: dict[str, PublishedShare]


class PublishedStability(Data):
    """Stability in percent, by what the model was trained on."""

    place: str
    models: dict[str, float]


class DocumentedScores(Data):
    """Scores in percent that the checkpoint's own authors give."""

    model: str
    exact_match: float
    f1: float


class Level(Data):
    """How much of the baseline's exact match is left, as a limit in percent of it."""

    side: Literal["above", "below"]
    percent: float


class Claim(claims.Claim[AnyRule]):
    """A claim that rests on the names of `types`."""

    types: list[str]

    def check(self, quantities: Quantities) -> None:
        """Raise `NoVerdictError` where the partition lacks one of the types, or the name of one is doubtful."""
        missing = [name for name in self.types if name not in types_of(quantities)]
        if missing:
            raise NoVerdictError(f"the partition lacks {join(missing)}")
        doubtful = [name for name in self.types if name in doubtful_of(quantities)]
        if doubtful:
            raise NoVerdictError(f"doubtful name: {join(doubtful)}")


class Guan2020(Published):
    """Everything that is compared with this paper."""

    model: str
    task: str
    heads: int
    conditions: list[PublishedCondition]
    shares: PublishedShares
    stability: PublishedStability
    documented: DocumentedScores
    levels: dict[LevelName, Level]
    claims: list[Claim]

    @property
    def rows(self) -> tuple[str, ...]:
        """What a model in the config can stand beside: the rows of Table 1."""
        return tuple(self.stability.models)

    @property
    def baseline(self) -> PublishedCondition:
        """The condition that does nothing."""
        return next(condition for condition in self.conditions if not condition.operations)

    def condition_with(self, operations: Mapping[str, str]) -> PublishedCondition | None:
        """Return the condition with these operations, or None; types that are kept do not count, single heads do."""
        wanted = {
            target: operation for target, operation in operations.items() if operation != "keep" or head_of(target)
        }
        return next((condition for condition in self.conditions if condition.operations == wanted), None)


def read_guan2020(path: str | Path) -> Guan2020:
    """Read `reference/guan2020.yaml`. Raises `InputError` that names the file and the key that is wrong."""
    return read_published(path, Guan2020)
