"""Networks of random weights of the shapes of MiniLM and MPNet, beside these models.

    python networks.py MODELS

MODELS: a folder with the folders `minilm` and `mpnet`; `random-minilm` and `random-mpnet` are written there.
"""

import sys

import torch
from transformers import AutoConfig, AutoModel, AutoTokenizer

for shape in ("minilm", "mpnet"):
    folder, written = f"{sys.argv[1]}/{shape}", f"{sys.argv[1]}/random-{shape}"
    torch.manual_seed(1)
    AutoModel.from_config(AutoConfig.from_pretrained(folder)).save_pretrained(written)
    AutoTokenizer.from_pretrained(folder).save_pretrained(written)
