"""The numbers that Guan et al. 2020 published, and their contradictions, as `reference/guan2020.yaml` has them."""

from collections.abc import Mapping

from headtypes.attention.operations import head_of
from headtypes.papers.paper import Data, Published

METRICS = {"exact_match": "exact match", "f1": "F1"}
# The model of the paper's Figures 1 to 3, with which it compares the others.
MAIN_MODEL = "squad"


class PublishedCondition(Data):
    """An ablation and its scores in percent.

    operations: operation by type, for the types that are not kept; table: where it stands in the paper.
    """

    id: int
    table: int
    operations: dict[str, str]
    exact_match: float
    f1: float


class PublishedShares(Data):
    """Each type's share of all heads, in percent."""

    place: str
    types: dict[str, float]


class PublishedStability(Data):
    """Stability in percent, by what the model was trained on."""

    place: str
    models: dict[str, float]


class Guan2020(Published):
    """Everything that is compared with this paper."""

    task: str
    conditions: list[PublishedCondition]
    shares: PublishedShares
    stability: PublishedStability

    @property
    def rows(self) -> tuple[str, ...]:
        """Names of the rows of Table 1, one of which a model in the config may name to be compared with it."""
        return tuple(self.stability.models)

    @property
    def baseline(self) -> PublishedCondition:
        return next(condition for condition in self.conditions if not condition.operations)

    def condition_with(self, operations: Mapping[str, str]) -> PublishedCondition | None:
        """Return the published condition with these operations, or None.

        Types with the operation `keep` do not count, heads with it do.
        """
        wanted = {
            target: operation for target, operation in operations.items() if operation != "keep" or head_of(target)
        }
        return next((condition for condition in self.conditions if condition.operations == wanted), None)
