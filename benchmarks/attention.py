"""What does reading every head cost beside the plain forward pass, and beside keeping all maps and counting them?

    python benchmarks/attention.py
    python benchmarks/attention.py --shape minilm --layers 6 --tokens 64 160 512 --threads 1

Runs from anywhere, without data or network, on a GPU where there is one: a random BERT. Prints a Markdown table with a
row for each length: the time of the plain model in ms, that of the others in its terms, and the same of peak memory
above the loaded model, in MiB. Each ratio is the median over pairs of runs that alternate; each peak is that of a
process of its own.

maps:       the attention of every head computed as extraction does, and not read: products and softmax alone.
one sum:    the same, and each block of it read once: the least that an extraction can take.
extraction: the distance features of every head, by `headtypes.analyses.distances`.
bincount:   `output_attentions=True`, the maps copied to NumPy, and one `np.bincount` of the 21 buckets for each map.
"""

import argparse
import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

# Nothing here is to be looked up on the Hub; tensors have memory of their own, so that a peak counts no gaps.
os.environ |= {"HF_HUB_OFFLINE": "1", "MALLOC_MMAP_THRESHOLD_": "131072"}
sys.path.insert(0, str(Path(__file__).parents[1] / "workflow_scripts"))

import numpy as np
import pandas as pd
import torch
from transformers import BertConfig, BertModel

from headtypes.analyses.distances.features import head_features
from headtypes.analyses.distances.measure import DistanceFeatures
from headtypes.attention.one_pass import read_attention
from headtypes.attention.reducers import Block, PerSample
from headtypes.core.tables import markdown_table
from headtypes.data.encoding import Encoded

# Hidden size, heads, and tokens of a batch: a forward pass of two layers takes less than a second in one thread.
SHAPES = {"minilm": (384, 12, 2048), "bert-base": (768, 12, 1024), "bert-large": (1024, 16, 768)}
WAYS = ("plain", "maps", "one sum", "extraction", "bincount")
# Those that take memory of their own.
IN_MEMORY = ("plain", "extraction", "bincount")
BINS, VOCABULARY = 16, 1000
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Unread(PerSample):
    """Reads nothing."""

    by_head = True

    def add(self, block: Block) -> None:
        """Leave the block alone."""


class OneSum(Unread):
    """The sum of each head's attention."""

    def add(self, block: Block) -> None:
        """Read the block once."""
        self.values[block.group.samples, block.layer, block.heads] += block.attention.sum((2, 3))


def way(name: str, given: argparse.Namespace, tokens: int) -> Callable[[], object]:
    """What to call for one run on a batch of samples of so many tokens, its model loaded."""
    torch.set_num_threads(given.threads)
    torch.manual_seed(0)
    hidden, heads, batch_tokens = SHAPES[given.shape]
    config = BertConfig(
        vocab_size=VOCABULARY,
        hidden_size=hidden,
        num_hidden_layers=given.layers,
        num_attention_heads=heads,
        intermediate_size=4 * hidden,
        max_position_embeddings=max(512, tokens),
    )
    model = BertModel(config, add_pooling_layer=False).eval().to(DEVICE)
    model.set_attn_implementation("eager" if name == "bincount" else "sdpa")
    rng, samples = np.random.default_rng(0), max(1, batch_tokens // tokens)
    ids = rng.integers(5, VOCABULARY, (samples, tokens))
    # One token in nine is special, of one of the four kinds.
    kinds = [np.where(rng.random(tokens) < 1 / 9, rng.integers(1, 5, tokens), 0).astype(np.int8) for _ in ids]
    readers = {"maps": Unread, "one sum": OneSum, "extraction": lambda: DistanceFeatures(kinds)}
    if name in readers:
        encoded = Encoded(ids.tolist(), None, kinds, np.zeros(samples, bool))
        return lambda: read_attention(
            model, encoded, [readers[name]()], batch_tokens=samples * tokens, what="benchmark"
        )[0]
    inputs = torch.from_numpy(ids).to(DEVICE)
    if name == "bincount":
        return lambda: from_maps(model(input_ids=inputs, output_attentions=True).attentions, kinds)
    return lambda: model(input_ids=inputs).last_hidden_state


def from_maps(attentions: tuple[torch.Tensor, ...], kinds: list[np.ndarray]) -> np.ndarray:
    """The paper's features [sample, layer, head, 21], from the maps of each layer [sample, head, query, key]."""
    maps = [layer.float().cpu().numpy() for layer in attentions]
    found = []
    for sample, of_sample in enumerate(kinds):
        length = len(of_sample)
        distance = np.abs(np.arange(length)[:, None] - np.arange(length))
        bucket = np.where(distance == 0, BINS, distance * BINS // length)
        bucket = np.where(of_sample > 0, BINS + of_sample, bucket).ravel()
        found.append([[np.bincount(bucket, head.ravel(), BINS + 5) for head in layer[sample]] for layer in maps])
    return np.array(found) / len(kinds[0])


@torch.inference_mode()
def times(given: argparse.Namespace, tokens: int) -> dict[str, float]:
    """Median time of the plain model in ms; of each other way the median of its ratios to the run just before it."""
    calls = {name: way(name, given, tokens) for name in WAYS}
    first = {name: call() for name, call in calls.items()}
    wrong = np.abs(first["bincount"] - head_features(first["extraction"], BINS)).max()
    assert wrong < 1e-5, f"features differ by {wrong}"
    plain, ratios = [], {name: [] for name in WAYS[1:]}
    for _ in range(given.pairs):
        for name, found in ratios.items():
            plain.append(seconds(calls["plain"]))
            found.append(seconds(calls[name]) / plain[-1])
    return {"plain, ms": 1000 * np.median(plain), **{name: np.median(found) for name, found in ratios.items()}}


def seconds(call: Callable[[], object]) -> float:
    """How long a call takes: in one thread of the CPU its processor time, which other programs disturb less."""
    clock = time.process_time if DEVICE.type == "cpu" and torch.get_num_threads() == 1 else time.perf_counter
    began = clock()
    call()
    if DEVICE.type == "cuda":
        torch.cuda.synchronize()
    return clock() - began


@torch.inference_mode()
def peak(name: str, given: argparse.Namespace, tokens: int) -> float:
    """The largest memory of one run above that of the loaded model, in MiB; for a process of its own."""
    # What is loaded at the first call alone, as libraries, does not count.
    way(name, given, 8)()
    call = way(name, given, tokens)
    if DEVICE.type == "cuda":
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        call()
        return (torch.cuda.max_memory_allocated() - before) / 2**20
    # The peak begins anew at what is held now.
    Path("/proc/self/clear_refs").write_text("5")
    before = held()
    call()
    return held() - before


def held() -> float:
    """The largest memory that this process has held since its peak was reset, in MiB."""
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM:"))


def memory(given: argparse.Namespace, tokens: int) -> dict[str, float]:
    """Peak memory of the plain model in MiB, and of each other way in its terms."""
    found = {}
    for name in IN_MEMORY:
        with ProcessPoolExecutor(1, processes()) as process:
            found[name] = process.submit(peak, name, given, tokens).result()
    plain = found.pop("plain")
    return {"plain, MiB": plain, **{f"{name}, memory": each / plain for name, each in found.items()}}


def processes() -> multiprocessing.context.BaseContext:
    """Starts processes that have loaded the libraries and nothing else."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["pandas", "transformers.models.bert.modeling_bert"])
    return context


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=SHAPES, default="bert-base")
    parser.add_argument("--layers", type=int, default=2, help="enough for ratios")
    parser.add_argument("--tokens", type=int, nargs="+", default=[128, 384])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--pairs", type=int, default=7, help="of the plain model and each way")
    given = parser.parse_args()
    where = torch.cuda.get_device_name() if DEVICE.type == "cuda" else f"{given.threads} threads"
    print(f"{given.shape}, {given.layers} layers, float32, {where}; torch {torch.__version__}\n")
    rows = [{"tokens": tokens, **times(given, tokens), **memory(given, tokens)} for tokens in given.tokens]
    print(markdown_table(pd.DataFrame(rows)))


if __name__ == "__main__":
    main()
