import shutil

from tests.support.commands import run
from tests.support.places import ROOT, SCRIPTS

ROWS = "results/sources/tasks/animals.jsonl"


def test_a_package_that_is_installed_is_not_imported(workdir, tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.mktemp("installed")
    shutil.copytree(SCRIPTS / "headtypes", folder / "headtypes", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "headtypes/core/errors.py").write_text("raise SystemExit('installed')\n")
    monkeypatch.setenv("PYTHONPATH", str(folder))
    # Which the Snakemake of other tests, a fork, would not see.
    run(["-m", "snakemake", *workdir.arguments("--", ROWS)], ROOT)
    assert (workdir.path / ROWS).is_file()
