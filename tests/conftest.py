"""Without a GPU, its kernels run in Triton's interpreter, which must be chosen before anything imports Triton."""

import os

import torch
from hypothesis import settings

# A busy machine is no failure.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"

# The files and folders that take longest, in this order; all others come after them.
LONGEST = (
    "tests/cluster/",
    "tests/workflow/test_end_to_end.py",
    "tests/contract/",
    "tests/reliability/test_runs.py",
    "tests/workflow/",
    "tests/docs/",
    "tests/reliability/",
)


def pytest_collection_modifyitems(items: list) -> None:
    """What takes long comes first, so that the processes that share the files of tests end together."""
    items.sort(key=lambda item: next((at for at, path in enumerate(LONGEST) if path in item.nodeid), len(LONGEST)))
