"""The numbers that Guan et al. 2020 published, and their contradictions, as `reference/guan2020.yaml` has them."""

from collections.abc import Mapping

from headtypes.attention.operations import head_of
from headtypes.papers.paper import Data, Published

METRICS = {"exact_match": "exact match", "f1": "F1"}
# The model of the paper's Figures 1 to 3, with which it compares the others.
MAIN_MODEL = "squad"


class PublishedCondition(Data):
    """A row of Table 2 or 3: an ablation with its number in the paper, {type: operation} and scores in percent."""

    id: int
    table: int
    operations: dict[str, str]
    exact_match: float
    f1: float


class PublishedShares(Data):
    """The published percent of heads of each type, {type: percent}, and its place in the paper."""

    place: str
    types: dict[str, float]


class PublishedStability(Data):
    """The published stability; models: {row of Table 1: percent on which clusterings of random halves all agree}.

    The paper calls it a percent of "input samples" in one place, and of "attention heads" in another.
    """

    place: str
    models: dict[str, float]


class Guan2020(Published):
    """The values that Guan et al. 2020 publish; `task` is the name of the data set on which they were measured."""

    task: str
    conditions: list[PublishedCondition]
    shares: PublishedShares
    stability: PublishedStability

    @property
    def rows(self) -> tuple[str, ...]:
        return tuple(self.stability.models)

    @property
    def baseline(self) -> PublishedCondition:
        return next(condition for condition in self.conditions if not condition.operations)

    def condition_with(self, operations: Mapping[str, str]) -> PublishedCondition | None:
        """Return the paper's condition that does the same to the same types; None if the paper has none.

        operations: {type or head: operation}. A type with "keep" counts as absent. A head makes the result None.
        """
        wanted = {
            target: operation for target, operation in operations.items() if operation != "keep" or head_of(target)
        }
        return next((condition for condition in self.conditions if condition.operations == wanted), None)
