"""What do reading and ablating heads cost beside the model's own forward pass, and beside what is done instead?

    python benchmarks/attention.py --shape minilm --tokens 64 160 512
    python benchmarks/attention.py --help

Runs from anywhere, without data or network, on a GPU where there is one: a random BERT of the shape, layers and
tokens asked for. `ways.py` says what is compared. Every way runs in turn with the plain model, in one process; printed
is the median of the ratios of each run to the plain one just before it. Peak memory is taken in a process of its own
for each way, above what the loaded model takes. Prints Markdown tables.
"""

import argparse
import importlib.util
import itertools
import os
import platform
import sys
from pathlib import Path

# Nothing here is to be looked up on the Hub.
os.environ["HF_HUB_OFFLINE"] = "1"
sys.path.insert(0, str(Path(__file__).parents[1] / "workflow_scripts"))

import pandas as pd
import torch
import transformers
from memory import memory_row
from timing import time_row
from ways import ABLATIONS, DEVICE, KEEP_MAPS, NUMPY, PRODUCTS, READ, SHAPES, Case

from headtypes.core.markdown import markdown_table

# Tokens of a batch, as `compute.batch_tokens` has it by default.
BATCH_TOKENS = 4096
MEASURES = ("time", "memory")


def parse() -> argparse.Namespace:
    """The arguments."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("measures", nargs="*", choices=[*MEASURES, []], help="default: both")
    parser.add_argument("--shape", choices=SHAPES, default="bert-large")
    parser.add_argument("--layers", type=int, nargs="+", default=[4], help="default: %(default)s, enough for ratios")
    parser.add_argument("--tokens", type=int, nargs="+", default=[384], help="of the longest sample")
    parser.add_argument("--samples", type=int, help=f"of a batch; default: as many as {BATCH_TOKENS} tokens are")
    parser.add_argument("--spread", type=int, default=0, help="tokens by which each sample is shorter than the last")
    parser.add_argument("--share", type=float, default=0.25, help="of each layer's heads, ablated; default: a quarter")
    parser.add_argument("--ways", nargs="+", choices=[PRODUCTS, *READ, *ABLATIONS, *KEEP_MAPS], help="default: all")
    parser.add_argument("--maps", type=float, default=2, help="GiB of maps that a way may keep, else it is left out")
    parser.add_argument("--precision", default="bfloat16" if DEVICE.type == "cuda" else "float32")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--pairs", type=int, default=15, help="of the plain model and each way")
    parser.add_argument("--seconds", type=float, default=60, help="after which three pairs are enough")
    return parser.parse_args()


def main() -> None:
    """Print the tables asked for."""
    arguments = parse()
    chosen = arguments.ways or [PRODUCTS, *READ, *ABLATIONS, *KEEP_MAPS]
    if "TransformerLens" in chosen and not importlib.util.find_spec("transformer_lens"):
        print("TransformerLens is not installed and is left out; pip install transformer_lens adds it.\n")
        chosen.remove("TransformerLens")
    if {*NUMPY} & {*chosen} and "extraction" not in chosen:
        chosen.insert(0, "extraction")
    where = torch.cuda.get_device_name() if DEVICE.type == "cuda" else f"{arguments.threads} threads of {_processor()}"
    print(
        f"{arguments.shape}, {arguments.precision}, {where}; torch {torch.__version__}, "
        f"transformers {transformers.__version__}; {arguments.share:.0%} of heads ablated.\n"
    )
    for measure in arguments.measures or MEASURES:
        rows = []
        for layers, tokens in itertools.product(arguments.layers, arguments.tokens):
            case = Case(
                arguments.shape,
                layers,
                tokens,
                arguments.samples or max(1, BATCH_TOKENS // tokens),
                arguments.spread,
                arguments.share,
                arguments.precision,
                arguments.threads,
            )
            names = [name for name in chosen if name not in KEEP_MAPS or case.map_bytes <= arguments.maps * 2**30]
            if measure == "time":
                found = time_row(case, names, arguments.pairs, arguments.seconds)
            else:
                found = memory_row(case, names)
            rows.append({"layers": layers, "tokens": tokens, "samples": case.samples, **found})
        unit = "a run" if measure == "time" else "peak memory above the loaded model"
        print(f"{measure.capitalize()}: {unit} of the plain model, and of the others in its terms.\n")
        print(markdown_table(pd.DataFrame(rows)), flush=True)


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


if __name__ == "__main__":
    main()
