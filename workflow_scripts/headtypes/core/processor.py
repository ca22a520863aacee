"""What this machine's processor can do."""

from functools import cache
from pathlib import Path

_PROCESSOR = Path("/proc/cpuinfo")


@cache
def has_avx512_that_mkl_leaves_unused() -> bool:
    """Whether the processor has AVX-512 and is not Intel's, as Linux says; MKL then does without AVX-512."""
    if not _PROCESSOR.exists():
        return False
    processor = _PROCESSOR.read_text()
    return "avx512f" in processor and "GenuineIntel" not in processor


def arithmetic(precision: str) -> str:
    """The precision in which a model is computed here: float32 for a bfloat16 that a processor would only emulate.

    Emulated, a step of training took 7.3 times as long. Call it after `gpus.keep_to_gpus`, since PyTorch looks for
    GPUs.
    """
    import torch

    if precision == "bfloat16" and not torch.accelerator.is_available():
        return precision if torch.ops.mkldnn._is_mkldnn_bf16_supported() else "float32"
    return precision
