"""What Clark et al. 2019 published: their numbers, contradictions and claims, as `reference/clark2019.yaml` has them.

The claims are those of sections 3 and 6.
"""

from pathlib import Path

from headtypes.papers import claims
from headtypes.papers.clark2019.rules import AnyRule
from headtypes.papers.clark2019.values import PublishedValues
from headtypes.papers.published import read_published


class Claim(claims.Claim[AnyRule]):
    """A claim about surface patterns, gradients or distances between heads."""


class Clark2019(PublishedValues):
    """Everything that is compared with this paper."""

    claims: list[Claim]


def read_clark2019(path: str | Path) -> Clark2019:
    """Read `reference/clark2019.yaml`. Raises `InputError` that names the file and the key that is wrong."""
    return read_published(path, Clark2019)
