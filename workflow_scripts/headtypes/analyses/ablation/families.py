"""From where random heads are drawn that stand beside a condition's own.

layer:   as many of each layer, from all of its heads.
others:  as many of each layer, from those of its heads that the condition keeps.
profile: from all heads of the model that look alike, by near, special and far, as many as a layer has.
"""

from typing import Literal, get_args

LAYER = "layer"
Further = Literal["others", "profile"]
FAMILIES = (LAYER, *get_args(Further))


def prefix(family: str) -> str:
    """What stands before the names of a family's columns where a row is about all of them."""
    return "" if family == LAYER else f"{family}_"
