"""Another package of the same name that Python finds: jobs run the code of the workflow, or nothing."""

import shutil

import pytest

from tests.support.places import SCRIPTS

ROWS = "results/sources/tasks/animals.jsonl"
HOOK = """
import sys
from importlib.util import spec_from_file_location

class Hook:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "headtypes":
            return spec_from_file_location(name, "{folder}/__init__.py", submodule_search_locations=["{folder}"])

sys.meta_path.insert(0, Hook)
"""


@pytest.fixture
def installed(tmp_path_factory, monkeypatch):
    """A folder that Python looks into, with a copy of the package that reads one question less."""
    folder = tmp_path_factory.mktemp("installed")
    shutil.copytree(SCRIPTS / "headtypes", folder / "headtypes", ignore=shutil.ignore_patterns("__pycache__"))
    (squad,) = folder.rglob("squad.py")
    text = squad.read_text()
    squad.write_text(text.replace("return questions\n", "return questions[1:]\n"))
    assert squad.read_text() != text
    monkeypatch.setenv("PYTHONPATH", str(folder))
    return folder


def test_a_package_that_is_installed_is_not_imported(workdir, installed):
    (installed / "headtypes/core/errors.py").write_text("raise SystemExit('installed')\n")
    workdir.snakemake("--", ROWS)
    assert (workdir.path / ROWS).is_file()


def test_a_package_that_is_imported_all_the_same_ends_the_job_with_a_sentence(workdir, installed):
    """As by the hook of an editable install, which comes before all folders."""
    (installed / "sitecustomize.py").write_text(HOOK.format(folder=str(installed / "headtypes")))
    printed = workdir.snakemake("--", ROWS, check=False)
    assert f"fetch_task animals: the package headtypes was imported from {installed}" in printed
    assert str(SCRIPTS) in printed
    assert not (workdir.path / ROWS).exists()
    assert not (workdir.path / "results/provenance/sources").exists()
