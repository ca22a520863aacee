"""What can be done to a head, to which heads, and how the paper's text on it is read (Guan et al. 2020, section 5)."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headtypes.base.errors import InputError

if TYPE_CHECKING:
    import numpy as np

OPERATIONS = ("keep", "zero", "uniform", "mean", "drop_intra", "drop_inter")

_HEAD = re.compile(r"([1-9][0-9]*)-([1-9][0-9]*)")


@dataclass(frozen=True)
class Reading:
    """How the paper's text is read where it leaves a choice.

    sentences:      "splitter", or "segments": the two texts of an input are its two sentences.
    special_tokens: "neither", or "inter": attention to or from `[CLS]` and `[SEP]` is inter-sentence.
    renormalise:    whether rows of attention are divided by their sum after tokens were dropped. That equals masking
        them before the softmax, so it stands for that reading too; only of a row that loses everything would such a
        mask leave nothing defined, and here it becomes zero.
    uniform_over_padding: whether 1 / L counts the padding of a full window as tokens, with their values, as code does
        that fills the matrix after the softmax. Every other operation masks padding all the same.
    """

    sentences: str = "splitter"
    special_tokens: str = "neither"
    renormalise: bool = False
    uniform_over_padding: bool = False


def reading_matters(operations: Iterable[str]) -> tuple[str, ...]:
    """The fields of `Reading` that can change what these operations do, in their order."""
    operations = set(operations)
    drops = ("sentences", "special_tokens", "renormalise") if operations & {"drop_intra", "drop_inter"} else ()
    return (*drops, "uniform_over_padding") if "uniform" in operations else drops


def head_of(target: str) -> tuple[int, int] | None:
    """Layer and head, from 0, of a target that names one head, `layer-head` from 1; None of any other."""
    found = _HEAD.fullmatch(target)
    return (int(found[1]) - 1, int(found[2]) - 1) if found else None


def operations_by_head(types: "np.ndarray", operations: Mapping[str, str], condition: str) -> "np.ndarray":
    """The operation on each head: [layer, head] text; `keep` where none is given.

    types:      [layer, head] type of each head.
    operations: {target: operation}; a target is a type, or one head as `head_of` reads it, whose operation goes before
        that of its type.
    condition:  its name, for messages.
    Raises `InputError` where the model has no such head, or no head of such a type.
    """
    by_head = types.copy()
    by_head[...] = "keep"
    single = {}
    for target, operation in operations.items():
        of_type, head = types == target, head_of(target)
        if of_type.any():
            by_head[of_type] = operation
        elif head is None:
            raise InputError(f'conditions.{condition}: no head of the model has the type "{target}".')
        elif not all(number < size for number, size in zip(head, types.shape, strict=True)):
            raise InputError(
                f"conditions.{condition}: there is no head {target}; the model has {types.shape[0]} layers of "
                f"{types.shape[1]} heads, both counted from 1."
            )
        else:
            single[head] = operation
    for head, operation in single.items():
        by_head[head] = operation
    return by_head
