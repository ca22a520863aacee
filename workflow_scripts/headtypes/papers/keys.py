"""Tables of ours whose columns name models, tasks and partitions."""

import pandas as pd

from headtypes.core.table_files import read_csv

# A model, and a partition or a task; and the columns that name them.
Key = tuple[str, str]
PARTITION_KEYS, TASK_KEYS = ["model", "partition"], ["model", "task"]
# The name of the config's own reading, where verdicts stand under several.
OWN_READING = "ablation"
# Options of `table_files.read_csv`: a name may be a number, or what pandas takes for a missing value.
NAMED = {
    "dtype": dict.fromkeys(("model", "partition", "task", "condition", "doubtful"), str),
    "keep_default_na": False,
    "na_values": [""],
}


def read_named(path: str, *columns: str) -> pd.DataFrame:
    """A table of ours with a model and these columns. Raises `InputError` that names a damaged file."""
    return read_csv(path, "is not such a table", ["model", *columns], rows=0, **NAMED)
