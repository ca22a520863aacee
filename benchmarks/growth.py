"""How do time and memory of extraction grow with the number of samples, their length, layers and heads?

    python benchmarks/growth.py [FIGURE.png]

Runs from anywhere, without data or network, on one thread of the CPU: a random BERT, of which one quantity at a time
grows by a factor of eight. Each measurement has a process of its own. Prints a Markdown table of processor times and of
peak memory above that of the loaded model, and draws both, relative to the smallest case, if a file is named.
`dry_run.py` does the same for the number of models.
"""

import gc
import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

# Nothing here is to be looked up on the Hub.
os.environ["HF_HUB_OFFLINE"] = "1"
sys.path.insert(0, str(Path(__file__).parents[1] / "workflow_scripts"))

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from memory import peak
from transformers import BertConfig, BertModel

from headtypes.analyses.distances.reducer import DistanceFeatures
from headtypes.attention.one_pass import read_attention
from headtypes.core.markdown import markdown_table
from headtypes.data.encoding import Encoded

# What a case has where it does not say otherwise; hidden is the hidden size, whatever the number of heads.
USUAL = {"samples": 64, "tokens": 128, "layers": 2, "heads": 8, "hidden": 256}
# Each over a factor of eight. A longer sample is one of fewer, so that all cases of `tokens` have as many tokens.
GROWTH = {
    "samples": [{"samples": number} for number in (64, 128, 256, 512)],
    "tokens": [{"tokens": 64 * factor, "samples": 128 // factor} for factor in (1, 2, 4, 8)],
    "layers": [{"layers": number} for number in (2, 4, 8, 16)],
    "heads": [{"heads": number} for number in (2, 4, 8, 16)],
}
BATCH_TOKENS, VOCABULARY, RUNS = 4096, 1000, 3


def main() -> None:
    """Print the table, and draw it."""
    cases = [(grows, USUAL | case) for grows, cases in GROWTH.items() for case in cases]
    times = [_alone(seconds, case) for _, case in cases]
    # Read by the processes that start from here on: each tensor has memory of its own, without gaps that count as used.
    os.environ["MALLOC_MMAP_THRESHOLD_"] = "131072"
    rows = [
        {"grows": grows, **case, **took, "MiB": _alone(memory, case)}
        for (grows, case), took in zip(cases, times, strict=True)
    ]
    table = pd.DataFrame(rows)
    print(markdown_table(table))
    for file in sys.argv[1:]:
        draw(table, file)


def _alone(measure: Callable, case: dict[str, int]):
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        return process.submit(measure, case).result()


def seconds(case: dict[str, int]) -> dict[str, float]:
    """Processor times of the plain model and of extraction in s, the medians of some runs that alternate."""
    plain, extract = _ways(case)
    plain()
    pairs = [(_seconds(plain), _seconds(extract)) for _ in range(RUNS)]
    return dict(zip(("plain, s", "extraction, s"), np.median(pairs, axis=0), strict=True))


def memory(case: dict[str, int]) -> float:
    """Peak memory of extraction in MiB, above that of the loaded model."""
    # What is loaded at the first call alone, as libraries, does not count.
    _ways(case | {"samples": 1, "tokens": 8})[1]()
    _, extract = _ways(case)
    gc.collect()
    # The peak begins anew at what is held now.
    Path("/proc/self/clear_refs").write_text("5")
    before = peak()
    extract()
    return peak() - before


def _ways(case: dict[str, int]) -> tuple[Callable[[], None], Callable[[], None]]:
    """What to call for one run of the plain model, and for one extraction."""
    torch.set_num_threads(1)
    config = BertConfig(
        vocab_size=VOCABULARY,
        hidden_size=case["hidden"],
        num_hidden_layers=case["layers"],
        num_attention_heads=case["heads"],
        intermediate_size=4 * case["hidden"],
        max_position_embeddings=512,
    )
    model = BertModel(config, add_pooling_layer=False).eval()
    ids = np.random.default_rng(0).integers(5, VOCABULARY, (case["samples"], case["tokens"]))
    kinds = [np.zeros(case["tokens"], np.int8)] * case["samples"]
    encoded = Encoded(ids.tolist(), None, kinds, np.zeros(case["samples"], bool))

    def extract() -> None:
        (found,) = read_attention(
            model, encoded, [DistanceFeatures(kinds, False)], batch_tokens=BATCH_TOKENS, what="growth"
        )
        assert len(found) == case["samples"]

    @torch.inference_mode()
    def plain() -> None:
        for batch in torch.from_numpy(ids).split(max(1, BATCH_TOKENS // case["tokens"])):
            model(input_ids=batch)

    return plain, extract


def _seconds(call: Callable[[], None]) -> float:
    began = time.process_time()
    call()
    return time.process_time() - began


def draw(table: pd.DataFrame, file: str) -> None:
    """Time and memory of extraction, relative to the smallest case, beside growth in proportion."""
    figure, axes = plt.subplots(1, len(GROWTH), figsize=(3 * len(GROWTH), 3), sharey=True, layout="constrained")
    for axis, (grows, rows) in zip(axes, table.groupby("grows", sort=False), strict=True):
        sizes = rows[grows] / rows[grows].iloc[0]
        axis.plot(sizes, sizes, color="0.75", linestyle="--", label="in proportion")
        for label, column, marker in (("time", "extraction, s", "o"), ("memory", "MiB", "s")):
            axis.plot(sizes, rows[column] / rows[column].iloc[0], marker=marker, label=label)
        axis.set(xscale="log", yscale="log", xticks=sizes, yticks=[1, 2, 4, 8], xlabel=grows)
        axis.set_xticklabels(rows[grows])
        axis.set_yticklabels(["1", "2", "4", "8"])
        axis.minorticks_off()
    axes[0].set_ylabel("times the smallest")
    axes[0].legend(frameon=False)
    figure.savefig(file, dpi=100)


if __name__ == "__main__":
    main()
