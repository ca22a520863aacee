"""Peak memory of the ways of `ways.py`, each in a process of its own; on a CPU it needs Linux."""

import gc
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

import torch
from ways import DEVICE, Case, Ways


def memory_row(case: Case, names: list[str]) -> dict[str, float]:
    """Peak memory of the plain model above the loaded model in MiB, and of each other way in terms of that."""
    # Each process is a copy of one that has loaded the libraries and done nothing.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["pandas", "transformers.models.bert.modeling_bert"])
    row = {}
    for name in ["plain", *names]:
        with ProcessPoolExecutor(1, context) as process:
            row[name] = process.submit(peak_memory, case, name).result()
    plain = row.pop("plain")
    return {"plain, MiB": plain, **{name: memory / plain for name, memory in row.items()}}


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
    before = peak()
    call()
    return peak() - before


def peak() -> float:
    """The largest memory that this process has held, in MiB, since it began or the peak was reset."""
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) / 1024
