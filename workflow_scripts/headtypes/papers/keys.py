"""What results are of: names that JSON lists, as keys of mappings, and names in columns of tables."""

from collections.abc import Iterable

# Options of `table_files.read_csv`: a name may be a number, or what pandas takes for a missing value.
NAMED = {
    "dtype": dict.fromkeys(("model", "partition", "task", "condition", "doubtful"), str),
    "keep_default_na": False,
    "na_values": [""],
}


def by_key(names: Iterable[Iterable[str]], values: Iterable) -> dict:
    """Map each name to its value; names become tuples again, which JSON had turned into lists."""
    return {tuple(name): value for name, value in zip(names, values, strict=True)}
