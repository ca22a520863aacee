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
