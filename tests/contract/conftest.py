"""Finished working directories, one for each process that runs tests."""

import pytest

from tests.support.workplace import Workplace


@pytest.fixture(scope="session")
def place(tmp_path_factory) -> Workplace:
    """A working directory with the full configuration, in which everything has been made."""
    return Workplace.copied(tmp_path_factory.mktemp("finished")).finish()


@pytest.fixture
def repository(tmp_path) -> Workplace:
    """A copy of the workflow, for a mistake to be planted in; nothing has been made."""
    return Workplace.copied(tmp_path)
