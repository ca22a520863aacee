"""The numbers that Guan et al. 2020 published, and their contradictions, as `reference/guan2020.yaml` has them."""

from collections.abc import Mapping

from headtypes.attention.operations import head_of
from headtypes.papers.paper import Data, Published

METRICS = {"exact_match": "exact match", "f1": "F1"}
# The model of the paper's Figures 1 to 3, with which it compares the others.
MAIN_MODEL = "squad"


class PublishedCondition(Data):
    """A published ablation, with its scores in percent.

    id: number of the condition in the paper.
    table: number of the table in the paper, 2 or 3.
    operations: operation by type, without the types that are kept.
    """

    id: int
    table: int
    operations: dict[str, str]
    exact_match: float
    f1: float


class PublishedShares(Data):
    """The published share of each type among all heads.

    place: the place in the paper.
    types: percent of heads, by type.
    """

    place: str
    types: dict[str, float]


class PublishedStability(Data):
    """The published stability of the clustering of heads.

    place: the place in the paper.
    models: percent, by the data on which a model was trained.
    """

    place: str
    models: dict[str, float]


class Guan2020(Published):
    """The published data of Guan et al. 2020.

    task: the data on which the paper's values were measured.
    conditions: rows of Tables 2 and 3.
    shares: shares of the types. stability: stability of the clustering, Table 1.
    """

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
        """Return the published condition with the given operations, or None.

        operations: operation by type or head. Types with the operation `keep` do not count, but single heads with
            `keep` do.
        """
        wanted = {
            target: operation for target, operation in operations.items() if operation != "keep" or head_of(target)
        }
        return next((condition for condition in self.conditions if condition.operations == wanted), None)
