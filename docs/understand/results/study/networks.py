"""Networks of random weights, of the shapes of MiniLM (three) and Gemma 3, beside these models.

    python networks.py MODELS

MODELS: a folder with the folder `minilm` and the file of Gemma 3 that `study.yaml` names. The networks are written
there as `random-NAME`, each with its model's tokenizer.
"""

import sys

import torch
from transformers import AutoConfig, AutoModel, AutoTokenizer

MINILM, GEMMA3 = {"subfolder": "minilm"}, {"gguf_file": "gemma-3-270m-q4_k_m.gguf"}
# {name: shape and seed}
NETWORKS = {"minilm": (MINILM, 1), "minilm-2": (MINILM, 2), "minilm-3": (MINILM, 3), "gemma3": (GEMMA3, 1)}

for name, (place, seed) in NETWORKS.items():
    written = f"{sys.argv[1]}/random-{name}"
    torch.manual_seed(seed)
    AutoModel.from_config(AutoConfig.from_pretrained(sys.argv[1], **place)).save_pretrained(written)
    AutoTokenizer.from_pretrained(sys.argv[1], **place).save_pretrained(written)
