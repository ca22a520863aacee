"""Tables with a row for each head."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd


def per_head(shape: tuple[int, int], columns: Mapping[str, Any]) -> pd.DataFrame:
    """One row per head, layer by layer: layer, head (both from 0), and the columns, with a value for each, or for all.

    shape: layers, heads of a layer.
    """
    layer, head = np.indices(shape).reshape(2, -1)
    return pd.DataFrame({"layer": layer, "head": head, **columns})
