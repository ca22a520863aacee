"""What do reading and ablating heads cost on a GPU, and is what it finds what the CPU finds?

    python benchmarks/gpu.py
    python benchmarks/gpu.py --before ../headtypes-before
    python benchmarks/gpu.py --tiny

Runs from anywhere, without data or network, with random weights; on an H100 it is to take less than ten minutes, and
what is not begun within `--minutes` is left out. Prints Markdown tables under the name of the card and the versions:

extraction: of two layers of each shape, in each precision, at each length: the time of the plain model in ms, and in
            its terms that of the maps alone and of extraction; peak memory above the loaded model, in MiB, and in terms
            of the plain model. `--before`: the folder of another version of the repository, measured after this one.
equality:   the largest difference of features from those of the CPU in float32.
stages:     what `experiments/paper.yaml` does most with BERT-large, in bfloat16: a few samples and windows, and the
            minutes that all of them would take. Loading, encoding, fine-tuning and gradients come on top.

With `--tiny` all of it is tried at sizes that say nothing of time, also without a GPU.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from types import SimpleNamespace

os.environ |= {"HF_HUB_OFFLINE": "1"}
# A process that measures another version is told where that is.
sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, os.environ.get("HEADTYPES_VERSION", str(Path(__file__).parents[1] / "workflow_scripts")))

import numpy as np
import pandas as pd
import torch
import transformers
import yaml
from transformers import BertConfig, BertForQuestionAnswering, BertModel, LlamaConfig, LlamaModel, PreTrainedModel

from headtypes.analyses.ablation import evaluation
from headtypes.analyses.ablation.evaluation import Evaluator, Settings
from headtypes.analyses.company.sets import draw_sets
from headtypes.analyses.distances.measure import DistanceFeatures
from headtypes.attention.one_pass import read_attention
from headtypes.attention.operations import operations_by_head
from headtypes.attention.reducers import PerSample
from headtypes.core.tables import markdown_table
from headtypes.data.encoding import Encoded

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
VOCABULARY, LAYERS, PAIRS, BATCH_TOKENS = 1000, 2, 7, 8192
# Hidden size, heads, heads of keys, and size of the feed-forward layers; SmolLM2's as of 135M.
SHAPES = {
    "bert-base": (768, 12, 12, 3072),
    "bert-large": (1024, 16, 16, 4096),
    "smollm2": (576, 9, 3, 1536),
    "tiny": (32, 4, 2, 64),
}
# Tokens of a window, and how much there is of each stage of the paper's experiment: samples of three tasks for each of
# four models, windows of SQuAD dev, and sets of heads in random company on the windows of 120 questions.
WINDOW, FEATURES, WINDOWS, SETS, SET_WINDOWS = 384, 6408, 10833, 624, 123


class Unread(PerSample):
    """Reads nothing of the maps."""

    by_head = True

    def add(self, block: object) -> None:
        """Leave the block alone."""


def model_of(shape: str, layers: int, dtype: torch.dtype, tokens: int) -> PreTrainedModel:
    """A model with random weights, the same in every precision."""
    hidden, heads, keys, inner = SHAPES[shape]
    sizes = {
        "vocab_size": VOCABULARY,
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "intermediate_size": inner,
        "max_position_embeddings": tokens,
    }
    torch.manual_seed(0)
    if shape == "smollm2":
        model = LlamaModel(LlamaConfig(num_key_value_heads=keys, **sizes))
    else:
        model = BertModel(BertConfig(**sizes), add_pooling_layer=False)
    return model.eval().to(DEVICE, dtype)


def texts_of(samples: int, tokens: int) -> tuple[Encoded, list[np.ndarray]]:
    """Samples of random tokens, of which one in nine is special, and the kinds of their tokens."""
    rng = np.random.default_rng(0)
    ids = rng.integers(5, VOCABULARY, (samples, tokens)).tolist()
    kinds = [np.where(rng.random(tokens) < 1 / 9, rng.integers(1, 5, tokens), 0).astype(np.int8) for _ in ids]
    return Encoded(ids, None, kinds, np.zeros(samples, bool)), kinds


def features(model: PreTrainedModel, samples: int, tokens: int, reducer: type = DistanceFeatures) -> np.ndarray:
    """What one pass over some samples reads."""
    encoded, kinds = texts_of(samples, tokens)
    made = reducer(kinds) if reducer is DistanceFeatures else reducer()
    return read_attention(model, encoded, [made], batch_tokens=BATCH_TOKENS, what="benchmark")[0]


def seconds(call: Callable[[], object]) -> float:
    """How long a call takes."""
    began = time.perf_counter()
    call()
    if DEVICE.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - began


def peak(call: Callable[[], object]) -> float:
    """The largest memory of a call on a GPU above what was taken before, in MiB."""
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    call()
    return (torch.cuda.max_memory_allocated() - before) / 2**20


def calls_of(shape: str, dtype: torch.dtype, tokens: int, samples: int) -> dict[str, Callable[[], object]]:
    """What to call for one batch, its model loaded, by each way."""
    model = model_of(shape, LAYERS, dtype, tokens)
    ids = torch.tensor(texts_of(samples, tokens)[0].input_ids, device=DEVICE)
    return {
        "plain": lambda: model(input_ids=ids),
        "maps": lambda: features(model, samples, tokens, Unread),
        "extraction": lambda: features(model, samples, tokens),
    }


@torch.inference_mode()
def extraction(shapes: list[str], lengths: list[int], batch_tokens: int, until: float) -> pd.DataFrame:
    """A row for each shape, precision and length, as far as there is time."""
    rows: list[dict] = []
    for shape, tokens, dtype in product(shapes, lengths, (torch.float32, torch.bfloat16)):
        if time.time() > until:
            break
        calls, row = (
            calls_of(shape, dtype, tokens, batch_tokens // tokens),
            {"shape": shape, "precision": name_of(dtype), "tokens": tokens},
        )
        # What is loaded at the first call alone does not count.
        for call in calls.values():
            call()
        times = pd.DataFrame([{name: seconds(call) for name, call in calls.items()} for _ in range(PAIRS)])
        row["plain, ms"] = 1000 * times.plain.median()
        row |= {name: (times[name] / times.plain).median() for name in ("maps", "extraction")}
        if DEVICE.type == "cuda":
            row["plain, MiB"] = peak(calls["plain"])
            row["extraction, memory"] = peak(calls["extraction"]) / row["plain, MiB"]
        rows.append(row)
    return pd.DataFrame(rows)


def equality(shapes: list[str], tokens: int) -> pd.DataFrame:
    """How far features are from those of the CPU in float32, for each shape."""
    rows = []
    for shape in shapes:
        of_cpu = features(model_of(shape, LAYERS, torch.float32, tokens).cpu(), 1, tokens)
        row = {"shape": shape, "tokens": tokens}
        for dtype in (torch.float32, torch.bfloat16):
            off = np.abs(features(model_of(shape, LAYERS, dtype, tokens), 1, tokens) - of_cpu).max()
            row[name_of(dtype)] = f"{off:.1e}"
        rows.append(row)
    return pd.DataFrame(rows)


def stages(shape: str, layers: int, size: int, tokens: int, until: float) -> pd.DataFrame:
    """A row for each stage: how long `size` of its samples or windows took, and the minutes of all that it has."""
    # Not above, since it puts this version before another one.
    import company

    company.WINDOWS, company.TOKENS = size, tokens
    hidden, heads, _, inner = SHAPES[shape]
    sizes = {"hidden_size": hidden, "intermediate_size": inner, "num_attention_heads": heads, "vocab_size": VOCABULARY}
    config = BertConfig(num_hidden_layers=layers, **sizes)
    answering = BertForQuestionAnswering(config).eval().to(DEVICE, torch.bfloat16)
    evaluation.load_for = lambda *_: answering
    record = SimpleNamespace(name=shape, layers=layers, heads=heads, max_length=512)
    settings = Settings(
        kind="question_answering", precision="bfloat16", batch_tokens=BATCH_TOKENS, max_answer_length=30
    )
    evaluator = Evaluator(*company.asked(), record, None, settings, gold=True)
    types = np.random.default_rng(0).choice(["dense", "diagonal", "dense_vertical", "vertical"], (layers, heads))
    conditions = yaml.safe_load((Path(__file__).parents[1] / "config.yaml").read_text())["conditions"]
    sets = draw_sets(layers, heads, sets=heads, per_layer=None, seed=0)
    work = {
        "features": (FEATURES, lambda: features(answering, size, tokens)),
        **{
            condition: (WINDOWS, partial(evaluator.evaluate, [operations_by_head(types, done, condition)], condition))
            for condition, done in conditions.items()
        },
        "a set in random company": (
            SETS * SET_WINDOWS,
            lambda: evaluator.evaluate([np.where(sets[0], "zero", "keep").astype(object)], "company"),
        ),
    }
    rows = []
    for name, (of_all, call) in work.items():
        if time.time() > until:
            break
        call()
        rows.append({"stage": name, "measured, s": seconds(call)})
        rows[-1]["all, minutes"] = rows[-1]["measured, s"] / size * of_all / 60
    return pd.DataFrame(rows)


def name_of(dtype: torch.dtype) -> str:
    """As it stands in a config."""
    return str(dtype).removeprefix("torch.")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, help="folder of another version of the repository")
    parser.add_argument("--minutes", type=float, default=9)
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--json", action="store_true", help="print the extraction alone, as another process reads it")
    given = parser.parse_args()
    began, allowed = time.time(), 60 * given.minutes
    shapes, lengths = (["tiny"], [40]) if given.tiny else (list(SHAPES)[:3], [384, 1024, 4096])
    tokens = 200 if given.tiny else 8192
    # Each version has a third of the time for its extraction.
    found = extraction(shapes, lengths, tokens, began + allowed / 3)
    if given.json:
        print(found.to_json(orient="records"))
        return
    card = torch.cuda.get_device_name() if DEVICE.type == "cuda" else "CPU"
    print(f"{card}, torch {torch.__version__}, transformers {transformers.__version__}, {LAYERS} layers\n")
    print(markdown_table(found))
    if given.before:
        other = {"HEADTYPES_VERSION": str(given.before.resolve() / "workflow_scripts")}
        command = [sys.executable, __file__, "--json", f"--minutes={given.minutes}", *["--tiny"] * given.tiny]
        printed = subprocess.run(command, env=os.environ | other, stdout=subprocess.PIPE, check=True, text=True).stdout
        print(f"\n{given.before.name}:\n\n{markdown_table(pd.DataFrame(json.loads(printed.splitlines()[-1])))}")
    print(f"\n{markdown_table(equality(shapes, lengths[0]))}")
    few = ("tiny", 2, 4, 16) if given.tiny else ("bert-large", 24, 64, WINDOW)
    print(f"\n{markdown_table(stages(*few, began + allowed))}")


if __name__ == "__main__":
    main()
