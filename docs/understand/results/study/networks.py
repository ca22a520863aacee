"""Six networks of random weights, of the shapes of MiniLM (three), MPNet, SmolLM2 and Gemma 3, beside these models.

    python networks.py MODELS

MODELS: a folder with the folders `minilm` and `mpnet` and the two files in GGUF that `study.yaml` names. The networks
are written there as `random-NAME`, each with its model's tokenizer.
"""

import sys

import torch
from transformers import AutoConfig, AutoModel, AutoTokenizer

SMOLLM2 = {"gguf_file": "SmolLM2-135M-Instruct.Q4_1.gguf"}
GEMMA3 = {"gguf_file": "gemma-3-270m-q4_k_m.gguf"}
# {name: where the shape is from, seed}
NETWORKS = {
    "minilm": ({"subfolder": "minilm"}, 1),
    "minilm-2": ({"subfolder": "minilm"}, 2),
    "minilm-3": ({"subfolder": "minilm"}, 3),
    "mpnet": ({"subfolder": "mpnet"}, 1),
    "smollm2": (SMOLLM2, 1),
    "gemma3": (GEMMA3, 1),
}

for name, (place, seed) in NETWORKS.items():
    written = f"{sys.argv[1]}/random-{name}"
    torch.manual_seed(seed)
    AutoModel.from_config(AutoConfig.from_pretrained(sys.argv[1], **place)).save_pretrained(written)
    AutoTokenizer.from_pretrained(sys.argv[1], **place).save_pretrained(written)
