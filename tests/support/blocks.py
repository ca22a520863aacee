"""Ways to cut the attention of samples into blocks, all of which give the same."""

import pytest

# As they are; whole layers, or long texts in parts; rows in the smallest blocks; and these with one head after another.
WAYS = ["", "as on a GPU", "as on a GPU, in parts", "least blocks", "by head"]


def cut_into_blocks(monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    """Let attention be computed in one of `WAYS`."""
    blocks = "headtypes.attention.hook"
    if way == "as on a GPU, in parts":
        monkeypatch.setattr(f"{blocks}._GPU_PAIRS", 2**12)
    if way.startswith("as on a GPU"):
        for module in (blocks, "headtypes.attention.one_pass"):
            monkeypatch.setattr(f"{module}.at_once", lambda device: True)
    elif way:
        monkeypatch.setattr(f"{blocks}._BLOCK_PAIRS", 1)
    if way == "by head":
        for name in (f"{blocks}.LONG", f"{blocks}._HEAD_PAIRS", "headtypes.attention.ablate.LONG"):
            monkeypatch.setattr(name, 1)
