"""Names of heads, and tables with a row for each."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd


def head_name(layer: int, head: int) -> str:
    """Return the name of a head for a reader, `layer-head`, both counted from 1; layer, head: counted from 0."""
    return f"{layer + 1}-{head + 1}"


def head_table(shape: tuple[int, int], columns: Mapping[str, Any]) -> pd.DataFrame:
    """Return a table with one row per head, layer by layer, and the columns layer, head (both from 0) and `columns`.

    shape: (layers, heads per layer); columns: {name: values in the order of rows, or one value for all heads}.
    """
    layer, head = np.indices(shape).reshape(2, -1)
    return pd.DataFrame({"layer": layer, "head": head, **columns})
