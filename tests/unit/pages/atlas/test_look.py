"""The command that serves the page of a model: with the types that there are, until it is interrupted."""

import json
import re
import runpy
import signal
import subprocess
import sys
import urllib.request

import pytest
import yaml

from headtypes.models.records import write_model_record
from tests.support.atlases import write_types
from tests.support.models import tiny_bert
from tests.support.places import ROOT
from tests.support.records import recorded

COMMAND = str(ROOT / "commands/look.py")


def arguments(folder, *further: str) -> list[str]:
    return ["--configfile", str(folder / "mine.yaml"), "--directory", str(folder), *further]


@pytest.fixture
def refused(monkeypatch):
    monkeypatch.chdir(ROOT)

    def run(folder, *further: str) -> str:
        monkeypatch.setattr(sys, "argv", [COMMAND, *arguments(folder, *further)])
        with pytest.raises(SystemExit) as ended:
            runpy.run_path(COMMAND, run_name="__main__")
        return ended.value.code

    return run


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("look")
    record = recorded(*tiny_bert(), folder / "model")
    models = {"tiny": {"source": {"folder": str(folder / "model")}, "tasks": ["qa"]}}
    (folder / "mine.yaml").write_text(yaml.safe_dump({"models": models, "select": {"models": ["tiny", "minilm-qa"]}}))
    (folder / "results/sources/models").mkdir(parents=True)
    write_model_record(folder / "results/sources/models/tiny.json", record)
    types = folder / "results/partitions/tiny/qa-kmeans-k4.csv"
    types.parent.mkdir(parents=True)
    write_types(types, record.layers, record.heads)
    return folder


@pytest.mark.parametrize(
    ("model", "why"),
    [
        ("nobody", "--model: there is no nobody; the configuration has"),
        ("minilm-qa", "results/sources/models/minilm-qa.json is not there; run snakemake"),
    ],
)
def test_what_the_command_refuses_is_one_line(place, refused, model, why):
    said = refused(place, "--model", model, "the cat")
    assert said.startswith(why)
    assert len(said.splitlines()) == 1


def test_the_command_serves_until_it_is_interrupted(place, refused):
    command = [sys.executable, COMMAND, *arguments(place, "--model", "tiny")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as served:
        try:
            address = served.stdout.readline().strip()
            assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{32}/", address), served.stderr.read()
            with urllib.request.urlopen(address, timeout=20) as reply:
                page = reply.read().decode()
            data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])
            assert data["live"]["first"] == "Who sat on the mat?"
            columns = ["type.qa-kmeans-k4", "share.near", "share.special", "share.far"]
            assert [column["key"] for column in data["columns"]] == columns
            taken = address.split(":")[2].split("/")[0]
            assert "Address already in use" in refused(place, "--model", "tiny", "--port", taken)
            assert refused(place, "--model", "tiny", "--port", "70000") == "bind(): port must be 0-65535."
            served.send_signal(signal.SIGINT)
            assert served.wait(20) == 0
        finally:
            served.kill()
