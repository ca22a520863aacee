"""Are there types of heads, and how many? Features of each model on texts, and its numbers of clusters.

    PYTHONPATH=workflow_scripts python number_of_types.py SAMPLES MODELS OUT

SAMPLES: `results/samples/paragraphs.jsonl` of a run with types.yaml; MODELS: a folder of models' folders. Numbers of
clusters of each model go to OUT/NAME.csv, by weights, norms, and weights within layers; those that are there stay.
"""

import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from scipy.special import softmax
from transformers import AutoModel, AutoTokenizer

from headtypes import read_heads
from headtypes.analyses.distances.columns import head_features
from headtypes.analyses.distances.results import SHARES
from headtypes.analyses.types.stability import chosen_numbers, compare_numbers
from headtypes.data.records import Sample, read_records


def within_layers(features: np.ndarray, layers: int) -> np.ndarray:
    """Features, [sample, head, column], of which each layer has the same geometric mean of shares over its heads."""
    mean = features.mean(axis=0, dtype=np.float64)
    logs = np.log(np.maximum(mean, mean[mean > 0].min() / 2))
    logs -= logs.mean(axis=1, keepdims=True)
    of_layers = logs.reshape(layers, -1, logs.shape[1])
    shift = of_layers.mean(axis=1, keepdims=True) - logs.mean(axis=0)
    shift = np.broadcast_to(shift, of_layers.shape).reshape(logs.shape)
    each = np.log(np.maximum(features.astype(np.float64), mean[mean > 0].min() / 2)) - shift
    return softmax(each, axis=2) * features.sum(axis=2, keepdims=True, dtype=np.float64)


samples, models, out = map(Path, sys.argv[1:])
torch.set_num_threads(1)
out.mkdir(exist_ok=True)
texts = [(sample.first, sample.second) if sample.second else sample.first for sample in read_records(samples, Sample)]
names = sys.argv[4:] or ["minilm", "mpnet", "smollm2", "gemma3"]
for name in [*names, *(f"random-{name}-{seed}" for seed in (1, 2, 3) for name in names)]:
    if (out / f"{name}.csv").exists():
        continue
    begun = time.process_time()
    model, tokenizer = AutoModel.from_pretrained(models / name), AutoTokenizer.from_pretrained(models / name)
    features = read_heads(model.eval(), tokenizer, texts, max_length=256, norms=True)
    read = time.process_time() - begun
    tables = []
    for of in ("weights", "norms", "weights within layers"):
        shares, first = (getattr(features, it) for it in SHARES[of.split()[0]])
        _, layers, heads, _ = shares.shape
        by_head = head_features(shares, 16, first).reshape(len(shares), layers * heads, -1)
        if "within" in of:
            by_head = within_layers(by_head, layers)
        numbers, _ = compare_numbers(by_head, method="kmeans", k=4, scale=False, restarts=50, seed=0)
        chosen = {f"chosen_{criterion}": number for criterion, number in chosen_numbers(numbers).items()}
        tables.append(numbers.assign(model=name, of=of, **chosen))
    spent = time.process_time() - begun
    pd.concat(tables).assign(seconds_reading=read, seconds=spent).to_csv(out / f"{name}.csv", index=False)
