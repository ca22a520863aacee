"""What Guan et al. 2020 published: their numbers, contradictions and claims, as `reference/guan2020.yaml` has them."""

from pathlib import Path

from headtypes.papers import claims
from headtypes.papers.claims import NoVerdictError, join
from headtypes.papers.guan2020.rules import AnyRule
from headtypes.papers.guan2020.values import PublishedValues
from headtypes.papers.guan2020.words import doubtful_of, types_of
from headtypes.papers.published import read_published
from headtypes.papers.quantities import Quantities


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


class Guan2020(PublishedValues):
    """Everything that is compared with this paper."""

    claims: list[Claim]


def read_guan2020(path: str | Path) -> Guan2020:
    """Read `reference/guan2020.yaml`. Raises `InputError` that names the file and the key that is wrong."""
    return read_published(path, Guan2020)
