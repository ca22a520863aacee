"""Kinds of heads over models, for the summary."""

from collections.abc import Iterable

from headtypes.comparisons.heads.figure import MOST
from headtypes.comparisons.heads.kinds import COLUMNS
from headtypes.core.table_files import read_csv
from headtypes.core.tables import Column, Table, TextColumn, interval, probability

_COLUMNS = [
    TextColumn("looks", "what its heads do"),
    Column("heads", "heads", digits=0),
    Column("models", "models", digits=0, note="in how many models the kind occurs"),
    Column("families", "families", digits=0, note="in how many families of models"),
    Column(
        "random",
        "by chance",
        digits=1,
        ends=interval("random"),
        note="in how many models as many heads are that are drawn from all models; 95 % of the draws",
    ),
    Column("p_holm", "p", write=probability, note="that so many models have it, corrected for the number of kinds"),
]


def kinds_shown(path: str, task: str) -> Iterable[Table]:
    """Kinds of heads in how many models, if there are any; path: a table of `kinds.kinds_table` as CSV.

    Raises `InputError` that names a damaged file.
    """
    kinds = read_csv(path, "lists no kinds of heads", COLUMNS, rows=0)
    about = "Heads that do much the same, whatever their model and layer, and in how many of the models they are."
    if len(kinds) > MOST:
        about += f" The first {MOST} of {len(kinds)}."
    return [Table(f"Kinds of heads: {task}", kinds.head(MOST), _COLUMNS, about=about)] if len(kinds) else []
