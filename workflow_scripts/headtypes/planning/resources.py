"""Resources that a job asks for: memory in MB, time in minutes, and GPUs; no result depends on it.

Measured on a CPU, in MB: MiniLM on 300 questions: extraction 670, evaluation 830, gradients 1,340, fine-tuning 2,080;
on SQuAD's 10,570: evaluation 1,310, gradients 1,700. BERT-large on 20 questions: extraction 1,790, evaluation 2,970,
gradients 6,650, fine-tuning 8,860. On a GPU nothing was measured.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from headtypes.analyses.detectors.analysis import LENGTH, SEQUENCES
from headtypes.core.errors import InputError
from headtypes.core.files import StrPath, read_json
from headtypes.core.stage import Stage
from headtypes.models.placement import BYTES, GB, gpus_for
from headtypes.planning.plan import Plan

_MB, _MARGIN = 1e6, 1.5
# Of Python with torch and Transformers; and of Snakemake, which on a cluster runs inside the job too.
_BASE_MB, _SNAKEMAKE_MB = 500, 300
_GRADIENTS_MB = 500  # gaps in the memory where gradients are taken
# UTF-8 text, of which SQuAD's JSON has 5.8 bytes a token, which take 300 bytes as questions, windows and answers.
_BYTES_PER_TOKEN, _BYTES_OF_TEXT = 4, 300
_COPIES = 10  # of tables and arrays
_SPEED = 20e9  # operations per second of a slow or shared core, a third of what a free one did
_OPERATIONS_PER_LOGARITHM = 50  # multiplications and additions that take as long as a logarithm and sums around it
_START_MINUTES, _TABLE_MINUTES = 10, 60  # to load libraries, weights and texts; and of a job without a model


class Needs(NamedTuple):
    """The memory, in MB, and the time, in minutes, that a job asks for."""

    mem_mb: int
    minutes: int

    def at(self, attempt: int) -> "Needs":
        """Return what a job asks for at an attempt, from 1: twice the memory and time of the attempt before."""
        return Needs(*(value * 2 ** (attempt - 1) for value in self))


class ModelSize(NamedTuple):
    """A model's size: layers with heads, heads per layer, channels per token, parameters, most tokens of an input."""

    layers: int
    heads: int
    width: int
    parameters: int
    max_length: int = 512


# BERT-large's, for a model whose record cannot be read, which the job itself will report.
UNKNOWN = ModelSize(24, 16, 1024, 336_000_000)


def needs(plan: Plan, stage: Stage, wildcards: Any, inputs: Any) -> Needs:
    """Return the memory and time of a job; raise `FileNotFoundError` if one of Snakemake's `inputs` does not exist."""
    if not stage.runs_model:
        return Needs(_with_margin(_BASE_MB + _COPIES * sum(map(_size, inputs))), _TABLE_MINUTES)
    model, compute = model_size(getattr(inputs, "base", None) or inputs.model), plan.config.compute
    tokens, passes = _tokens(plan, stage, inputs), 1.0
    if stage.computes == "training":
        settings = plan.finetuned(wildcards.model)
        longest = min(settings.max_seq_length, model.max_length)
        return _with_model("training", model, settings.batch_size * longest, longest, tokens, settings.epochs)
    if stage.passes is not None:
        # Of rows that are shorter than the longest input, there are more; that many passes are not needed.
        passes = stage.passes(plan, wildcards, max(1, round(tokens / model.max_length)))
    batch, memory = max(compute.batch_tokens, model.max_length), plan.memory_of(wildcards.model)
    return _with_model(stage.computes, model, batch, model.max_length, tokens, passes, compute.precision, memory)


def _with_model(
    computes: str,
    model: ModelSize,
    batch: int,
    longest: int,
    tokens: float,
    passes: float = 1,
    precision: str = "float32",
    memory: Mapping[str, float] | None = None,
) -> Needs:
    # Loading holds the weights twice. A forward pass holds about 16 vectors per token. Divergences also hold queries
    # and keys of all layers, and gradients about 10 vectors per token and layer. Training holds gradients, Adam's two
    # moments, and in float32 the activations that Korthikanti et al. (2022, equation 2) count. A forward pass has the
    # multiplications of Kaplan et al. (2020, section 2.1), with twice their term for attention; with gradients, it has
    # three times as many.
    layers, heads, width = model.layers, model.heads, model.width
    kept = {
        "divergence": batch * (16 + 2 * layers) * width + 8 * (layers * heads) ** 2,
        "gradients": batch * 10 * layers * width,
        "training": batch * layers * (34 * width + 5 * heads * longest) / 2 + 2 * model.parameters,
    }.get(computes, batch * 16 * width)
    weights = 2 * model.parameters * BYTES[precision]
    if memory is not None:
        weights = weights / layers + min(weights / 2, memory.get("cpu", math.inf) * GB)
    size = weights + kept * BYTES[precision] + tokens * _BYTES_OF_TEXT
    tokens *= passes
    operations = 2 * tokens * (12 * layers * width**2 + 2 * layers * longest * width)
    if computes == "divergence":
        operations += _OPERATIONS_PER_LOGARITHM * (layers * heads) ** 2 / 2 * tokens * longest
    gradients = computes in ("gradients", "training")
    minutes = operations * (3 if gradients else 1) / _SPEED / 60
    return Needs(_with_margin(_BASE_MB + gradients * _GRADIENTS_MB + size / _MB), math.ceil(_START_MINUTES + minutes))


def gpus(plan: Plan, model: str, record: StrPath | None) -> int:
    """Return how many GPUs hold a model's weights, at least 1. record: file with the size; None (training): 1."""
    if record is None:
        return 1
    return gpus_for(model_size(record).parameters, plan.config.compute.precision, plan.memory_of(model))


def model_size(record: StrPath) -> ModelSize:
    try:
        fields = read_json(record)
        return ModelSize(*(fields[name] for name in ModelSize._fields))
    except (InputError, KeyError):
        return UNKNOWN


def _tokens(plan: Plan, stage: Stage, inputs: Any) -> float:
    # Detectors read random tokens.
    if stage.reads is None:
        return 4 * SEQUENCES * LENGTH
    # A token of a question counts once for each window that holds it.
    windows = plan.config.windows
    overlap = windows.max_seq_length / windows.doc_stride if stage.reads == "questions" else 1
    return overlap * _size(getattr(inputs, stage.reads)) * _MB / _BYTES_PER_TOKEN


def _size(file: StrPath) -> float:
    return Path(file).stat().st_size / _MB


def _with_margin(mb: float) -> int:
    return math.ceil(_MARGIN * mb + _SNAKEMAKE_MB)
