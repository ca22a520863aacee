"""Operations on heads, and readings of the paper's text on them (Guan et al. 2020, section 5)."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from headtypes.core.errors import InputError, nearest

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor

_HEAD = re.compile(r"([1-9][0-9]{0,8})-([1-9][0-9]{0,8})")


@dataclass(frozen=True)
class Reading:
    """One way to read the passages of Guan et al. 2020, section 5, that leave something open."""

    # The configuration has these fields too, with these descriptions.
    sentences: Literal["splitter", "segments"] = field(
        default="splitter",
        metadata={"doc": "Sentences of the context by a splitter, or question and context as the two sentences."},
    )
    special_tokens: Literal["neither", "inter", "cut"] = field(
        default="neither",
        metadata={
            "doc": "Whether attention between [CLS] or [SEP] and other tokens stays, is dropped as attention between "
            "sentences is, or is dropped (cut) whichever of the two is."
        },
    )
    # This is the same as masking before the softmax, so it covers that reading too. They differ only if a row loses
    # every token: a mask would leave it undefined, and here it becomes zero.
    renormalise: bool = field(
        default=False,
        metadata={
            "doc": "Whether rows are divided by their sum after tokens were dropped, as if they were masked before the "
            "softmax."
        },
    )
    # Padding then counts towards the L of 1 / L, and its values enter the mean, as in code that fills the matrix after
    # the softmax. Every other operation still masks padding.
    uniform_over_padding: bool = field(
        default=False, metadata={"doc": "Whether a uniform head attends to the padding of a full window too."}
    )


@dataclass(frozen=True)
class Operation:
    """An operation that a condition applies to heads, such as `zero` or `temperature 2`.

    table: number of our table, after Guan et al. 2020, that shows conditions with this operation.
    change: function that returns the heads' new outputs, [sample, head, query, channel], or what broadcasts to them. It
        takes an `ablate.AblatedHeads`, and "2" as `number` for `temperature 2`, say. `change` is None to keep heads.
    number: regular expression of what may follow the name, such as `( [0-9]+)?`; "" for none. takes: the same in words.
    draws: whether the number is the seed of random draws.
    readings: fields of `Reading` that can change the operation's result.
    """

    name: str
    table: Literal[2, 3]
    change: "Callable[..., Tensor | float] | None" = None
    number: str = ""
    takes: str = "no number"
    draws: bool = False
    readings: tuple[str, ...] = ()
    needs_head_outputs: bool = False
    needs_sentences: bool = False


def _uniform(heads) -> "Tensor":
    # A[s, t] = 1 / L, with L the number of tokens that s may look at or, over padding, of all tokens.
    if heads.layer.mask is None or heads.ablation.reading.uniform_over_padding:
        return heads.layer.value.mean(2, keepdim=True)
    return heads.layer.uniform().head_outputs()


def _resample(heads, number: str = "0") -> "Tensor":
    outputs, layer = heads.layer.head_outputs(), heads.all_heads
    drawn = heads.group.drawn(layer.mask, seed=int(number), layer=heads.layer_number, heads=layer.query.shape[1])
    return outputs.gather(2, drawn[..., heads.head_numbers].transpose(1, 2)[..., None].expand_as(outputs))


def _drop(heads, pairs: Literal["intra", "inter"]) -> "Tensor":
    outputs = heads.layer.zero_outputs()
    for block, layer, rows, attention in heads.blocks():
        attention *= heads.ablation.pairs_left(heads.group, pairs, rows.start, rows.stop).to(attention.dtype)
        if heads.ablation.reading.renormalise:
            attention = layer.renormalised(attention, rows)
        outputs[block] = attention @ layer.value
    return outputs


_OF_DROPS = ("sentences", "special_tokens", "renormalise")
# Six decimals at most: scores divided by less than a millionth overflow.
_ABOVE_0 = " (?=.*[1-9])[0-9]+([.][0-9]{1,6})?"
OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation("keep", 2),
        # The bias of the output projection stays.
        Operation("zero", 2, lambda heads: 0.0),
        Operation("uniform", 2, _uniform, readings=("uniform_over_padding",)),
        Operation("mean", 2, lambda heads: heads.mean_outputs, needs_head_outputs=True),
        Operation(
            "temperature",
            2,
            lambda heads, number: heads.layer.at_temperature(float(number)).head_outputs(),
            _ABOVE_0,
            "a number above 0 of at most six decimals, as in temperature 2",
        ),
        Operation(
            "resample",
            2,
            _resample,
            "( [0-9]+)?",
            "a whole number for another draw, as in resample 2, or none",
            draws=True,
            needs_sentences=True,
        ),
        Operation("drop_intra", 3, partial(_drop, pairs="intra"), readings=_OF_DROPS, needs_sentences=True),
        Operation("drop_inter", 3, partial(_drop, pairs="inter"), readings=_OF_DROPS, needs_sentences=True),
    )
}


def operation_of(text: str | Callable) -> Operation:
    """Return the operation that a text such as `temperature 2` names, or one that changes attention by a function.

    A function takes attention, [sample, head, row, key], and the slice of its query rows, and returns other attention.
    """
    if callable(text):
        return Operation("own", 2, lambda heads: heads.changed(text))
    name, _, number = text.partition(" ")
    if name not in OPERATIONS:
        raise InputError(f"There is no operation {text!r}.{nearest(name, OPERATIONS)} Known: {', '.join(OPERATIONS)}.")
    operation = OPERATIONS[name]
    if not re.fullmatch(operation.number, text.removeprefix(name)):
        raise InputError(f"{name} takes {operation.takes}; found {text!r}.")
    return replace(operation, change=partial(operation.change, number=number)) if number else operation


def seeded(text: str, seed: int) -> str:
    """Return an operation's text, with `seed` as its number if the operation draws at random, as `resample 2` does."""
    operation = operation_of(text)
    return f"{operation.name} {seed}" if operation.draws else text


def reading_matters(operations: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the fields of `Reading`, in order, that can change the result of any of these operations."""
    matter = {name for operation in operations for name in operation_of(operation).readings}
    return tuple(field.name for field in fields(Reading) if field.name in matter)


def need_head_outputs(operations: Iterable[str]) -> bool:
    return any(operation_of(operation).needs_head_outputs for operation in operations)


def table_of(operations: Iterable[str]) -> int:
    """Return the number of our table for a condition, as in Guan et al.: 3 if it drops pairs of tokens, else 2."""
    return max((operation_of(operation).table for operation in operations), default=2)


def head_of(target: str) -> tuple[int, int] | None:
    """Return layer and head, from 0, that a text `layer-head` names, counting from 1; None for any other text."""
    match = _HEAD.fullmatch(target)
    return (int(match[1]) - 1, int(match[2]) - 1) if match else None


def operations_by_head(types: "np.ndarray", operations: Mapping[str, str], where: str) -> "np.ndarray":
    """Return the operation on each head: [layer, head] text, `keep` for a head without an operation.

    types: [layer, head] type of each head. where: key of the operations in the configuration, for messages.
    operations: {target: operation}. A target is a type, or a head such as `1-12` (layer 1, head 12, from 1). A head's
        own operation replaces that of its type. Raises `InputError` if the model has no head of a target.
    """
    by_head = types.copy()
    by_head[...] = "keep"
    # Types come first, so that a head's own operation replaces that of its type.
    for target in sorted(operations, key=lambda target: target not in types):
        of_type, head = types == target, head_of(target)
        if of_type.any():
            by_head[of_type] = operations[target]
        elif head is None:
            raise InputError(f'{where}: no head of the model has the type "{target}".')
        elif not all(number < size for number, size in zip(head, types.shape, strict=True)):
            raise InputError(
                f"{where}: there is no head {target}; the model has {types.shape[0]} layers of "
                f"{types.shape[1]} heads, both counted from 1."
            )
        else:
            by_head[head] = operations[target]
    return by_head
