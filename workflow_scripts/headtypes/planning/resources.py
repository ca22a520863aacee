"""What a job asks for: memory, time and a GPU, from the size of the model, of its texts, and of a batch.

Every estimate lies above what was measured (below), but not many times above: memory that a job reserves and does not
use is lost to others. A job that needed more is tried again with more (`grown`). No result depends on any of this, so
none of it is in a spec.

Measured on a CPU, in MB: MiniLM (6 layers, 22.6 million numbers, batches of 4,096 tokens) on 300 questions of up to
120 tokens: extraction 670, evaluation 830, importance and gradients 1,340, gradients with masked words 1,500,
fine-tuning 2,080; on the 10,570 questions of SQuAD, in windows of 384: evaluation 1,310 and 300 to 2,600 s (the latter
beside other programs), importance 1,700 and 1,570 to 3,100 s. BERT-large (24 layers, 336 million numbers) on 20 of
these questions: extraction and maps 1,790, evaluation 2,970, importance and gradients 6,650, fine-tuning 8,860. On a
GPU nothing was measured.
"""

import math
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from headtypes.analyses.stage import Stage, encoding_of, given
from headtypes.comparisons.heads.settings import MOST_HEADS
from headtypes.core.errors import InputError
from headtypes.core.files import StrPath, read_json
from headtypes.models.placement import BYTES, GB, gpus_for
from headtypes.planning.config.schema import Windows
from headtypes.planning.plan import Plan
from headtypes.planning.results import paths
from headtypes.planning.stages.registry import STAGES

_MB = 1e6
# Memory of Python with torch and Transformers, and without them; and of CUDA's libraries.
_BASE_MB, _BASE_WITHOUT_MODEL_MB, _CUDA_MB = 500, 300, 2500
# Memory of Snakemake itself, which on a cluster runs inside the job too.
_SNAKEMAKE_MB = 300
# Per token: questions, windows and answers as Python holds them; and texts that are only encoded.
_BYTES_OF_TEXT, _BYTES_OF_ENCODED_TEXT = 300, 100
# Where gradients are taken: what the memory's gaps take, and vectors per token and layer that are kept if weights are
# fixed, so that the inputs of linear layers are not.
_GRADIENTS_MB, _KEPT_VECTORS = 500, 10
# UTF-8 text; SQuAD's JSON has 5.8.
_BYTES_PER_TOKEN = 4
# Operations per second of a slow or shared core, a third of what a free one did, and of a GPU of 2017.
_CPU_SPEED, _GPU_SPEED = 20e9, 2e12
# A logarithm, and the sums around it, take as long as so many multiplications and additions of matrices.
_OPERATIONS_PER_LOGARITHM = 50
# Time to load libraries, weights and texts.
_START_MINUTES = 10
_MARGIN = 1.5


class Needs(NamedTuple):
    """What a job asks for at its first attempt; operations: the multiplications and additions that its time is for."""

    mem_mb: int
    minutes: int
    operations: float = 0


class ModelSize(NamedTuple):
    """The size of a model, as `fetch_model` records it; parameters: the number of its weights.

    memory: GB of them by place, if it is larger than a device; of the configuration, and not of the record.
    """

    layers: int
    heads: int
    width: int
    parameters: int
    max_length: int = 512
    memory: Mapping[str, float] | None = None


# For a model whose record cannot be read, which the job itself will report: BERT-large's.
UNKNOWN = ModelSize(24, 16, 1024, 336_000_000)


class Texts(NamedTuple):
    """Texts that a model reads: their number, and upper bounds of the tokens of the longest and of all of them."""

    rows: int
    longest: int
    tokens: int

    def cut(self, limit: int) -> "Texts":
        """The same, of which no input is longer than some tokens."""
        return self._replace(longest=min(self.longest, limit))


def gpus(plan: Plan, inputs: Any, sizes: "Sizes | None" = None) -> int:
    """How many GPUs a job that runs a model needs; inputs: as in `needs`, where there is one of the model."""
    record = getattr(inputs, "model", None)
    if not record or memory_of(plan, Path(record).stem) is None:
        return 1
    size = placed(plan, record, sizes or Sizes())
    return gpus_for(size.parameters, plan.config.compute.precision, size.memory)


def memory_of(plan: Plan, model: str) -> dict[str, float] | None:
    """GB of a model's weights by place, as the configuration has them."""
    memory = plan.config.models[model].memory
    return None if memory is None else given(memory)


def placed(plan: Plan, record: StrPath, sizes: "Sizes") -> ModelSize:
    """The size of a model, with where its weights may lie."""
    return sizes.model(record)._replace(memory=memory_of(plan, Path(record).stem))


def grown(value: int, attempt: int) -> int:
    """The value, doubled for every attempt after the first, which is number 1."""
    return value * 2 ** (attempt - 1)


class Sizes:
    """The sizes of a job's inputs, which are those of files."""

    def model(self, record: StrPath) -> ModelSize:
        """The size of a model, from the path of its record."""
        return model_size(record)

    def texts(self, rows: StrPath, windows: Windows | None = None) -> Texts:
        """The size of the texts in a file, or of the windows that they are cut into."""
        return texts_of(rows, windows)

    def megabytes(self, files: Iterable[StrPath]) -> float:
        """The size of some files together."""
        return sum(Path(file).stat().st_size for file in files) / _MB


def needs(
    plan: Plan, rule: str, wildcards: Any, inputs: Any, on_gpu: bool = False, sizes: Sizes | None = None
) -> Needs:
    """What a job of a rule asks for.

    wildcards, inputs: the job's own, as attributes; inputs can also be iterated over.
    on_gpu: whether it computes on a GPU.
    sizes:  of its inputs, if the files are not to be asked.
    Raises `FileNotFoundError` where an input is not there yet.
    """
    stage, compute, windows, sizes = STAGES[rule], plan.config.compute, plan.config.windows, sizes or Sizes()
    if stage.computes == "encoding":
        return encoding(sizes.texts(getattr(inputs, stage.reads), windows))
    if stage.computes in ("copying", "finding"):
        return encoding(Texts(0, 0, 0))
    if stage.computes == "grouping":
        size_mb = sizes.megabytes(inputs)
        models = _models(plan, wildcards.task, inputs.features, sizes)
        return grouping(sum(it.layers * it.heads for it in models), size_mb)
    if not runs_model(rule, inputs):
        base_mb = _BASE_MB if getattr(inputs, "parts", ()) else _BASE_WITHOUT_MODEL_MB
        return tables(sizes.megabytes(inputs), base_mb)
    if stage.computes == "training":
        settings = plan.finetuned(wildcards.model)
        texts = sizes.texts(getattr(inputs, stage.reads)).cut(settings.max_seq_length)
        return training(sizes.model(inputs.base), texts, settings.batch_size, settings.epochs, on_gpu)
    model = placed(plan, inputs.model, sizes)
    texts = _read(plan, stage, wildcards, inputs, sizes)
    passes = 1 if stage.passes is None else stage.passes(plan, wildcards, texts.rows)
    passes *= model.layers * model.heads if stage.by_head else 1
    if stage.computes == "gradients":
        return gradients(model, texts, compute.batch_tokens, compute.precision, passes, on_gpu)
    if stage.computes == "divergence":
        return divergence(model, texts, compute.batch_tokens, compute.precision, passes, on_gpu)
    return forward(model, texts, compute.batch_tokens, compute.precision, passes, on_gpu)


def _read(plan: Plan, stage: Stage, wildcards: Any, inputs: Any, sizes: Sizes) -> Texts:
    """What a job that runs a model reads with it."""
    if stage.reads is None:
        # Random tokens, which no file holds.
        drawn = plan.config.detectors
        tokens = drawn.sequences * (4 * drawn.length + drawn.context)
        return Texts(3 * drawn.sequences, max(2 * drawn.length, drawn.context), tokens)
    task, file = getattr(wildcards, "task", None), getattr(inputs, stage.reads)
    task = task or plan.partitions[wildcards.model, wildcards.partition].task
    if (stage.reads == "questions" or getattr(inputs, "windows", ())) and not plan.is_text(task):
        windows = plan.config.windows
        texts, times = sizes.texts(file, windows), plan.kind_of(task).windows_of_row
        return texts._replace(tokens=times * texts.tokens).cut(windows.max_seq_length)
    longest = sizes.model(inputs.model).max_length
    return sizes.texts(file).cut(min(encoding_of(plan, task).get("max_seq_length", longest), longest))


def _models(plan: Plan, task: str, features: Iterable[StrPath], sizes: Sizes) -> Iterable[ModelSize]:
    """The sizes of the models whose features on a task lie in these files; their records need not be there."""
    for entry, file in zip(plan.compared_heads[task], features, strict=True):
        results = str(file).removesuffix(paths.FEATURES.format(**entry.wildcards))
        try:
            yield sizes.model(results + paths.MODEL.format(model=entry.model))
        except FileNotFoundError:
            yield UNKNOWN


def runs_model(rule: str, inputs: Any) -> bool:
    """Whether a job runs a model; one that merges what shards have computed does not."""
    return STAGES[rule].runs_model and not getattr(inputs, "parts", ())


def model_size(record: StrPath) -> ModelSize:
    """The size of a model, from the record that `fetch_model` wrote."""
    try:
        fields = read_json(record)
        return ModelSize(*(fields[name] for name in ModelSize._fields[:-1]))
    except (InputError, KeyError):
        return UNKNOWN


def texts_of(rows: StrPath, windows: Windows | None = None) -> Texts:
    """The size of the texts in a file that has one (or one pair) per line, or of the windows that they are cut into."""
    state = Path(rows).stat()
    return _texts_of(str(rows), state.st_mtime_ns, state.st_size, windows)


@lru_cache
def _texts_of(rows: str, _changed: int, _size: int, windows: Windows | None) -> Texts:
    with open(rows, "rb") as file:
        return texts_in(map(len, file), windows)


def texts_in(bytes_of: Iterable[int], windows: Windows | None = None) -> Texts:
    """The size of texts from the bytes of each line that holds one, or of the windows that they are cut into."""
    lengths = [math.ceil(length / _BYTES_PER_TOKEN) for length in bytes_of]
    tokens = sum(lengths if windows is None else (_in_windows(length, windows) for length in lengths))
    return Texts(len(lengths), max(lengths, default=0), tokens)


def _in_windows(length: int, windows: Windows) -> int:
    """Tokens of all windows of a text; each window starts `doc_stride` tokens after the one before."""
    further = math.ceil(max(0, length - windows.max_seq_length) / windows.doc_stride)
    return min(length, windows.max_seq_length) + further * windows.max_seq_length


def forward(
    model: ModelSize, texts: Texts, batch_tokens: int, precision: str, passes: float = 1, on_gpu: bool = False
) -> Needs:
    """Needs of a job that runs a model over texts and keeps no layer's activations.

    batch_tokens: padded tokens of a batch; passes: how often all texts are read.

    It holds the inputs and outputs of a layer's widest part at a time, about 16 vectors per token. Attention is reduced
    in blocks whose size does not grow with the length.
    """
    batch = max(batch_tokens, texts.longest) * 16 * model.width
    operations = passes * _operations(model, texts)
    return _needs(model, batch, BYTES[precision], texts.tokens * _BYTES_OF_TEXT, operations, on_gpu)


def divergence(
    model: ModelSize, texts: Texts, batch_tokens: int, precision: str, passes: float = 1, on_gpu: bool = False
) -> Needs:
    """Needs of a job that compares the attention of all pairs of a model's heads.

    It keeps the queries and keys of all layers, and takes a logarithm for each pair of heads and each pair of tokens.
    """
    heads = model.layers * model.heads
    batch = max(batch_tokens, texts.longest) * (16 + 2 * model.layers) * model.width + 8 * heads**2
    logarithms = heads**2 / 2 * texts.tokens * texts.longest
    operations = passes * (_operations(model, texts) + _OPERATIONS_PER_LOGARITHM * logarithms)
    return _needs(model, batch, BYTES[precision], texts.tokens * _BYTES_OF_TEXT, operations, on_gpu)


def gradients(
    model: ModelSize, texts: Texts, batch_tokens: int, precision: str, passes: float = 1, on_gpu: bool = False
) -> Needs:
    """Needs of a job that takes gradients through a model whose weights stay as they are, and keeps no attention."""
    batch = max(batch_tokens, texts.longest) * model.layers * _KEPT_VECTORS * model.width
    text = texts.tokens * _BYTES_OF_TEXT + _GRADIENTS_MB * _MB
    return _needs(model, batch, BYTES[precision], text, passes * 3 * _operations(model, texts), on_gpu)


def training(model: ModelSize, texts: Texts, batch_size: int, epochs: float, on_gpu: bool = False) -> Needs:
    """Needs of a job that fine-tunes a model in batches of some texts.

    Beside the weights there are their gradients and Adam's two moments, all of them float32.
    """
    batch = batch_size * texts.longest * _kept_in_training(model, texts.longest) + 2 * model.parameters
    operations = epochs * 3 * _operations(model, texts)
    return _needs(model, batch, BYTES["float32"], texts.tokens * _BYTES_OF_ENCODED_TEXT, operations, on_gpu)


def encoding(texts: Texts) -> Needs:
    """Needs of a job that cuts texts into windows, or trains a small model or finds one without any."""
    return Needs(_memory(_BASE_MB + texts.tokens * _BYTES_OF_ENCODED_TEXT / _MB), 60)


def grouping(heads: int, size_mb: float) -> Needs:
    """Needs of a job that groups heads by their distances, of which there are two copies, from files of this size."""
    return tables(size_mb + 8 * min(heads, MOST_HEADS) ** 2 / _MB / 10)


def tables(size_mb: float, base_mb: float = _BASE_WITHOUT_MODEL_MB) -> Needs:
    """Needs of a job that runs no model and reads files of this size, of which it may hold a few copies."""
    return Needs(_memory(base_mb + 10 * size_mb), 60)


def _memory(mb: float) -> int:
    return math.ceil(_MARGIN * mb + _SNAKEMAKE_MB)


def _kept_in_training(model: ModelSize, length: int) -> float:
    """Numbers per token that a forward pass keeps for the gradients (Korthikanti et al. 2022, equation 2).

    The equation's 34 sbh + 5 as^2 b bytes per layer are for numbers of two bytes.
    """
    return model.layers * (34 * model.width + 5 * model.heads * length) / 2


def _operations(model: ModelSize, texts: Texts) -> float:
    """Multiplications and additions of a forward pass over texts (Kaplan et al. 2020, section 2.1)."""
    weights = 12 * model.layers * model.width**2
    # Twice their term for attention, which is for causal models, whose tokens see only those before them.
    return 2 * texts.tokens * (weights + 2 * model.layers * texts.longest * model.width)


def _needs(model: ModelSize, batch: float, precision: int, text: float, operations: float, on_gpu: bool) -> Needs:
    """Memory and time in all; batch: numbers, which are on the GPU where there is one; text: bytes.

    While weights are loaded, they are in memory twice; those of a model in several places are loaded piece by piece,
    and only those that may lie there are in memory, with the widest layer and its like on disk.
    """
    weights = 2 * model.parameters * precision
    if model.memory is not None:
        of_layer = 2 * model.parameters * precision / model.layers
        weights = of_layer + min(weights / 2, model.memory.get("cpu", math.inf if not on_gpu else 0) * GB)
    size = weights + (0 if on_gpu else batch * precision) + text
    minutes = operations / (_GPU_SPEED if on_gpu else _CPU_SPEED) / 60
    mem_mb = _memory(_BASE_MB + on_gpu * _CUDA_MB + size / _MB)
    return Needs(mem_mb, math.ceil(_START_MINUTES + minutes), operations)
