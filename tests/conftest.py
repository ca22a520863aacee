"""How tests run: none has a deadline, those that take longest come first, and layers may return noise."""

import pytest
from hypothesis import settings

# A busy machine is no failure.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

# The files and folders that take longest, in this order; all others come after them.
LONGEST = ("cluster", "workflow/test_end_to_end", "contract", "reliability", "workflow", "docs")


def pytest_collection_modifyitems(items: list) -> None:
    """What takes long comes first, so that the processes that share the files of tests end together."""
    items.sort(key=lambda item: [f"tests/{path}" not in item.nodeid for path in LONGEST])


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--noise", type=float, metavar="SIZE", help="relative noise on what layers return, such as 1e-7")


def pytest_configure(config: pytest.Config) -> None:
    config.noise = None
    if size := config.getoption("--noise"):
        from tests.support.noise import Noise

        config.noise = Noise(size)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> None:
    if item.config.noise:
        item.config.noise.begin(item.nodeid, on=item.get_closest_marker("same_bits") is None)
