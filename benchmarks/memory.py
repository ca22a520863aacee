"""Peak memory of the ways of `ways.py`, each in a process of its own; on a CPU it needs Linux."""

import gc
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

import torch
from timing import seconds_of
from ways import DEVICE, Case, Ways


def memory_row(case: Case, names: list[str]) -> dict[str, float]:
    """Peak memory of the plain model above the loaded model in MiB, and of each other way in terms of that.

    `s` is the time of the plain run, and of each other way its time in terms of that: of one run each, which has to do
    for long texts.
    """
    # Each process is a copy of one that has loaded the libraries and done nothing.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["pandas", "transformers.models.bert.modeling_bert"])
    row = {}
    for name in ["plain", *names]:
        with ProcessPoolExecutor(1, context) as process:
            row[name] = process.submit(peak_memory, case, name).result()
    plain, seconds = row.pop("plain")
    memory = {name: found / plain for name, (found, _) in row.items()}
    return {"plain, MiB": plain, **memory, "plain, s": seconds, **{f"{it}, s": row[it][1] / seconds for it in row}}


@torch.inference_mode()
def peak_memory(case: Case, name: str) -> tuple[float, float]:
    """The largest memory of one run above that of the loaded model, in MiB, and its seconds; for a new process."""
    # What is loaded at the first call alone, as libraries, does not count.
    Ways(replace(case, tokens=8, samples=1, spread=0)).way(name)()
    call = Ways(case).way(name)
    gc.collect()
    if DEVICE.type == "cuda":
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        seconds = seconds_of(call)
        return (torch.cuda.max_memory_allocated() - before) / 2**20, seconds
    # The peak begins anew at what is held now; a process's own `ru_maxrss` begins at its parent's.
    Path("/proc/self/clear_refs").write_text("5")
    before = peak()
    seconds = seconds_of(call)
    return peak() - before, seconds


def peak() -> float:
    """The largest memory that this process has held, in MiB, since it began or the peak was reset."""
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) / 1024
