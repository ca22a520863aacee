"""What does reading every head's distance features cost on a GPU, beside the plain model?

    python benchmarks/gpu_extraction.py [tokens] [samples] [precision]

A random BERT-large on a batch of samples, by default 42 of 384 tokens at most in bfloat16. One layer's attention and
the whole forward pass are timed with `scaled_dot_product_attention` and with `headtypes.distance`, by turns; printed
are medians, and peak memory above the loaded model. Full samples need no mask; of ragged ones, each is two thirds of
the longest or more. Runs anywhere without data or network, on a CPU for a try alone.
"""

import copy
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow_scripts"))

import numpy as np
import pandas as pd
import torch
from transformers import BertConfig, BertModel

from headtypes.attention import ATTENTION, Layer, run
from headtypes.distance import DistanceReader
from headtypes.markdown import markdown_table

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
SIZES = {"hidden_size": 1024, "num_attention_heads": 16, "intermediate_size": 4096, "num_hidden_layers": 24}


def seconds(ways: dict, repeats: int = 20) -> dict[str, float]:
    """The median time of each way; they take turns, after two rounds that count for nothing."""
    took = {name: [] for name in ways}
    for round_number in range(repeats + 2):
        for name, way in ways.items():
            synchronize()
            start = time.perf_counter()
            way()
            synchronize()
            if round_number >= 2:
                took[name].append(time.perf_counter() - start)
    return {name: statistics.median(each) for name, each in took.items()}


def synchronize() -> None:
    """Wait for the GPU."""
    if DEVICE.type == "cuda":
        torch.cuda.synchronize()


def peak(way) -> int:
    """The bytes that a way takes at most, above what is taken already."""
    if DEVICE.type != "cuda":
        return 0
    synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    way()
    synchronize()
    return torch.cuda.max_memory_allocated() - before


@torch.inference_mode()
def measure(tokens: int, samples: int, dtype: torch.dtype, ragged: bool) -> list[dict]:
    """The rows of the table of one batch."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(2 * tokens // 3, tokens + 1, samples) if ragged else np.full(samples, tokens)
    lengths[0] = tokens
    kinds = [rng.choice(5, length, p=[0.88, 0.03, 0.03, 0.03, 0.03]) for length in lengths]
    real = torch.arange(tokens) < torch.from_numpy(lengths)[:, None]
    inputs = {
        "input_ids": torch.from_numpy(rng.integers(5, 1000, (samples, tokens))).to(DEVICE),
        "attention_mask": real.long().to(DEVICE),
    }
    torch.manual_seed(0)
    config = BertConfig(vocab_size=1000, max_position_embeddings=tokens, **SIZES)
    model = BertModel(config, add_pooling_layer=False).eval().to(DEVICE, dtype)
    opened = copy.deepcopy(model)
    model.set_attn_implementation("sdpa")
    opened.set_attn_implementation(ATTENTION)
    layers: list[Layer] = []

    def caught(_, layer: Layer) -> torch.Tensor:
        layers.append(layer)
        return layer.context()

    def extraction() -> np.ndarray:
        reader = DistanceReader(kinds)
        run(opened, inputs, reader)
        return reader.features()

    run(opened, inputs, caught)
    reader, layer = DistanceReader(kinds), layers[0]
    # What is done once for a batch, the first layer does.
    reader(0, layer)
    parts = {
        "one layer's attention": {"plain": layer.context, "extraction": lambda: reader(1, layer)},
        "forward pass": {"plain": lambda: model(**inputs), "extraction": extraction},
    }
    rows = []
    for part, ways in parts.items():
        took = seconds(ways)
        row = {"batch": "ragged" if ragged else "full", "part": part}
        row |= {f"{name}, ms": 1000 * each for name, each in took.items()}
        row |= {"ratio": took["extraction"] / took["plain"]}
        rows.append(row | {f"{name}, MB": peak(way) / 1e6 for name, way in ways.items()})
    return rows


def main(tokens: str = "384", samples: str = "42", precision: str = "bfloat16") -> None:
    """Print one table."""
    name = torch.cuda.get_device_name() if DEVICE.type == "cuda" else "CPU"
    print(f"{name}, torch {torch.__version__}, {samples} samples of {tokens} tokens, {precision}\n")
    rows = []
    for ragged in (False, True):
        rows += measure(int(tokens), int(samples), getattr(torch, precision), ragged)
    print(markdown_table(pd.DataFrame(rows)))


if __name__ == "__main__":
    main(*sys.argv[1:])
