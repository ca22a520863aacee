"""How do time and memory of extraction grow with the length of a text?

    python benchmarks/growth.py
    python benchmarks/growth.py 4096 16384 65536

Runs from anywhere, without data or network, in one thread of the CPU: one layer of MiniLM's shape with random weights
reads one text of each length. Each run has a process of its own. Prints a Markdown table of processor time in s and of
peak memory above the loaded model in MiB, of the plain model (`scaled_dot_product_attention`) and of extraction.
"""

import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from attention import VOCABULARY, held, processes
from transformers import BertConfig, BertModel

from headtypes.analyses.distances.measure import DistanceFeatures
from headtypes.attention.one_pass import read_attention
from headtypes.core.tables import markdown_table
from headtypes.data.encoding import Encoded

LENGTHS = (512, 1024, 2048, 4096, 8192)
SHAPE = {"hidden_size": 384, "num_attention_heads": 12, "intermediate_size": 1536, "num_hidden_layers": 1}


@torch.inference_mode()
def measure(extracting: bool, tokens: int) -> tuple[float, float]:
    """Processor time in s and peak memory in MiB of one run; for a process of its own."""
    torch.set_num_threads(1)
    model = BertModel(BertConfig(vocab_size=VOCABULARY, max_position_embeddings=tokens, **SHAPE), False).eval()
    # What is loaded at the first call alone, as libraries, does not count.
    run(model, extracting, 8)
    Path("/proc/self/clear_refs").write_text("5")
    before, began = held(), time.process_time()
    run(model, extracting, tokens)
    return time.process_time() - began, held() - before


def run(model: BertModel, extracting: bool, tokens: int) -> None:
    """Read a text of so many tokens, with or without the distance features of every head."""
    ids = np.random.default_rng(0).integers(5, VOCABULARY, (1, tokens))
    if not extracting:
        model(input_ids=torch.from_numpy(ids))
        return
    kinds = [np.zeros(tokens, np.int8)]
    encoded = Encoded(ids.tolist(), None, kinds, np.zeros(1, bool))
    read_attention(model, encoded, [DistanceFeatures(kinds)], batch_tokens=tokens, what="growth")


def main(lengths: list[int]) -> None:
    """Print the table."""
    rows = []
    for tokens in lengths:
        row = {"tokens": tokens}
        for extracting, name in ((False, "plain"), (True, "extraction")):
            with ProcessPoolExecutor(1, processes()) as process:
                row[f"{name}, s"], row[f"{name}, MiB"] = process.submit(measure, extracting, tokens).result()
        rows.append(row)
    print(markdown_table(pd.DataFrame(rows)))


if __name__ == "__main__":
    main([int(each) for each in sys.argv[1:]] or list(LENGTHS))
