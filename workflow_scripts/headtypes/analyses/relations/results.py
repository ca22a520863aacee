"""The accuracies of heads at dependency relations, and the best heads, as CSV."""

import pandas as pd

from headtypes.core.files import StrPath
from headtypes.core.table_files import read_csv

# A treebank may call a relation by a number, or by what pandas takes for a missing value.
NAMED = {"dtype": {"annotation": str, "relation": str}, "keep_default_na": False, "na_values": [""]}
_HEADS = ("annotation", "relation", "part", "layer", "head", "direction", "accuracy")
_BEST = (
    *("annotation", "relation", "chosen", "scored", "words", "layer", "head", "direction", "offset"),
    *("accuracy", "other_accuracy", "offset_accuracy", "above_offset", "left_out"),
)


def read_relations(path: StrPath) -> pd.DataFrame:
    """Read the table of all heads of `relations.measure_relations`. Raises `InputError` that names a damaged file."""
    return read_csv(path, "holds no accuracies of relations", _HEADS, **NAMED)


def read_best_heads(path: StrPath) -> pd.DataFrame:
    """Read the table of the best heads of `relations.measure_relations`; errors name a damaged file."""
    return read_csv(path, "holds no best heads", _BEST, **NAMED).fillna({"left_out": ""})


def chosen_and_scored_on_file(best: pd.DataFrame) -> pd.DataFrame:
    """The best heads as the paper has them, chosen and scored on the same sentences."""
    return best[(best["chosen"] == "file") & (best["scored"] == "file")]
