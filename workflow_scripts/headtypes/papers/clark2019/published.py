"""What Clark et al. 2019 published: numbers, contradictions and claims, as `reference/clark2019.yaml` has them."""

from pathlib import Path
from typing import Annotated

from pydantic import Field, model_validator

from headtypes.papers import claims
from headtypes.papers.clark2019.language.rules import LanguageRule
from headtypes.papers.clark2019.rules import About, TextRule
from headtypes.papers.clark2019.values import PublishedValues
from headtypes.papers.published import read_published

AnyRule = Annotated[TextRule | LanguageRule, Field(discriminator="kind")]


class Claim(claims.Claim[AnyRule]):
    """A claim about texts (surface patterns, gradients, distances between heads), treebanks or coreference."""

    @property
    def about(self) -> About:
        """The kind of task that decides it."""
        return self.rules[0].about

    @model_validator(mode="after")
    def _is_about_one_kind(self) -> "Claim":
        if len({rule.about for rule in self.rules}) > 1:
            raise ValueError(f"{self.id} has rules about several kinds of task")
        return self


class Clark2019(PublishedValues):
    """Everything that is compared with this paper."""

    claims: list[Claim]

    def claims_about(self, kind: About) -> list[Claim]:
        """The claims that a task of this kind decides, in their order."""
        return [claim for claim in self.claims if claim.about == kind]


def read_clark2019(path: str | Path) -> Clark2019:
    """Read `reference/clark2019.yaml`. Raises `InputError` that names the file and the key that is wrong."""
    return read_published(path, Clark2019)
