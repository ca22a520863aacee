"""The processor is known from what Linux says of it."""

import pytest

from headtypes.core import processor
from headtypes.core.processor import has_avx512_that_mkl_leaves_unused


@pytest.mark.parametrize(
    ("maker", "flags", "expected"),
    [
        ("AuthenticAMD", "fma avx2 avx512f avx512bw", True),
        ("AuthenticAMD", "fma avx2", False),
        ("GenuineIntel", "fma avx2 avx512f amx_bf16", False),
        (None, None, False),
    ],
)
def test_avx512_is_unused_on_processors_that_are_not_of_intel(tmp_path, monkeypatch, maker, flags, expected):
    told = tmp_path / "cpuinfo"
    if maker:
        told.write_text(f"processor\t: 0\nvendor_id\t: {maker}\nflags\t\t: fpu {flags}\n")
    monkeypatch.setattr(processor, "_PROCESSOR", told)
    has_avx512_that_mkl_leaves_unused.cache_clear()
    try:
        assert has_avx512_that_mkl_leaves_unused() is expected
    finally:
        has_avx512_that_mkl_leaves_unused.cache_clear()
