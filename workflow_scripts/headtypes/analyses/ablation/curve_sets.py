"""How many sets of heads a curve has. Planning estimates run times from it, so nothing heavy is imported here."""

# Sets of heads that are removed in one order, from no heads to all of them.
POINTS = 6


def most_sets(types: int) -> int:
    """The most sets of heads that are removed in one order, summed over the curves of every type and of all heads.

    The curve of all heads has one more set for each type, with as many heads as the type has (`curves.growing_sets`).
    """
    return (types + 1) * POINTS + types
