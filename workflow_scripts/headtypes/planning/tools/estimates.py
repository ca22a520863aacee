"""How long jobs will take that have never run, and what memory and disk they need.

The time of a job that runs a model is counted in operations, from the sizes of the model and its texts, as the memory
and the run time that the job asks for (`workflow.resources`), and divided by the speed of this machine. That of other
jobs is the typical time of their rule. docs/extend/measurements.md compares estimates with what was measured.
"""

import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from headtypes.analyses.distances.columns import COLUMNS
from headtypes.analyses.stage import Stage
from headtypes.core.processor import has_avx512_that_mkl_leaves_unused
from headtypes.models.placement import BYTES, GB
from headtypes.planning.config.schema import Config
from headtypes.planning.plan import Plan
from headtypes.planning.resources import ModelSize, Texts, gpus, memory_of, needs, runs_model
from headtypes.planning.stages.registry import STAGES
from headtypes.planning.tools.jobs import Job
from headtypes.planning.tools.sizes import ExpectedSizes

# Operations per second of a job, as `resources` counts them, over those of `speed`; where `models.products` is faster
# than PyTorch's own choice; of training, in float32 and with bfloat16 (on a processor that has instructions for it).
_SHARES = {"forward": 1.05, "divergence": 0.65, "gradients": 1.7}
_FAST_SHARES = _SHARES | {"forward": 2.0, "gradients": 2.9}
_TRAINING_SHARE, _BF16_TRAINING_SHARE = 1.2, 2.6
# Operations per second of a job on a GPU, as one of 2020 does them; nothing was measured.
_GPU_SPEED = 10e12
# Seconds in which a job loads libraries, weights and texts, with a model and without one.
_START_WITH_MODEL, _START = 4.5, 1.8
# Seconds of rules that run no model and take longer than others, at MiniLM's 72 heads.
_SECONDS = {
    "fetch_model": 4.5,
    "fetch_training": 2.5,
    "sample_inputs": 0.3,
    "sample_questions": 0.3,
    "train_model": 25.0,
    "measure_stability": 8.0,
    "measure_confidence": 4.5,
    "choose_clustering": 8.0,
    "plot_heads": 3.3,
}
_SECONDS_PER_ENCODED_TOKEN = 1e-6
# Bytes on disk: of a number of a feature after compression, of a token of a window, of an answer and its scores, of a
# figure, and of a small file with its record and log.
_BYTES_OF_FEATURE, _BYTES_OF_TOKEN, _BYTES_OF_ANSWER, _BYTES_OF_FIGURE, _BYTES_OF_FILE = 3, 1, 70, 300_000, 15_000
_MB = 1e6


class Estimate(NamedTuple):
    """What a job is expected to take.

    seconds: on a machine that does nothing else; mem_mb: the memory that it asks for; disk_mb: size of its results;
    download_mb: what it downloads to the cache of the Hub; temporary_mb: what it keeps on disk until it ends;
    assumed: keys of the configuration whose sizes are not known yet.
    placed:  where the weights lie of a model that is larger than a device.
    refused: why data cannot be read, in sentences.
    """

    seconds: float
    mem_mb: int
    disk_mb: float
    download_mb: float = 0
    temporary_mb: float = 0
    assumed: frozenset[str] = frozenset()
    placed: str = ""
    refused: frozenset[str] = frozenset()


def speed(seconds: float = 0.5) -> float:
    """Multiplications and additions of float32 per second that one core of this machine does in a product of matrices.

    The best of many short products, so that what else the machine does hardly counts. seconds: how long to measure.
    """
    size, best, end = 256, float("inf"), time.perf_counter() + seconds
    left, right = np.random.default_rng(0).random((2, size, size), dtype=np.float32)
    with threadpool_limits(1):
        while (start := time.perf_counter()) < end or best == float("inf"):
            left @ right
            best = min(best, time.perf_counter() - start)
    return 2 * size**3 / best


def estimates(
    jobs: Iterable[Job], configs: dict[Path, Config], speed: float, scratch: Path
) -> dict[tuple[str, ...], Estimate]:
    """An estimate for each job, by its outputs.

    jobs:    producers before consumers.
    configs: the configuration of each folder of results; speed: of this machine, as `speed` measures it.
    scratch: an empty folder for the rows of tasks that have not been fetched yet.
    """
    plans = {results: Plan(config) for results, config in configs.items()}
    sizes = {
        results: ExpectedSizes(plan, results, scratch / str(number))
        for number, (results, plan) in enumerate(plans.items())
    }
    return {job.outputs: _estimate(job, plans[job.results], sizes[job.results], speed) for job in jobs}


class _Inputs(SimpleNamespace):
    """The inputs of a job, by name and in order."""

    def __iter__(self):
        return iter(self.all)


def _estimate(job: Job, plan: Plan, sizes: ExpectedSizes, speed: float) -> Estimate:
    stage, wildcards = STAGES[job.stage], SimpleNamespace(**job.wildcards)
    inputs = _Inputs(all=job.inputs, **{name: _one(files) for name, files in job.named.items()})
    sizes.assumed.clear()
    asked = needs(plan, job.stage, wildcards, inputs, job.gpu, sizes)
    texts = sizes.texts(getattr(inputs, stage.reads)) if stage.reads else Texts(0, 0, 0)
    model = sizes.model(_record(inputs)) if _record(inputs) else None
    disk = _disk(job, plan, stage, model, texts, sizes) / _MB
    if stage.computes != "training":
        # A folder of weights is not read as a table is.
        for output in job.outputs:
            sizes.expect(output, disk / len(job.outputs))
    return Estimate(
        _seconds(stage, plan, wildcards, inputs, asked.operations, texts, speed, job.gpu),
        asked.mem_mb if job.mem_mb is None else job.mem_mb,
        disk,
        4 * _downloaded(sizes, job) / _MB,
        12 * model.parameters / _MB if stage.computes == "training" else 0,
        frozenset(sizes.assumed),
        _placed(job, plan, inputs, model, sizes),
        frozenset(said for task, said in sizes.refused.items() if f"tasks.{task}" in sizes.assumed),
    )


def _placed(job: Job, plan: Plan, inputs: _Inputs, model: ModelSize | None, sizes: ExpectedSizes) -> str:
    """Where the weights of a model lie that is larger than a device, in words; empty for any other."""
    if not hasattr(inputs, "model") or not runs_model(job.stage, inputs):
        return ""
    name, precision = Path(inputs.model).stem, plan.config.compute.precision
    most = memory_of(plan, name)
    if most is None:
        return ""
    weights = model.parameters * BYTES[precision] / GB
    number = gpus(plan, inputs, sizes)
    asked = f"{number} GPU{'s' * (number > 1)} of at least {most['gpu']:g} GB" if "gpu" in most else ""
    of_machine = f"{most['cpu']:g} GB in the memory of the machine, the rest on disk" if "cpu" in most else ""
    return f"{name} has {weights:,.1f} GB of weights in {precision}: {' and '.join(filter(None, (asked, of_machine)))}."


def _downloaded(sizes: ExpectedSizes, job: Job) -> int:
    """The number of weights that a job downloads."""
    if job.stage != "fetch_model" or not sizes.is_to_be_downloaded(job.wildcards["model"]):
        return 0
    return sizes.model(job.outputs[0]).parameters


def _one(files: tuple[str, ...] | Mapping[tuple, str]) -> str | tuple[str, ...]:
    files = tuple(files.values()) if isinstance(files, Mapping) else files
    return files[0] if len(files) == 1 else files


def _record(inputs: _Inputs) -> str | None:
    return getattr(inputs, "base", None) or getattr(inputs, "model", None)


def _seconds(
    stage: Stage,
    plan: Plan,
    wildcards: SimpleNamespace,
    inputs: _Inputs,
    operations: float,
    texts: Texts,
    speed: float,
    on_gpu: bool,
) -> float:
    if stage.computes == "encoding":
        return _START + _SECONDS_PER_ENCODED_TOKEN * texts.tokens
    if not stage.runs_model or getattr(inputs, "parts", ()):
        return _SECONDS.get(stage.name, _START)
    if on_gpu:
        return _START_WITH_MODEL + operations / _GPU_SPEED
    if stage.computes == "training":
        share = _BF16_TRAINING_SHARE if plan.finetuned(wildcards.model).bf16 else _TRAINING_SHARE
    else:
        shares = _FAST_SHARES if has_avx512_that_mkl_leaves_unused() else _SHARES
        share = shares[stage.computes]
    return _START_WITH_MODEL + operations / (share * speed)


def _disk(job: Job, plan: Plan, stage: Stage, model: ModelSize | None, texts: Texts, sizes: ExpectedSizes) -> float:
    """Bytes of what a job writes."""
    small = _BYTES_OF_FILE * len(job.outputs)
    if stage.computes == "training":
        return small + 4 * model.parameters
    if stage.name in ("extract_features", "extract_shard"):
        # Where the first token's part is stored on its own, it has as many numbers.
        numbers = COLUMNS * (2 if sizes.stores_first_token(job.wildcards["model"]) else 1)
        return small + texts.rows * model.layers * model.heads * numbers * _BYTES_OF_FEATURE
    if stage.computes == "encoding":
        return small + _BYTES_OF_TOKEN * texts.tokens
    if stage.name.startswith("evaluate_"):
        return small + _BYTES_OF_ANSWER * texts.rows
    if stage.name.startswith("plot_"):
        return small + _BYTES_OF_FIGURE
    written = sum(sizes.texts(path).tokens * 4 for path in job.outputs if path.endswith(".jsonl"))
    return small + written
