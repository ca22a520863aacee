"""What results are of: names that JSON lists, as keys of mappings."""

from collections.abc import Iterable


def by_key(names: Iterable[Iterable[str]], values: Iterable) -> dict:
    """Map each name to its value; names become tuples again, which JSON had turned into lists."""
    return {tuple(name): value for name, value in zip(names, values, strict=True)}
