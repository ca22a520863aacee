"""The command that serves the page of a model: with the types that there are, until it is interrupted."""

import json
import re
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


def look(folder, *arguments: str) -> subprocess.CompletedProcess:
    command = [sys.executable, str(ROOT / "commands/look.py"), "--configfile", str(folder / "mine.yaml")]
    return subprocess.run(
        [*command, "--directory", str(folder), *arguments], cwd=folder, capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A working directory whose configuration has a tiny model, with types and without anything else."""
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
def test_what_the_command_refuses_is_one_line(place, model, why):
    run = look(place, "--model", model, "the cat")
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr.startswith(why)
    assert len(run.stderr.splitlines()) == 1


def test_the_command_serves_until_it_is_interrupted(place):
    command = [sys.executable, str(ROOT / "commands/look.py"), "--configfile", str(place / "mine.yaml")]
    command += ["--directory", str(place), "--model", "tiny"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as served:
        try:
            address = served.stdout.readline().strip()
            assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{32}/", address), served.stderr.read()
            with urllib.request.urlopen(address, timeout=20) as reply:
                page = reply.read().decode()
            data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])
            assert data["live"]["first"] == "Who sat on the mat?"
            assert [column["key"] for column in data["columns"]] == [
                "type.qa-kmeans-k4",
                "share.near",
                "share.special",
                "share.far",
            ]
            taken = address.split(":")[2].split("/")[0]
            other = look(place, "--model", "tiny", "--port", taken)
            assert (other.returncode, "Address already in use" in other.stderr) == (1, True)
            far = look(place, "--model", "tiny", "--port", "70000")
            assert (far.returncode, far.stderr.strip()) == (1, "bind(): port must be 0-65535.")
            served.send_signal(signal.SIGINT)
            assert served.wait(20) == 0
        finally:
            served.kill()
