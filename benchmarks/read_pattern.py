"""Let kvpress read an exported pattern and run a model with it; `shortened_cache.py` says what is printed.

Runs in the environment that has kvpress, and takes the folder with `model/`, `full_attention_heads.tsv` and
`config.json`.
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch
from kvpress.presses import duo_attention_press
from kvpress.presses.duo_attention_press import PATTERNS_DICT, DuoAttentionPress
from transformers import DynamicCache, LlamaForCausalLM
from transformers.utils import logging

PROMPT, FURTHER, TEXTS = 120, 20, 8


def read_from(folder: Path) -> None:
    """Let kvpress find patterns in a folder, where it else asks GitHub: its own code reads them."""

    def get(url: str) -> SimpleNamespace:
        text = (folder / url.rpartition("/")[2]).read_text()
        return SimpleNamespace(text=text, json=lambda: json.loads(text))

    duo_attention_press.requests = SimpleNamespace(get=get)


def pressed(model, folder: Path, ratio: float) -> DuoAttentionPress:
    """A press with the pattern of a folder, which shortens the cache of a share of the key-value heads."""
    read_from(folder)
    duo_attention_press.cache.clear()
    PATTERNS_DICT[model.config.name_or_path] = "ours"
    return DuoAttentionPress(head_compression_ratio=ratio)


def predictions(model, ids: torch.Tensor, press: DuoAttentionPress | None) -> torch.Tensor:
    """Log-probabilities of the tokens after each further token of a text, whose start is in the cache."""
    cache = DynamicCache()
    with torch.no_grad():
        if press is None:
            model(ids[:, :PROMPT], past_key_values=cache)
        else:
            with press(model):
                model(ids[:, :PROMPT], past_key_values=cache)
        steps = [
            model(ids[:, place : place + 1], past_key_values=cache).logits for place in range(PROMPT, ids.shape[1])
        ]
    for module in model.modules():
        module.masked_key_indices = None
    return torch.cat(steps, 1).log_softmax(-1)


def main() -> None:
    """Print the table."""
    logging.disable_progress_bar()
    folder = Path(sys.argv[1])
    model = LlamaForCausalLM.from_pretrained(folder / "model").eval()
    scores = np.loadtxt(folder / "full_attention_heads.tsv", delimiter="\t")
    reverse = folder / "reverse"
    reverse.mkdir()
    np.savetxt(reverse / "full_attention_heads.tsv", 1 - scores, delimiter="\t")
    (reverse / "config.json").write_text((folder / "config.json").read_text())
    ids = torch.randint(3, 200, (TEXTS, PROMPT + FURTHER), generator=torch.Generator().manual_seed(1))
    whole = predictions(model, ids, None)
    named = ", ".join(f"{name} {version(name)}" for name in ("kvpress", "transformers", "torch"))
    print(f"{named}; {scores.shape[0]} layers of {scores.shape[1]} key-value heads\n")
    print("| heads shortened | lowest scores chosen | left out of the cache | divergence | of the other end |")
    print("| --- | --- | --- | --- | --- |")
    for ratio in (0.25, 0.5, 0.75, 1.0):
        moved, press = [], None
        for pattern in (reverse, folder):
            press = pressed(model, pattern, ratio)
            found = predictions(model, ids, press)
            moved.append(float((whole.exp() * (whole - found)).sum(-1).mean()))
        lowest = np.argsort(scores, axis=None)[: round(scores.size * ratio)]
        same = "yes" if sorted(lowest) == np.flatnonzero(press.streaming_mask.numpy()).tolist() else "no"
        print(f"| {ratio:.0%} | {same} | {press.compression_ratio:.1%} | {moved[1]:.4f} | {moved[0]:.4f} |")


if __name__ == "__main__":
    main()
