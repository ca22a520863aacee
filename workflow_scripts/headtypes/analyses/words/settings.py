"""Readings of these analyses, by the configuration's names."""

from typing import Literal

# Which words of a document are read: the first that fit into an input, as the paper does; or all, in chunks that fit.
Extent = Literal["first", "chunks"]
# Where the root stands among the words' vectors: before the first word; or, as in the released code, behind the last,
# so that every candidate is given the vector of the next word. There a word may be its own head, too.
Root = Literal["first", "released"]
