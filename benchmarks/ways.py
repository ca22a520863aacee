"""The ways to run a model that `attention.py` measures side by side.

plain:      the model with Transformers' default attention (`scaled_dot_product_attention`).
products:   the same with `headtypes.models.products`, as in all ways that follow: the limit. On some processors it is
            much faster than the plain model, on others the same.
extraction: the distance features of every head, with `headtypes.analyses.distances.reducer`, in 69 columns.
norms:      the same of weights and, in the same pass, of norms (`headtypes.attention.norms`).
surface:    the surface patterns of every head, with `headtypes.analyses.surface.measure`, in 14 columns.
zero, ...:  one ablation of a share of the heads of each layer, with `headtypes.attention.ablate`.
masks:      `output_attentions=True`, all maps kept and copied to NumPy; then, for each sample, the maps of all heads
            are multiplied by the mask of one bucket after another and summed, as the code of Clark et al. (2019) does
            for its classes of tokens. The 21 numbers of the paper.
bincount:   the same maps, and one `np.bincount` for each head's map: the least that we know to do in NumPy.
TransformerLens: its cache of every map (pip install transformer_lens), without any reduction.
"""

import copy
import itertools
import tempfile
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from transformers import BertConfig, BertForMaskedLM, BertModel

from headtypes.analyses.distances.columns import SELF_AND_SPECIAL
from headtypes.analyses.distances.reducer import DistanceFeatures
from headtypes.analyses.surface.measure import SurfacePatterns
from headtypes.attention.ablate import Ablation
from headtypes.attention.batches import Batch
from headtypes.attention.hook import ATTENTION, run
from headtypes.attention.norms import KeyLengths
from headtypes.attention.one_pass import AttentionReader
from headtypes.attention.operations import Reading
from headtypes.attention.reducers import Pass, PerSample
from headtypes.models.products import fast_products

# Hidden size, heads, inner size of the feed-forward layers, and layers of the model of that name.
SHAPES = {"minilm": (384, 12, 1536, 6), "bert-base": (768, 12, 3072, 12), "bert-large": (1024, 16, 4096, 24)}
PRODUCTS = "products"
# What is read in one pass, by its reducers, which are made of the kinds of tokens.
READ = {
    "extraction": lambda kinds: [DistanceFeatures(kinds)],
    "norms": lambda kinds: [DistanceFeatures(kinds), DistanceFeatures(kinds, of="norms")],
    "surface": lambda kinds: [SurfacePatterns(kinds)],
}
ABLATIONS = ("zero", "uniform", "mean", "temperature 2", "resample", "drop_intra", "drop_inter")
NUMPY = ("masks", "bincount")
KEEP_MAPS = (*NUMPY, "TransformerLens")
# Windows of the paper, which is what is done instead computes; extraction stores finer ones.
BINS = 16
VOCABULARY = 1000
# Tokens of a sentence, and one special token in so many.
SENTENCE, SPECIAL = 25, 9
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
        if name == PRODUCTS:
            model = self._model("sdpa")
            return fast_products(model)(lambda: model(**self._inputs).last_hidden_state)
        if name in READ:
            model = self._model(ATTENTION)
            # Known before the first batch of a pass, of which a run has many.
            lengths = KeyLengths(model) if any(reducer.of == "norms" for reducer in READ[name](self._kinds)) else None
            return fast_products(model)(lambda: self._read(model, READ[name](self._kinds), lengths))
        if name in NUMPY:
            model, reduce = self._model("eager"), with_masks if name == "masks" else with_bincount
            return lambda: self._from_maps(model, reduce)
        if name == "TransformerLens":
            return self._transformer_lens()
        model = self._model(ATTENTION)
        operations = np.full((self.case.layers, self._heads), "keep", dtype=object)
        rng = np.random.default_rng(1)
        for layer in operations:
            layer[rng.permutation(self._heads)[: round(self.case.share * self._heads)]] = name
        head_outputs = np.zeros((*operations.shape, self._hidden // self._heads), np.float32)
        hook = Ablation(operations, self._sentences, Reading(), head_outputs)
        return fast_products(model)(lambda: run(model, self._inputs, hook))

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

    def _read(self, model: torch.nn.Module, reducers: list[PerSample], lengths: KeyLengths | None) -> np.ndarray:
        samples = np.arange(len(self._kinds))
        for reducer in reducers:
            reducer.begin(Pass("benchmark", samples, self.case.layers, self._heads, self._heads, model.dtype))
        reader = AttentionReader(reducers, Batch(samples, self.case.lengths, self._inputs), lengths)
        run(model, self._inputs, reader)
        reader.finish("benchmark")
        return reducers[0].result()

    def _from_maps(self, model: torch.nn.Module, reduce: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
        attentions = model(**self._inputs, output_attentions=True).attentions
        maps = [layer.float().cpu().numpy() for layer in attentions]
        found = []
        for sample, kinds in enumerate(self._kinds):
            length = len(kinds)
            found.append(reduce(np.array([layer[sample, :, :length, :length] for layer in maps]), bucket_of(kinds)))
        return np.array(found)

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


def bucket_of(kinds: np.ndarray) -> np.ndarray:
    """The bucket of every pair of a sample's tokens: [query, key] int, in the order of the paper's 21 numbers."""
    length = len(kinds)
    distance = np.abs(np.arange(length)[:, None] - np.arange(length))
    bucket = np.where(distance == 0, BINS, distance * BINS // length)
    return np.where(kinds > 0, BINS + kinds, bucket)


def with_masks(maps: np.ndarray, bucket: np.ndarray) -> np.ndarray:
    """Share of each head's attention in each bucket, [layer, head, 21], of maps [layer, head, query, key]."""
    masks = [(bucket == number).astype(maps.dtype) for number in range(BINS + len(SELF_AND_SPECIAL))]
    return np.stack([(maps * mask).sum(-1).sum(-1) for mask in masks], axis=-1) / len(bucket)


def with_bincount(maps: np.ndarray, bucket: np.ndarray) -> np.ndarray:
    """What `with_masks` gives."""
    features = np.empty((*maps.shape[:2], BINS + len(SELF_AND_SPECIAL)), maps.dtype)
    for head in itertools.product(*map(range, maps.shape[:2])):
        features[head] = np.bincount(bucket.ravel(), maps[head].ravel(), features.shape[-1])
    return features / len(bucket)
