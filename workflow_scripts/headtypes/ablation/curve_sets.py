"""How many sets of heads a curve has; planning asks for time by it, so nothing heavy is imported here."""

# From no head to all of one order.
POINTS = 6


def most_sets(types: int) -> int:
    """The most sets of heads that are removed in one order: of each type, and of all heads.

    All heads have a set besides for each type, of as many heads (`curves.growing_sets`).
    """
    return (types + 1) * POINTS + types
