"""What do reading and ablating heads cost beside the model's own forward pass, and beside what is done instead?

    python benchmarks/attention.py --shape minilm --tokens 64 160 512
    python benchmarks/attention.py --help

Runs from anywhere, without data or network, on a GPU where there is one: a random BERT of the shape, layers and
tokens asked for. Every way runs in turn with the plain model, in one process; printed is the median of the ratios
of each run to the plain one just before it. Peak memory is taken in a process of its own for each way, above what the
loaded model takes. Prints Markdown tables. Needs Linux for the memory on a CPU.

plain:      the model with Transformers' default attention (`scaled_dot_product_attention`): the limit.
extraction: the distance features of every head, with `headtypes.distance`.
zero, ...:  one ablation of a share of the heads of each layer, with `headtypes.ablation`.
NumPy:      `output_attentions=True`, every map kept and copied, `np.bincount` over each head's map.
TransformerLens: its cache of every map (pip install transformer_lens), without any reduction.
"""

import argparse
import copy
import gc
import importlib.util
import itertools
import multiprocessing
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

# Nothing here is to be looked up on the Hub.
os.environ["HF_HUB_OFFLINE"] = "1"
sys.path.insert(0, str(Path(__file__).parents[1] / "workflow_scripts"))

import numpy as np
import pandas as pd
import torch
import transformers
from transformers import BertConfig, BertForMaskedLM, BertModel

from headtypes.ablation import Ablation
from headtypes.attention import ATTENTION, run
from headtypes.columns import COLUMNS, FINE_WINDOWS
from headtypes.distance import DistanceReader
from headtypes.markdown import markdown_table
from headtypes.operations import Reading

# Hidden size, heads, inner size of the feed-forward layers, and layers of the model of that name.
SHAPES = {"minilm": (384, 12, 1536, 6), "bert-base": (768, 12, 3072, 12), "bert-large": (1024, 16, 4096, 24)}
ABLATIONS = ("zero", "uniform", "mean", "drop_intra", "drop_inter")
KEEP_MAPS = ("NumPy", "TransformerLens")
VOCABULARY = 1000
# Tokens of a sentence, and one special token in so many.
SENTENCE, SPECIAL = 25, 9
# Tokens of a batch, as `compute.batch_tokens` has it by default.
BATCH_TOKENS = 4096
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass(frozen=True)
class Case:
    """One model on one batch.

    samples: of `tokens` tokens, each `spread` fewer than the one before; share: of each layer's heads, ablated.
    """

    shape: str
    layers: int
    tokens: int
    samples: int
    spread: int
    share: float
    precision: str
    threads: int

    @property
    def lengths(self) -> list[int]:
        """Tokens of each sample."""
        return [self.tokens - self.spread * sample for sample in range(self.samples)]

    @property
    def map_bytes(self) -> int:
        """What all attention maps of the batch take in float32."""
        return 4 * self.layers * SHAPES[self.shape][1] * self.samples * self.tokens**2


class Ways:
    """The ways to run one case: `way(name)()` runs it once."""

    def __init__(self, case: Case):
        """Make the batch; models are made when they are first needed."""
        torch.set_num_threads(case.threads)
        self.case, self._models = case, {}
        self._hidden, self._heads, self._inner, _ = SHAPES[case.shape]
        rng, lengths = np.random.default_rng(0), case.lengths
        self._kinds = [
            np.where(rng.random(length) < 1 / SPECIAL, rng.integers(1, 5, length), 0).astype(np.int8)
            for length in lengths
        ]
        self._sentences = [
            np.where(kinds > 0, -1, np.arange(len(kinds)) // SENTENCE).astype(np.int64) for kinds in self._kinds
        ]
        mask = torch.arange(case.tokens) < torch.tensor(lengths)[:, None]
        ids = torch.from_numpy(rng.integers(5, VOCABULARY, (case.samples, case.tokens)))
        self._inputs = {"input_ids": ids.to(DEVICE), "attention_mask": mask.long().to(DEVICE)}

    def way(self, name: str) -> Callable[[], object]:
        """What to call for one run, its model loaded."""
        if name == "plain":
            model = self._model("sdpa")
            return lambda: model(**self._inputs).last_hidden_state
        if name == "extraction":
            model = self._model(ATTENTION)
            return lambda: self._extract(model)
        if name == "NumPy":
            model = self._model("eager")
            return lambda: self._numpy(model)
        if name == "TransformerLens":
            return self._transformer_lens()
        model = self._model(ATTENTION)
        operations = np.full((self.case.layers, self._heads), "keep", dtype=object)
        rng = np.random.default_rng(1)
        for layer in operations:
            layer[rng.permutation(self._heads)[: round(self.case.share * self._heads)]] = name
        contexts = np.zeros((*operations.shape, self._hidden // self._heads), np.float32)
        return lambda: run(model, self._inputs, Ablation(operations, self._sentences, Reading(), contexts))

    def _config(self) -> BertConfig:
        return BertConfig(
            vocab_size=VOCABULARY,
            hidden_size=self._hidden,
            num_hidden_layers=self.case.layers,
            num_attention_heads=self._heads,
            intermediate_size=self._inner,
            max_position_embeddings=max(512, self.case.tokens),
        )

    def _model(self, attention: str) -> torch.nn.Module:
        if attention not in self._models:
            if not self._models:
                torch.manual_seed(0)
                model = BertModel(self._config(), add_pooling_layer=False).eval()
                model = model.to(DEVICE, getattr(torch, self.case.precision))
            else:
                # The same weights, and a configuration of its own.
                first = next(iter(self._models.values()))
                model = copy.deepcopy(first, {id(weight): weight for weight in first.parameters()})
            model.set_attn_implementation(attention)
            self._models[attention] = model
        return self._models[attention]

    def _extract(self, model: torch.nn.Module) -> np.ndarray:
        reader = DistanceReader(self._kinds)
        run(model, self._inputs, reader)
        return reader.features()

    def _numpy(self, model: torch.nn.Module) -> np.ndarray:
        attentions = model(**self._inputs, output_attentions=True).attentions
        maps = torch.stack(attentions, dim=1).float().cpu().numpy()
        features = np.empty((self.case.samples, self.case.layers, self._heads, COLUMNS), np.float32)
        for sample, kinds in enumerate(self._kinds):
            length = len(kinds)
            position = np.arange(length)
            distance = np.abs(position[:, None] - position)
            bucket = np.where(distance == 0, FINE_WINDOWS, distance * FINE_WINDOWS // length)
            bucket = np.where(kinds > 0, FINE_WINDOWS + kinds, bucket).ravel()
            for layer, head in itertools.product(range(self.case.layers), range(self._heads)):
                weights = maps[sample, layer, head, :length, :length].ravel()
                features[sample, layer, head] = np.bincount(bucket, weights, COLUMNS) / length
        return features

    def _transformer_lens(self) -> Callable[[], object]:
        from transformer_lens.model_bridge import TransformerBridge

        torch.manual_seed(0)
        # It takes a BERT with a language model's head alone; the vocabulary is small, and so is what that adds.
        model = BertForMaskedLM(self._config()).eval().to(DEVICE, getattr(torch, self.case.precision))
        with tempfile.TemporaryDirectory() as folder:
            model.config.architectures = [type(model).__name__]
            model.config.save_pretrained(folder)
            bridge = TransformerBridge.boot_transformers(folder, hf_model=model)
        inputs = {"input": self._inputs["input_ids"], "attention_mask": self._inputs["attention_mask"]}
        return lambda: bridge.run_with_cache(**inputs, names_filter=lambda name: name.endswith("hook_pattern"))


@torch.inference_mode()
def ratios(case: Case, names: list[str], pairs: int, seconds: float) -> dict[str, float]:
    """Median time of the plain model in ms, and of each other way in its terms.

    pairs: how many of the plain model and each way; seconds: after so many there are no more than three.
    """
    ways = Ways(case)
    calls = {name: ways.way(name) for name in ["plain", *names]}
    first = {name: call() for name, call in calls.items()}
    if "NumPy" in names:
        wrong = np.abs(first["NumPy"] - first["extraction"]).max()
        assert wrong < (1e-5 if case.precision == "float32" else 2e-2), f"features differ by {wrong}"
    del first
    plain, found = [], {name: [] for name in names}
    began = time.perf_counter()
    for number in range(pairs):
        if number >= 3 and time.perf_counter() - began > seconds:
            break
        for name in names:
            plain.append(_seconds(calls["plain"]))
            found[name].append(_seconds(calls[name]) / plain[-1])
    taken = len(plain) // len(names)
    return {
        "pairs": taken,
        "plain, ms": 1000 * np.median(plain),
        **{name: float(np.median(each)) for name, each in found.items()},
    }


def _seconds(call: Callable[[], object]) -> float:
    # With one thread, other programs on the machine disturb the processor's time less than that of the clock.
    clock = time.process_time if DEVICE.type == "cpu" and torch.get_num_threads() == 1 else time.perf_counter
    if DEVICE.type == "cuda":
        torch.cuda.synchronize()
    began = clock()
    call()
    if DEVICE.type == "cuda":
        torch.cuda.synchronize()
    return clock() - began


@torch.inference_mode()
def peak_memory(case: Case, name: str) -> float:
    """The largest memory of one run above that of the loaded model, in MiB; for a process that does nothing else."""
    # What is loaded at the first call alone, as libraries, does not count.
    Ways(replace(case, tokens=8, samples=1, spread=0)).way(name)()
    call = Ways(case).way(name)
    gc.collect()
    if DEVICE.type == "cuda":
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        call()
        return (torch.cuda.max_memory_allocated() - before) / 2**20
    # The peak begins anew at what is held now; a process's own `ru_maxrss` begins at its parent's.
    Path("/proc/self/clear_refs").write_text("5")
    before = _peak()
    call()
    return _peak() - before


def _peak() -> float:
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) / 1024


def time_row(case: Case, names: list[str], arguments: argparse.Namespace) -> dict[str, float]:
    """One row of the table of times."""
    return ratios(case, names, arguments.pairs, arguments.seconds)


def memory_row(case: Case, names: list[str], arguments: argparse.Namespace) -> dict[str, float]:
    """One row of the table of memory."""
    row = {}
    # Each process is a copy of one that has loaded the libraries and done nothing.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["pandas", "transformers.models.bert.modeling_bert"])
    for name in ["plain", *names]:
        with ProcessPoolExecutor(1, context) as process:
            row[name] = process.submit(peak_memory, case, name).result()
    plain = row.pop("plain")
    return {"plain, MiB": plain, **{name: memory / plain for name, memory in row.items()}}


MEASURES = {"time": time_row, "memory": memory_row}


def parse() -> argparse.Namespace:
    """The arguments."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("measures", nargs="*", choices=[*MEASURES, []], help="default: both")
    parser.add_argument("--shape", choices=SHAPES, default="bert-large")
    parser.add_argument("--layers", type=int, nargs="+", default=[4], help="default: %(default)s, enough for ratios")
    parser.add_argument("--tokens", type=int, nargs="+", default=[384], help="of the longest sample; 64 to 8192")
    parser.add_argument("--samples", type=int, help=f"of a batch; default: as many as {BATCH_TOKENS} tokens are")
    parser.add_argument("--spread", type=int, default=0, help="tokens by which each sample is shorter than the last")
    parser.add_argument("--share", type=float, default=0.25, help="of each layer's heads, ablated; default: a quarter")
    parser.add_argument("--ways", nargs="+", choices=["extraction", *ABLATIONS, *KEEP_MAPS], help="default: all")
    parser.add_argument("--maps", type=float, default=2, help="GiB of maps that a way may keep, else it is left out")
    parser.add_argument("--precision", default="bfloat16" if DEVICE.type == "cuda" else "float32")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--pairs", type=int, default=15, help="of the plain model and each way")
    parser.add_argument("--seconds", type=float, default=60, help="after which three pairs are enough")
    return parser.parse_args()


def main() -> None:
    """Print the tables asked for."""
    arguments = parse()
    chosen = arguments.ways or ["extraction", *ABLATIONS, *KEEP_MAPS]
    if "TransformerLens" in chosen and not importlib.util.find_spec("transformer_lens"):
        print("TransformerLens is not installed and is left out; pip install transformer_lens adds it.\n")
        chosen.remove("TransformerLens")
    if "NumPy" in chosen and "extraction" not in chosen:
        chosen.insert(0, "extraction")
    where = torch.cuda.get_device_name() if DEVICE.type == "cuda" else f"{arguments.threads} threads of {_processor()}"
    print(
        f"{arguments.shape}, {arguments.precision}, {where}; torch {torch.__version__}, "
        f"transformers {transformers.__version__}; {arguments.share:.0%} of heads ablated.\n"
    )
    for measure in arguments.measures or MEASURES:
        rows = []
        for layers, tokens in itertools.product(arguments.layers, arguments.tokens):
            samples = arguments.samples or max(1, BATCH_TOKENS // tokens)
            case = Case(
                arguments.shape,
                layers,
                tokens,
                samples,
                arguments.spread,
                arguments.share,
                arguments.precision,
                arguments.threads,
            )
            names = [name for name in chosen if name not in KEEP_MAPS or case.map_bytes <= arguments.maps * 2**30]
            found = MEASURES[measure](case, names, arguments)
            rows.append({"layers": layers, "tokens": tokens, "samples": samples, **found})
        unit = "a run" if measure == "time" else "peak memory above the loaded model"
        print(f"{measure.capitalize()}: {unit} of the plain model, and of the others in its terms.\n")
        print(markdown_table(pd.DataFrame(rows)), flush=True)


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


if __name__ == "__main__":
    main()
