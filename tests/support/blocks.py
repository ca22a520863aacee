"""Ways to cut the attention of samples into blocks, all of which give the same."""

import math

import pytest
import torch

from headtypes.attention.blocks import _GPU_PAIRS

# As they are; whole layers; rows in the smallest blocks; and these with one head after another, whose products are by
# either library.
WAYS = ["", "as on a GPU", "least blocks", "by head", "by head with oneDNN"]


def cut_into_blocks(monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    """Let attention be computed in one of `WAYS`."""
    blocks = "headtypes.attention.blocks"
    if way == "as on a GPU":
        monkeypatch.setattr(f"{blocks}._BLOCK_PAIRS", _GPU_PAIRS)
        for name in ("LONG", "_LONG_WITH_ONEDNN"):
            monkeypatch.setattr(f"{blocks}.{name}", math.inf)
    elif way:
        monkeypatch.setattr(f"{blocks}._BLOCK_PAIRS", 1)
    if way.startswith("by head"):
        onednn = way.endswith("oneDNN")
        if onednn and not torch.backends.mkldnn.is_available():
            pytest.skip("PyTorch without oneDNN")
        for name in ("LONG", "_LONG_WITH_ONEDNN", "_HEAD_PAIRS"):
            monkeypatch.setattr(f"{blocks}.{name}", 1)
        monkeypatch.setattr("headtypes.attention.ablate.LONG", 1)
        for module in (blocks, "headtypes.models.products"):
            monkeypatch.setattr(f"{module}.prefers_onednn", lambda: onednn)
