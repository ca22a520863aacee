"""Times of the ways of `ways.py`, each beside the plain model's just before it."""

import time
from collections.abc import Callable

import numpy as np
import torch
from ways import BINS, DEVICE, NUMPY, Case, Ways

from headtypes.analyses.distances.columns import head_features


@torch.inference_mode()
def time_row(case: Case, names: list[str], pairs: int, seconds: float) -> dict[str, float]:
    """Median time of the plain model in ms, and of each other way the median of its ratios to the plain model.

    `±` is half the distance between the quartiles of these ratios, of the way where it is largest.

    pairs: how many of the plain model and each way; seconds: after so many there are no more than three.
    """
    ways = Ways(case)
    calls = {name: ways.way(name) for name in ["plain", *names]}
    _compare({name: call() for name, call in calls.items()}, case)
    plain, found = [], {name: [] for name in names}
    began = time.perf_counter()
    for number in range(pairs):
        if number >= 3 and time.perf_counter() - began > seconds:
            break
        for name in names:
            plain.append(seconds_of(calls["plain"]))
            found[name].append(seconds_of(calls[name]) / plain[-1])
    return {
        "pairs": len(plain) // max(1, len(names)),
        "plain, ms": 1000 * np.median(plain),
        "±": max((np.subtract(*np.quantile(each, [0.75, 0.25])) / 2 for each in found.values()), default=0.0),
        **{name: float(np.median(each)) for name, each in found.items()},
    }


def _compare(results: dict[str, object], case: Case) -> None:
    """See that what is measured gives the same features."""
    for name in results.keys() & {*NUMPY}:
        wrong = np.abs(results[name] - head_features(results["extraction"], BINS)).max()
        assert wrong < (1e-5 if case.precision == "float32" else 2e-2), f"{name}: features differ by {wrong}"


def seconds_of(call: Callable[[], object]) -> float:
    """How long a call takes."""
    # With one thread, other programs on the machine disturb the processor's time less than that of the clock.
    clock = time.process_time if DEVICE.type == "cpu" and torch.get_num_threads() == 1 else time.perf_counter
    if DEVICE.type == "cuda":
        torch.cuda.synchronize()
    began = clock()
    call()
    if DEVICE.type == "cuda":
        torch.cuda.synchronize()
    return clock() - began
