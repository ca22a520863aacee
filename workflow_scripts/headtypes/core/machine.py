"""Versions of installed packages, and precisions in which this machine's processor multiplies."""

import importlib.metadata


def version_of(package: str) -> str:
    """Return the version of an installed package, by its name in the package index, or "absent"."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "absent"


def arithmetic(precision: str) -> str:
    """Return the precision in which a model is computed on this machine: float32 instead of a bfloat16 that the
    processor would only emulate.

    An emulated step of training took 7.3 times as long. Call it after `placement.keep_to_gpus`, since PyTorch looks for
    GPUs.
    """
    import torch

    if precision == "bfloat16" and not torch.accelerator.is_available():
        return precision if torch.ops.mkldnn._is_mkldnn_bf16_supported() else "float32"
    return precision
