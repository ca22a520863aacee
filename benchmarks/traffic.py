"""How often does a GPU read and write an attention map while distance features are read?

    python benchmarks/traffic.py
    python benchmarks/traffic.py --tokens 4096 --samples 1 --heads 32

Runs from anywhere on a CPU, without data or network: a layer with random queries, keys and values is read in the blocks
and by the operations that a GPU takes, and every operation is counted. Prints a Markdown table with a row for each
operation on tensors of a map's size (at least half of one), and the sums of these and of all operations: calls, and
bytes read and written, in maps [sample, head, query, key] of the model's precision. The plain model's fused attention
reads and writes none. Operations that the layer needs without any reading are counted as well.
"""

import argparse
import math
import os
import sys
from pathlib import Path
from unittest.mock import patch

os.environ |= {"HF_HUB_OFFLINE": "1"}
sys.path.insert(0, str(Path(__file__).parents[1] / "workflow_scripts"))

import numpy as np
import pandas as pd
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from headtypes.analyses.distances.measure import DistanceFeatures
from headtypes.attention.hook import Batch, Layer
from headtypes.attention.one_pass import AttentionReader
from headtypes.attention.reducers import Pass
from headtypes.core.tables import markdown_table

CHANNELS = 64
# One token in so many is special, of one of the four kinds.
SPECIAL = 9
WAYS = [f"headtypes.attention.{module}.at_once" for module in ("hook", "one_pass")]


class Traffic(TorchDispatchMode):
    """Counts what operations read and write.

    found: (operation, largest memory that it touches, read and written) of each call that makes no view, in bytes.
    """

    def __init__(self):
        """Begin with nothing."""
        super().__init__()
        self.found: list[tuple[str, int, int]] = []

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        """Run an operation, and note it."""
        kwargs = kwargs or {}
        result, name = operation(*args, **kwargs), operation.overloadpacket.__name__
        # What an operation writes to is among its results.
        given = [args, {key: value for key, value in kwargs.items() if key != "out"}]
        read, written = ([each for each in tree_leaves(of) if isinstance(each, Tensor)] for of in (given, result))
        sizes = [bytes_of(each) for each in (*read, *written)]
        if name == "gather" and args[1] % args[0].dim() < args[0].dim() - 1:
            sizes[0] = sizes[-1]
        elif name in ("copy_", "fill_", "zero_"):
            # These only write to what they are called on. Columns gathered from rows lie in nearly all lines of memory.
            sizes[0] = 0
        if not operation.is_view and name not in ("_unsafe_view", "empty", "new_empty"):
            touched = max((each.untyped_storage().nbytes() for each in (*read, *written)), default=0)
            self.found.append((name.strip("_"), touched, sum(sizes)))
        return result


def bytes_of(tensor: Tensor) -> int:
    """The memory that a tensor covers; what is expanded counts once."""
    return tensor.element_size() * math.prod(
        size for size, step in zip(tensor.shape, tensor.stride(), strict=True) if step
    )


@torch.no_grad()
def traffic(dtype: torch.dtype, tokens: int = 1024, samples: int = 1, heads: int = 16) -> pd.DataFrame:
    """Operations on tensors of a map's size, these together, and all: calls, and maps that they read and write."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    parts = (torch.randn(samples, tokens, heads, CHANNELS, dtype=dtype).transpose(1, 2) for _ in range(3))
    layer = Layer(*parts, mask=None, scale=CHANNELS**-0.5)
    kinds = [np.where(rng.random(tokens) < 1 / SPECIAL, rng.integers(1, 5, tokens), 0) for _ in range(samples)]
    reducer, ids = DistanceFeatures(kinds), torch.zeros(samples, tokens, dtype=torch.int64)
    reducer.begin(Pass(samples, 2, heads, dtype))
    with patch(WAYS[0], lambda device: True), patch(WAYS[1], lambda device: True):
        reader = AttentionReader([reducer], Batch(np.arange(samples), [tokens] * samples, {"input_ids": ids}))
        # What is made once for a batch is not counted.
        reader(0, layer)
        with Traffic() as counted:
            reader(1, layer)
    a_map = samples * heads * tokens**2 * layer.query.element_size()
    rows = pd.DataFrame(counted.found, columns=["operation", "touched", "maps"]).assign(calls=1)
    rows["maps"] /= a_map
    large = rows[rows.touched >= a_map / 2]
    by_operation = large.groupby("operation")[["calls", "maps"]].sum().sort_values("maps", ascending=False)
    by_operation.loc["of a map's size"] = large[["calls", "maps"]].sum()
    by_operation.loc["all"] = rows[["calls", "maps"]].sum()
    return by_operation.astype({"calls": int}).reset_index()


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, usual in (("tokens", 1024), ("samples", 1), ("heads", 16)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    given = parser.parse_args()
    for dtype in (torch.bfloat16, torch.float32):
        print(f"\n{dtype}, {given}\n\n{markdown_table(traffic(dtype, **vars(given)))}")


if __name__ == "__main__":
    main()
