"""The heads of noun phrases, found in the pieces of a bracketed parse (Collins 1999, appendix A)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

_BIT = re.compile(r"\(([^()*]+)|\*|\)")


@dataclass
class _Phrase:
    """A word or a constituent. label: its category, of a word its part of speech; words: it covers [start, stop)."""

    label: str
    start: int
    stop: int = 0
    children: list["_Phrase"] = field(default_factory=list)


def head_by_parse(parse: Sequence[str], xpos: Sequence[str], start: int, stop: int) -> int:
    """The head word of the words [start, stop) of a sentence, counted from 0.

    parse: a piece for each word of the sentence, such as `(NP*` and `*)`; xpos: parts of speech of the Penn Treebank.
    Collins' rules for noun phrases are applied to the constituent that consists of these words, or, where none does, to
    the largest constituents among them, and again to the child that they choose, until that is a word.
    """
    return _head(_Phrase("NP", start, stop, list(_largest(_tree(parse, xpos), start, stop))))


def _tree(parse: Sequence[str], xpos: Sequence[str]) -> _Phrase:
    top = _Phrase("", 0, len(parse))
    opened = [top]
    for word, bit in enumerate(parse):
        for mark in _BIT.finditer(bit):
            if mark[0] == "*":
                opened[-1].children.append(_Phrase(xpos[word], word, word + 1))
            elif mark[0] == ")":
                opened.pop().stop = word + 1
            else:
                phrase = _Phrase(mark[1], word)
                opened[-1].children.append(phrase)
                opened.append(phrase)
    return top


def _largest(phrase: _Phrase, start: int, stop: int) -> Iterator[_Phrase]:
    """The largest constituents inside of [start, stop)."""
    for child in phrase.children:
        if start <= child.start and child.stop <= stop:
            yield child
        elif child.start < stop and start < child.stop:
            yield from _largest(child, start, stop)


def _head(phrase: _Phrase) -> int:
    while phrase.children:
        phrase = _head_child(phrase.children)
    return phrase.start


def _head_child(children: Sequence[_Phrase]) -> _Phrase:
    def first(order: Sequence[_Phrase], *labels: str) -> _Phrase | None:
        return next((child for child in order if _category(child.label) in labels), None)

    from_right = children[::-1]
    if children[-1].label == "POS":
        return children[-1]
    return (
        first(from_right, "NN", "NNP", "NNPS", "NNS", "NX", "NML", "POS", "JJR")
        or first(children, "NP")
        or first(from_right, "$", "ADJP", "PRN")
        or first(from_right, "CD")
        or first(from_right, "JJ", "JJS", "RB", "QP")
        or children[-1]
    )


def _category(label: str) -> str:
    """A label without functions, `NP-SBJ`; brackets are labels such as `-LRB-`."""
    return label if label.startswith("-") else re.split("[-=]", label)[0]
