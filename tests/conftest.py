"""Without a GPU, its kernels run in Triton's interpreter, which must be chosen before anything imports Triton."""

import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"


def pytest_collection_modifyitems(items: list) -> None:
    """What takes long comes first, so that the processes that share the tests end together."""
    items.sort(key=lambda item: "tests/unit/" in item.nodeid)
