"""Ways to cut the attention of samples into blocks, all of which give the same."""

import pytest
import torch

# As they are; rows in the smallest blocks; and the same with one head after another, whose products are by either
# library.
WAYS = ["", "least blocks", "by head", "by head with oneDNN"]


def cut_into_blocks(monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    """Let attention be computed in one of `WAYS`."""
    blocks = "headtypes.attention.blocks"
    if way:
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
