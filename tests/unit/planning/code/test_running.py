"""A job whose code is not that of its plan ends before it computes anything."""

import shutil
from pathlib import Path

import pytest

from headtypes.core.errors import InputError
from headtypes.planning.code.digest import code_digest, forget_files
from headtypes.planning.code.running import check_code, code_file, remember_code

SCRIPT = "from tools import used\n\nused.work()\n"
MODULE = "def work():\n    return 3\n\n\ndef other():\n    return 5\n"


@pytest.fixture
def planned(tmp_path):
    """A script with a package that another folder has too, and the folder of results of a run that has planned it."""
    for folder in ("checkout", "elsewhere"):
        (tmp_path / folder / "tools").mkdir(parents=True)
        (tmp_path / folder / "tools/used.py").write_text(MODULE)
    script = tmp_path / "checkout/script.py"
    script.write_text(SCRIPT)
    remember_code(tmp_path / "results", script)
    return code_digest(script), script, tmp_path / "results"


def edit(file: Path, old: str, new: str) -> None:
    file.write_text(file.read_text().replace(old, new))
    forget_files()


@pytest.mark.parametrize("remembered", [True, False], ids=["by its files", "by its digest"])
@pytest.mark.parametrize(("old", "new"), [("", ""), ("3", "3  # why"), ("5", "6")], ids=["none", "comment", "unused"])
def test_code_that_does_the_same_is_the_code_of_the_plan(planned, remembered, old, new):
    digest, script, results = planned
    if not remembered:
        shutil.rmtree(results)
    for folder in ("checkout", "elsewhere"):
        edit(script.parents[1] / folder / "tools/used.py", old, new)
        check_code(digest, script, results, script.parents[1] / folder)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}"])
def test_what_the_run_has_left_may_be_damaged(planned, text):
    digest, script, results = planned
    for file in code_file(results, digest).parent.iterdir():
        file.write_text(text)
    check_code(digest, script, results, script.parent)


@pytest.mark.parametrize("remembered", [True, False], ids=["by its files", "by its digest"])
def test_an_edit_since_the_plan_is_told(planned, remembered):
    digest, script, results = planned
    if not remembered:
        shutil.rmtree(results)
    edit(script.parent / "tools/used.py", "3", "4")
    with pytest.raises(InputError, match=f"^the code in {script.parent} has changed since this run was planned"):
        check_code(digest, script, results, script.parent)


def test_another_package_of_the_name_is_told_with_both_folders(planned):
    digest, script, results = planned
    elsewhere = script.parents[1] / "elsewhere"
    edit(elsewhere / "tools/used.py", "3", "4")
    with pytest.raises(InputError) as error:
        check_code(digest, script, results, elsewhere)
    assert f"imported from {elsewhere}" in str(error.value)
    assert f"this workflow in {script.parent}" in str(error.value)
    assert "pip uninstall headtypes" in str(error.value)


def test_another_version_of_a_package_is_no_other_code(planned):
    """Under --sdm conda, jobs run in another environment than their plan."""
    digest, script, results = planned
    file = code_file(results, digest)
    other = code_file(results, "digest with another version")
    other.write_text(file.read_text().replace("{", '{"numpy": "0.1",', 1))
    check_code(other.stem, script, results, script.parent)
