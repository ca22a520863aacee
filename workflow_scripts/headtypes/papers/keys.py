"""Names of models, tasks and partitions in columns of tables."""

# Options of `table_files.read_csv`: a name may be a number, or what pandas takes for a missing value.
NAMED = {
    "dtype": dict.fromkeys(("model", "partition", "task", "condition", "doubtful"), str),
    "keep_default_na": False,
    "na_values": [""],
}
