"""The numbers that Guan et al. 2020 published, as `reference/guan2020.yaml` has them."""

from collections.abc import Mapping
from typing import Literal

from headtypes.attention.operations import head_of
from headtypes.papers.published import Data, Published

LevelName = Literal["no_longer_works", "still_works", "costs_little"]


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


class PublishedValues(Published):
    """The numbers that are compared with this paper."""

    model: str
    task: str
    heads: int
    conditions: list[PublishedCondition]
    shares: PublishedShares
    stability: PublishedStability
    documented: DocumentedScores
    levels: dict[LevelName, Level]

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
