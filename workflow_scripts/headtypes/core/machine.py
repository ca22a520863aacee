"""Versions of installed packages, and precisions in which this machine's processor multiplies."""

import importlib.metadata


def version_of(package: str) -> str:
    """Return the version of an installed package, or "absent"; package: its name in the Python package index."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "absent"


def arithmetic(precision: str) -> str:
    """Return the precision in which this machine computes a model: `precision`, or float32 instead of a slow bfloat16.

    bfloat16 becomes float32 if there is no GPU and the processor would only emulate bfloat16: an emulated step of
    training took 7.3 times as long. Call `placement.keep_to_gpus` before this function, since this function makes
    PyTorch look for GPUs.
    """
    import torch

    if precision == "bfloat16" and not torch.accelerator.is_available():
        return precision if torch.ops.mkldnn._is_mkldnn_bf16_supported() else "float32"
    return precision
