"""What comes from the Hub damaged or in part is not used, and what is pinned is what is read."""

import shutil
from pathlib import Path

import pytest

from tests.support.commands import run
from tests.support.hub import Hub
from tests.support.places import SCRIPTS
from tests.support.stand_ins import COMMITS, write_stand_ins

pytestmark = pytest.mark.slow

BERT, SQUAD = "google-bert/bert-base-uncased", "rajpurkar/squad"
REVISION = COMMITS[f"datasets/{SQUAD}"]
FETCH = {
    "model": "from headtypes.models.fetching import fetch_model\n"
    f"print('had', fetch_model('bert', {{'hub': '{BERT}'}}).weights)",
    "data": "from headtypes.data.fetching import fetch_task\n"
    f"source = {{'hub': '{SQUAD}', 'revision': '{REVISION}', 'split': 'validation'}}\n"
    "print('had', fetch_task('squad', 'question_answering', source, None)[0])",
}
# The libraries wait between attempts; nobody needs to here.
IMPATIENT = "import time; wait = time.sleep; time.sleep = lambda seconds: wait(min(seconds, 0.001))\n"


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    with Hub(write_stand_ins(tmp_path_factory.mktemp("hub")), COMMITS) as hub:
        yield hub


def fetched(what: str, hub: Hub, home: Path, **more: str) -> str:
    """The line by which a process says what it has had; of one that is refused, the sentence."""
    environment = {**hub.environment, "HF_HOME": str(home), "PYTHONPATH": str(SCRIPTS), **more}
    return run(["-c", IMPATIENT + FETCH[what]], check=False, **environment).strip().splitlines()[-1]


def test_weights_that_come_damaged_are_not_used_and_the_same_command_goes_on(hub, tmp_path):
    with hub.failing("other bytes", r"^GET /.*/resolve/.*safetensors"):
        assert "came damaged" in fetched("model", hub, tmp_path)
    assert fetched("model", hub, tmp_path).startswith("had ")


def test_data_that_break_off_are_had_again_and_another_revision_is_not_taken_for_the_one_that_is_pinned(hub, tmp_path):
    with hub.failing("cut off", r"^GET /.*/resolve/.*validation"):
        assert "cannot be had from the Hub" in fetched("data", hub, tmp_path)
    assert fetched("data", hub, tmp_path).startswith("had ")
    for folder in list((tmp_path / "datasets").rglob(REVISION)):
        folder.rename(folder.with_name("0" * 40))
    shutil.rmtree(tmp_path / "hub")
    assert f"not {REVISION}" in fetched("data", hub, tmp_path, HF_HUB_OFFLINE="1")
