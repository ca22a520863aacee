"""How many heads of models with random weights are detected, which are of no kind?

    .venv/bin/python benchmarks/detectors.py

Models of three architectures, with weights from small to large, read random tokens as in the workflow. Printed is for
each detector the share of all heads with p < 0.05, before the correction for their number, if a head of a kind has to
exceed the null at all (`least` 0), and if by 0.1, as by default; and the number of heads that are detected in all.
Runs on a CPU in under a minute, from anywhere, without data or network.
"""

import argparse
import os
import sys
from pathlib import Path

# Nothing here is to be looked up on the Hub.
os.environ["HF_HUB_OFFLINE"] = "1"
sys.path.insert(0, str(Path(__file__).parents[1] / "workflow_scripts"))
sys.path.insert(1, str(Path(__file__).parents[1]))

import pandas as pd
import torch
from transformers import AutoConfig, AutoModel

from headtypes.analyses.detectors.measure import read_detectors
from headtypes.analyses.detectors.results import detector_table
from headtypes.analyses.detectors.sequences import draw_sequences
from headtypes.attention.hook import ATTENTION
from tests.support.tiny import bert_tokenizer, gpt2_tokenizer, llama_tokenizer

TOKENIZERS = {"bert": bert_tokenizer, "gpt2": gpt2_tokenizer, "llama": llama_tokenizer}
SIZES = {"hidden_size": 64, "num_hidden_layers": 4, "num_attention_heads": 8, "intermediate_size": 128}
SPREADS = (0.02, 0.1, 0.3, 1.0)


def main() -> None:
    """Measure all models, and print the rates."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=4)
    arguments = parser.parse_args()
    tables = []
    for name, make_tokenizer in TOKENIZERS.items():
        for spread in SPREADS:
            for seed in range(arguments.seeds):
                scores = random_scores(name, make_tokenizer(), spread, seed)
                for least in (0.0, 0.1):
                    table = detector_table(scores, least=least, seed=seed)
                    tables.append(table.assign(architecture=name, spread=spread, seed=seed, least=least))
    rows = pd.concat(tables)
    models = rows[["architecture", "spread", "seed"]].drop_duplicates()
    print(f"{len(models)} models, {SIZES['num_hidden_layers'] * SIZES['num_attention_heads']} heads each")
    rows["below"] = 100 * (rows["p"] < 0.05)
    print(rows.pivot_table("below", ["least", "architecture"], "detector", sort=False).round(1).to_string())
    print(rows.pivot_table("detected", "least", "detector", "sum", sort=False).to_string())


def random_scores(name: str, tokenizer, spread: float, seed: int) -> pd.DataFrame:
    """Scores of the heads of a random model; spread: standard deviation of its weights."""
    torch.manual_seed(seed)
    config = AutoConfig.for_model(
        name, vocab_size=len(tokenizer), max_position_embeddings=128, initializer_range=spread, **SIZES
    )
    model = AutoModel.from_config(config).eval()
    model.set_attn_implementation(ATTENTION)
    drawn = draw_sequences(tokenizer, sequences=32, length=32, max_length=128, seed=seed, model=name)
    return read_detectors(model, drawn, batch_tokens=4096, what=f"{name}, {spread}, {seed}")


if __name__ == "__main__":
    main()
