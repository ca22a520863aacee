"""What do gradients by kind of token cost beside the forward pass, and beside gradients of whole maps?

    python benchmarks/gradients.py --shape minilm --layers 6 --tokens 128 512 --samples 32

Runs on a CPU under Linux, from anywhere, without data or network: a random BERT with a head for masked words and BERT's
vocabulary, on samples without padding. Printed are a run's processor time and its peak memory above that of the loaded
model, each in a process of its own:

forward:   the forward pass alone, without the head.
gradients: `headtypes.analyses.gradients.measure`, on the loss of masked words.
maps:      the same numbers from `output_attentions=True` and `torch.autograd.grad`, which keeps every map.

Prints a Markdown table.
"""

import argparse
import gc
import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import SimpleNamespace

# Nothing here is to be looked up on the Hub.
os.environ["HF_HUB_OFFLINE"] = "1"
sys.path.insert(0, str(Path(__file__).parents[1] / "workflow_scripts"))

import numpy as np
import pandas as pd
import torch
from memory import peak
from transformers import BertConfig, BertForMaskedLM
from ways import SHAPES

from headtypes.analyses.gradients.measure import gradients_by_kind
from headtypes.analyses.gradients.own_loss import MaskedWords
from headtypes.core.markdown import markdown_table
from headtypes.data.encoding import Encoded

WAYS = ("forward", "gradients", "maps")
BATCH_TOKENS, VOCABULARY, CLS, SEP, MASK = 4096, 30522, 101, 102, 103


def main() -> None:
    """Print the table asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", choices=SHAPES, default="minilm")
    parser.add_argument("--layers", type=int, nargs="+", default=[6])
    parser.add_argument("--tokens", type=int, nargs="+", default=[128], help="of each sample")
    parser.add_argument("--samples", type=int, default=32)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    context, rows = multiprocessing.get_context("spawn"), []
    for layers in arguments.layers:
        for tokens in arguments.tokens:
            row = {"layers": layers, "tokens": tokens, "samples": arguments.samples}
            for way in arguments.ways:
                with ProcessPoolExecutor(1, context) as process:
                    case = arguments.shape, layers, tokens, arguments.samples, arguments.threads
                    row[f"{way}, s"], row[f"{way}, MiB"] = process.submit(measure, way, *case).result()
            rows.append(row)
    print(markdown_table(pd.DataFrame(rows)))


def measure(way: str, shape: str, layers: int, tokens: int, samples: int, threads: int) -> tuple[float, float]:
    """Processor time of a run in seconds, and its peak memory above that of the loaded model in MiB."""
    torch.set_num_threads(threads)
    width, heads, inner, _ = SHAPES[shape]
    config = BertConfig(
        vocab_size=VOCABULARY,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=inner,
        max_position_embeddings=max(512, tokens),
    )
    call = _way(way, BertForMaskedLM(config).eval())
    # What is loaded at the first call alone, as libraries, does not count.
    call(_texts(16, 1))
    texts = _texts(tokens, samples)
    gc.collect()
    # The peak begins anew at what is held now.
    Path("/proc/self/clear_refs").write_text("5")
    before, began = peak(), time.process_time()
    call(texts)
    return time.process_time() - began, peak() - before


def _texts(tokens: int, samples: int) -> MaskedWords:
    rng = np.random.default_rng(0)
    ids = [[CLS, *rng.integers(1000, VOCABULARY, tokens - 2).tolist(), SEP] for _ in range(samples)]
    kinds = np.array([1, *[0] * (tokens - 2), 2], np.int8)
    kinds[5::10] = 4
    encoded = Encoded(ids, [[0] * tokens] * samples, [kinds] * samples, np.zeros(samples, bool))
    names = {str(number): number for number in range(VOCABULARY)}
    tokenizer = SimpleNamespace(mask_token_id=MASK, get_vocab=lambda: names)
    return MaskedWords(encoded, list(map(str, range(samples))), tokenizer, seed=0)


def _way(way: str, model: BertForMaskedLM) -> Callable[[MaskedWords], None]:
    if way == "gradients":
        return lambda texts: gradients_by_kind(model, texts, BATCH_TOKENS, "gradients")
    model.requires_grad_(False)
    if way == "maps":
        model.set_attn_implementation("eager")
        # A variable below the first layer, without which no gradient is computed.
        model.get_input_embeddings().requires_grad_(True)

    def call(texts: MaskedWords) -> None:
        at_once = max(1, BATCH_TOKENS // len(texts.input_ids[0]))
        for start in range(0, len(texts.input_ids), at_once):
            ids = torch.as_tensor(np.array(texts.input_ids[start : start + at_once]))
            if way == "forward":
                with torch.inference_mode():
                    model.bert(ids)
                continue
            output = model(ids, output_attentions=True)
            losses = torch.nn.functional.cross_entropy(output.logits.transpose(1, 2), ids, reduction="none")
            for gradients in torch.autograd.grad(losses[ids == MASK].sum(), output.attentions):
                gradients.abs().mean(2)

    return call


if __name__ == "__main__":
    main()
