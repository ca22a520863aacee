"""Names of the types of heads."""

# Guan et al. 2020, section 4: the four patterns of attention.
TYPES = ("dense", "diagonal", "dense_vertical", "vertical")

# Where a type could stand: heads of every type.
ALL = "all"

# A type's name becomes part of a table, a figure and a condition.
TYPE_NAME = r"[A-Za-z0-9_-]+"


def type_names(k: int) -> tuple[str, ...]:
    """The types of a partition into `k` clusters: the paper's for four, else numbered by rising special mass."""
    return TYPES if k == len(TYPES) else tuple(f"type-{number}" for number in range(1, k + 1))
