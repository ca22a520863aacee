"""Another package of the same name that Python finds: jobs run the code of the workflow, or nothing."""

import shutil

import pytest

from tests.support.places import SCRIPTS

ROWS = "results/sources/tasks/animals.jsonl"


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
    (installed / "headtypes/planning/job.py").write_text("raise SystemExit('installed')\n")
    workdir.snakemake("--", ROWS)
    assert (workdir.path / ROWS).is_file()


def test_a_package_that_is_imported_all_the_same_ends_the_job_with_a_sentence(workdir, installed):
    """As by the hook of an editable install, which may come before all folders."""
    (installed / "sitecustomize.py").write_text(f"import sys\nsys.path.insert(0, {str(installed)!r})\n")
    printed = workdir.snakemake("--", ROWS, check=False)
    assert f"fetch_task animals: the package headtypes was imported from {installed}" in printed
    assert str(SCRIPTS) in printed
    assert not (workdir.path / ROWS).exists()
    assert not (workdir.path / "results/provenance/sources").exists()
