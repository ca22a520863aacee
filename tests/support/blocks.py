"""Ways to cut the attention of samples into blocks, all of which give the same."""

import math

import pytest

from headtypes.attention.blocks import _GPU_PAIRS

# As they are; whole layers; rows in the smallest blocks; and these with one head after another.
WAYS = ["", "as on a GPU", "least blocks", "by head"]


def cut_into_blocks(monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    """Let attention be computed in one of `WAYS`."""
    blocks = "headtypes.attention.blocks"
    if way == "as on a GPU":
        monkeypatch.setattr(f"{blocks}._BLOCK_PAIRS", _GPU_PAIRS)
        monkeypatch.setattr(f"{blocks}.LONG", math.inf)
    elif way:
        monkeypatch.setattr(f"{blocks}._BLOCK_PAIRS", 1)
    if way == "by head":
        for name in (f"{blocks}.LONG", f"{blocks}._HEAD_PAIRS", "headtypes.attention.ablate.LONG"):
            monkeypatch.setattr(name, 1)
