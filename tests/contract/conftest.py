"""A finished working directory, one for each process that runs tests."""

import pytest

from tests.support.planning import Job, planned_jobs
from tests.support.workplace import Workplace


@pytest.fixture(scope="session")
def place(tmp_path_factory) -> Workplace:
    """A working directory with the full configuration, in which everything has been made."""
    return Workplace.copied(tmp_path_factory.mktemp("finished")).finish()


@pytest.fixture(scope="session")
def finished(place) -> list[Job]:
    """The jobs of that working directory before any edit."""
    return planned_jobs(place.folder)
