"""First, middle and last layers, so that what a paper says of them can be asked of models of any depth."""

from typing import Literal

Third = Literal["first", "middle", "last"]
THIRDS: tuple[Third, ...] = ("first", "middle", "last")


def third_of(layer: int, layers: int) -> Third:
    """The third of the layers that the middle of a layer (from 0) lies in."""
    return THIRDS[(6 * layer + 3) // (2 * layers)]
