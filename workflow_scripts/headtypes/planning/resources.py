"""What a job asks for: memory in MB, time in minutes, and GPUs; no result depends on it.

Memory is that of the libraries, the model's weights, what is kept of a batch, and texts; time that of the model's
multiplications and additions. Estimates lie above what was measured, and not many times above: memory that a job
reserves and does not use is lost to others. A job that needed more is tried again with more (`grown`).

Measured on a CPU, in MB: MiniLM (6 layers, 22.6 million numbers, batches of 4,096 tokens) on 300 questions of up to
120 tokens: extraction 670, evaluation 830, importance and gradients 1,340, gradients with masked words 1,500,
fine-tuning 2,080; on the 10,570 questions of SQuAD, in windows of 384: evaluation 1,310 and 300 to 2,600 s (the latter
beside other programs), importance 1,700 and 1,570 to 3,100 s. BERT-large (24 layers, 336 million numbers) on 20 of
these questions: extraction and maps 1,790, evaluation 2,970, importance and gradients 6,650, fine-tuning 8,860. On a
GPU nothing was measured.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from headtypes.analyses.detectors.stage import LENGTH, SEQUENCES
from headtypes.analyses.stage import Stage, given
from headtypes.core.errors import InputError
from headtypes.core.files import StrPath, read_json
from headtypes.models.placement import BYTES, GB, gpus_for
from headtypes.planning.plan import Plan
from headtypes.planning.stages.registry import STAGES

_MB = 1e6
# Of Python with torch and Transformers; and of Snakemake, which on a cluster runs inside the job too.
_BASE_MB, _SNAKEMAKE_MB = 500, 300
# Where gradients are taken, the memory's gaps take as much.
_GRADIENTS_MB = 500
# UTF-8 text, of which SQuAD's JSON has 5.8 bytes a token, which take 300 bytes as questions, windows and answers.
_BYTES_PER_TOKEN, _BYTES_OF_TEXT = 4, 300
# Tables and arrays are held in a few copies.
_COPIES = 10
# Operations per second of a slow or shared core, a third of what a free one did.
_SPEED = 20e9
# A logarithm, and the sums around it, take as long as so many multiplications and additions of matrices.
_OPERATIONS_PER_LOGARITHM = 50
# To load libraries, weights and texts; and of a job without a model.
_START_MINUTES, _TABLE_MINUTES = 10, 60
_MARGIN = 1.5


class Needs(NamedTuple):
    """What a job asks for at its first attempt."""

    mem_mb: int
    minutes: int


class ModelSize(NamedTuple):
    """The size of a model, as `fetch_model` records it; parameters: the number of its weights."""

    layers: int
    heads: int
    width: int
    parameters: int
    max_length: int = 512


# For a model whose record cannot be read, which the job itself will report: BERT-large's.
UNKNOWN = ModelSize(24, 16, 1024, 336_000_000)


def needs(plan: Plan, rule: str, wildcards: Any, inputs: Any) -> Needs:
    """What a job of a rule asks for.

    wildcards, inputs: the job's own, as attributes; inputs can also be iterated over.
    Raises `FileNotFoundError` where an input is not there yet.
    """
    stage = STAGES[rule]
    if not stage.runs_model:
        return without_model(sum(map(_size, inputs)))
    model, compute = model_size(getattr(inputs, "base", None) or inputs.model), plan.config.compute
    tokens, passes = _tokens(plan, stage, inputs), 1.0
    if stage.computes == "training":
        settings = plan.finetuned(wildcards.model)
        longest = min(settings.max_seq_length, model.max_length)
        return with_model("training", model, settings.batch_size * longest, longest, tokens * settings.epochs)
    if stage.passes is not None:
        # Of rows that are shorter than the longest input, there are more; that many passes are not needed.
        passes = stage.passes(plan, wildcards, max(1, round(tokens / model.max_length)))
    batch = max(compute.batch_tokens, model.max_length)
    memory = memory_of(plan, wildcards.model)
    return with_model(
        stage.computes, model, batch, model.max_length, tokens * passes, compute.precision, memory, tokens
    )


def without_model(size_mb: float) -> Needs:
    """Needs of a job that runs no model and reads files of this size."""
    return Needs(_with_margin(_BASE_MB + _COPIES * size_mb), _TABLE_MINUTES)


def with_model(
    computes: str,
    model: ModelSize,
    batch: int,
    longest: int,
    tokens: float,
    precision: str = "float32",
    memory: Mapping[str, float] | None = None,
    held: float | None = None,
) -> Needs:
    """Needs of a job that runs a model.

    computes: as `Stage.computes`.
    batch, longest: tokens of a batch, and of its longest input; tokens: of all inputs, as often as they are read.
    memory: GB of the weights by place, if the model is larger than a device; held: tokens that are in memory.

    While weights are loaded, they are in memory twice. A forward pass holds the inputs and outputs of a layer's widest
    part, about 16 vectors per token; divergences keep the queries and keys of all layers besides, gradients of inputs
    about 10 vectors per token and layer, and training what Korthikanti et al. (2022, equation 2) count, for numbers of
    four bytes. Training also has gradients and Adam's two moments. A forward pass multiplies and adds as Kaplan et al.
    (2020, section 2.1) say, with twice their term for attention; with gradients, three times as often.
    """
    layers, heads, width = model.layers, model.heads, model.width
    kept = {
        "divergence": batch * (16 + 2 * layers) * width + 8 * (layers * heads) ** 2,
        "gradients": batch * 10 * layers * width,
        "training": batch * layers * (34 * width + 5 * heads * longest) / 2 + 2 * model.parameters,
    }.get(computes, batch * 16 * width)
    weights = 2 * model.parameters * BYTES[precision]
    if memory is not None:
        weights = weights / layers + min(weights / 2, memory.get("cpu", math.inf) * GB)
    size = weights + kept * BYTES[precision] + (tokens if held is None else held) * _BYTES_OF_TEXT
    operations = 2 * tokens * (12 * layers * width**2 + 2 * layers * longest * width)
    if computes == "divergence":
        operations += _OPERATIONS_PER_LOGARITHM * (layers * heads) ** 2 / 2 * tokens * longest
    gradients = computes in ("gradients", "training")
    minutes = operations * (3 if gradients else 1) / _SPEED / 60
    return Needs(_with_margin(_BASE_MB + gradients * _GRADIENTS_MB + size / _MB), math.ceil(_START_MINUTES + minutes))


def gpus(plan: Plan, model: str, record: StrPath | None) -> int:
    """How many GPUs a job that runs a model needs; record: the path of the model's record, or none where it is made."""
    if record is None:
        return 1
    return gpus_for(model_size(record).parameters, plan.config.compute.precision, memory_of(plan, model))


def memory_of(plan: Plan, model: str) -> dict[str, float] | None:
    """GB of a model's weights by place, as the configuration has them."""
    memory = plan.config.models[model].memory
    return None if memory is None else given(memory)


def grown(value: int, attempt: int) -> int:
    """The value, doubled for every attempt after the first, which is number 1."""
    return value * 2 ** (attempt - 1)


def model_size(record: StrPath) -> ModelSize:
    """The size of a model, from the record that `fetch_model` wrote."""
    try:
        fields = read_json(record)
        return ModelSize(*(fields[name] for name in ModelSize._fields))
    except (InputError, KeyError):
        return UNKNOWN


def _tokens(plan: Plan, stage: Stage, inputs: Any) -> float:
    """The tokens of what a job reads; questions are read in windows that overlap."""
    if stage.reads is None:
        return 4 * SEQUENCES * LENGTH
    windows = plan.config.windows
    overlap = windows.max_seq_length / windows.doc_stride if stage.reads == "questions" else 1
    return overlap * _size(getattr(inputs, stage.reads)) * _MB / _BYTES_PER_TOKEN


def _size(file: StrPath) -> float:
    return Path(file).stat().st_size / _MB


def _with_margin(mb: float) -> int:
    return math.ceil(_MARGIN * mb + _SNAKEMAKE_MB)
