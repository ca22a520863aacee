"""What does it cost to compare the attention of all pairs of heads?

    python benchmarks/divergence.py --shape minilm bert-base
    python benchmarks/divergence.py --help

Runs from anywhere, without data or network: a random BERT of each shape reads random segments. Time is that of the
processor, of one thread, so that other programs on the machine disturb it little. It grows in proportion to the number
of segments; printed is that of 1,000. Memory is the peak of a process that does nothing else. Prints a Markdown table.
"""

import argparse
import multiprocessing
import os
import resource
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

# Nothing here is to be looked up on the Hub.
os.environ["HF_HUB_OFFLINE"] = "1"
sys.path.insert(0, str(Path(__file__).parents[1] / "workflow_scripts"))

import numpy as np
import pandas as pd
import torch
from transformers import BertConfig, BertModel
from ways import SHAPES, VOCABULARY

from headtypes.analyses.divergence.measure import KeptLayers, divergences
from headtypes.attention.batches import run_model
from headtypes.core.markdown import markdown_table
from headtypes.data.encoding import Encoded

# As the workflow has them.
SMOOTHING, BATCH_TOKENS, SEGMENTS = 0.001, 1024, 1000


def parse() -> argparse.Namespace:
    """The arguments."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", choices=SHAPES, nargs="+", default=["minilm", "bert-base"])
    parser.add_argument("--tokens", type=int, nargs="+", default=[128], help="of a segment; default: %(default)s")
    parser.add_argument("--segments", type=int, default=48, help="that are measured; default: %(default)s")
    return parser.parse_args()


def main() -> None:
    """Print the table."""
    arguments = parse()
    rows = []
    # Each process is a copy of one that has loaded the libraries and done nothing.
    context = multiprocessing.get_context("forkserver")
    for shape in arguments.shape:
        for tokens in arguments.tokens:
            with ProcessPoolExecutor(1, context) as process:
                rows.append(process.submit(measure, shape, tokens, arguments.segments).result())
    print(markdown_table(pd.DataFrame(rows)))


def measure(shape: str, tokens: int, segments: int) -> dict:
    """The time of 1,000 segments in minutes, of the forward pass alone and with the comparison, and the peak memory."""
    torch.set_num_threads(1)
    hidden, heads, inner, layers = SHAPES[shape]
    config = BertConfig(
        vocab_size=VOCABULARY,
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=inner,
        max_position_embeddings=max(512, tokens),
    )
    model = BertModel(config, add_pooling_layer=False).eval()
    ids = np.random.default_rng(0).integers(5, VOCABULARY, (segments, tokens)).tolist()
    encoded = Encoded(ids, None, [np.zeros(tokens, np.int8)] * segments, np.zeros(segments, bool))

    def forward(number: int) -> None:
        hooks = {"hook": lambda _: KeptLayers(), "finish": lambda *_: None}
        run_model(model, ids[:number], None, **hooks, batch_tokens=BATCH_TOKENS)

    forward(BATCH_TOKENS // tokens)
    plain = _seconds(lambda: forward(segments))
    whole = _seconds(
        lambda: divergences(model, encoded, smoothing=SMOOTHING, batch_tokens=BATCH_TOKENS, what="divergences")
    )
    return {
        "shape": shape,
        "heads": layers * heads,
        "tokens": tokens,
        "forward pass, min": plain / 60 * SEGMENTS / segments,
        "with divergences, min": whole / 60 * SEGMENTS / segments,
        "peak, MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def _seconds(call) -> float:
    began = time.process_time()
    call()
    return time.process_time() - began


if __name__ == "__main__":
    main()
