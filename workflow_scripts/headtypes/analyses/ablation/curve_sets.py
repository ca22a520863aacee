"""How many sets of heads a curve has. Planning reads it, so nothing heavy is imported here."""

# Sets of heads that are removed in one order, from no heads to all of them.
POINTS = 6


def most_sets(types: int) -> int:
    """The most sets that are removed in one order, of every type, and of all heads with one more set for each type."""
    return (types + 1) * POINTS + types
