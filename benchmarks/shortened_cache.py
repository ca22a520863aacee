"""Does kvpress read our `full_attention_heads.tsv`, and does it shorten the cache of the heads that it names?

    python -m venv --without-pip .venv-kvpress
    .venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \\
        > "$(echo .venv-kvpress/lib/python3*/site-packages)/run.pth"
    .venv/bin/pip --python .venv-kvpress/bin/python install kvpress==0.5.5
    .venv/bin/python benchmarks/shortened_cache.py --kvpress .venv-kvpress/bin/python

kvpress wants an older Transformers than we do, so it has an environment of its own, which borrows PyTorch from ours. A
Llama with shared keys, random but for its queries and keys, is read and exported here: in each layer, half of the
key-value heads look at the nearest tokens alone, and half equally at all. `read_pattern.py` then lets kvpress read the
files and run the model, in that environment. Runs on a CPU, from anywhere, without data or network.

Printed are the versions, and for each share of key-value heads whose cache is shortened: whether kvpress has chosen the
heads with the lowest scores, how much of the cache it leaves out, and how far the prediction of the next tokens moves
from that with the whole cache (mean Kullback-Leibler divergence, in nats), with the heads that the scores name and, for
comparison, with as many heads from the other end.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

# Nothing here is to be looked up on the Hub.
os.environ["HF_HUB_OFFLINE"] = "1"
sys.path.insert(0, str(Path(__file__).parents[1] / "workflow_scripts"))

import numpy as np
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from headtypes.analyses.reach.full_attention import full_attention_heads, write_full_attention
from headtypes.analyses.reach.measure import Beyond
from headtypes.analyses.reach.results import Reach
from headtypes.attention.one_pass import read_attention
from headtypes.data.encoding import Encoded

TOKENS, SAMPLES, SINK, RECENT = 160, 24, 4, 32


def main() -> None:
    """Export a random model, and print what kvpress makes of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kvpress", required=True, help="the Python of the environment with kvpress")
    parser.add_argument("--layers", type=int, default=4)
    arguments = parser.parse_args()
    torch.manual_seed(0)
    sizes = {"hidden_size": 64, "intermediate_size": 96, "vocab_size": 200, "num_hidden_layers": arguments.layers}
    heads = {"num_attention_heads": 8, "num_key_value_heads": 4, "attention_bias": True}
    # Turning this fast, the rotary embedding tells any two distances in so short a text apart.
    turning = {"rope_parameters": {"rope_type": "default", "rope_theta": 50.0}}
    config = LlamaConfig(initializer_range=0.3, **turning, **heads, **sizes)
    model = LlamaForCausalLM(config).eval()
    plant(model)
    ids = torch.randint(3, 200, (SAMPLES, TOKENS)).tolist()
    encoded = Encoded(ids, None, [np.zeros(TOKENS, np.int8)] * SAMPLES, np.zeros(SAMPLES, bool))
    (share,) = read_attention(model, encoded, [Beyond(SINK, RECENT)], batch_tokens=4096, what="planted Llama")
    reach = Reach(share, config.num_key_value_heads, SINK, RECENT)
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(Path(folder) / "model")
        files = (Path(folder) / name for name in ("full_attention_heads.tsv", "config.json", "heads.csv"))
        write_full_attention(*files, full_attention_heads(reach, seed=0), reach, {})
        reader = Path(__file__).with_name("read_pattern.py")
        subprocess.run([arguments.kvpress, reader, folder], check=True)


def plant(model: LlamaForCausalLM) -> None:
    """Let the first half of the key-value heads of each layer look at near tokens alone, the others equally at all.

    Where queries and keys are the same at all positions, the rotary embedding alone tells tokens apart: by distance.
    Keys of zero are all alike.
    """
    for layer in model.model.layers:
        for projection in (layer.self_attn.q_proj, layer.self_attn.k_proj):
            weight, _ = projection.weight.data.chunk(2)
            bias, _ = projection.bias.data.chunk(2)
            weight.zero_()
            bias.fill_(4)
        layer.self_attn.k_proj.weight.data.chunk(2)[1].zero_()


if __name__ == "__main__":
    main()
