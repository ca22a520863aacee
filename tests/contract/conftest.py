import pytest

from tests.support.planning import Job, planned_jobs, pretend
from tests.support.workplace import Workplace


@pytest.fixture(scope="session")
def place(tmp_path_factory) -> Workplace:
    place = Workplace.copied(tmp_path_factory.mktemp("finished"))
    pretend(place.folder)
    return place


@pytest.fixture(scope="session")
def finished(place) -> list[Job]:
    return planned_jobs(place.folder)
