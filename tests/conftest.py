"""How tests run: none has a deadline, and those that take longest come first."""

from hypothesis import settings

# A busy machine is no failure.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

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
