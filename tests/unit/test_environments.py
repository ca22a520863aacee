"""One set of versions, wherever an environment is made from, and for every Python that is supported."""

import re
import sys
import tomllib

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.places import ROOT
from tests.unit.test_layers import MODULES, imported, packages

# Imported under another name than the one they are installed by.
DISTRIBUTION = {"sklearn": "scikit-learn", "yaml": "pyyaml", "markdown_it": "markdown-it-py", "PIL": "pillow"}
LOCKS = {"run": "requirements.txt", "tests": "requirements-tests.txt", "slurm": "requirements-slurm.txt"}
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def requirements(lines: list[str]) -> list[Requirement]:
    """A continuation in a file with hashes begins with blanks."""
    found = [line.removesuffix(" \\") for line in lines if line.strip() and not line.startswith(("#", "-r", " "))]
    return [Requirement(line) for line in found]


def pins(found: list[Requirement]) -> dict[str, str]:
    assert all([each.operator for each in pin.specifier] == ["=="] for pin in found)
    return {canonicalize_name(pin.name): str(pin.specifier).removeprefix("==") for pin in found}


def locked(name: str) -> list[Requirement]:
    return requirements((ROOT / "envs" / name).read_text().splitlines())


def lock(name: str = LOCKS["run"]) -> dict[str, str]:
    return pins(locked(name))


def test_the_lock_pins_every_package_and_holds_no_address():
    assert lock()["torch"] == "2.13.0"
    assert lock("requirements-slurm.txt")["snakemake-executor-plugin-slurm"] == "2.8.0"
    for further in ("requirements-tests.txt", "requirements-slurm.txt"):
        for name in lock().keys() & lock(further).keys():
            assert lock()[name] == lock(further)[name]
    files = [file for file in (ROOT / "envs").rglob("*") if file.is_file()]
    assert len(files) > 6
    for file in files:
        text = file.read_text()
        assert "://" not in text, file
        assert not re.search(r"^--?(index|extra|find|trusted|i |f )", text, re.MULTILINE), file


@pytest.mark.parametrize("name", LOCKS.values())
def test_all_but_torch_have_hashes_of_the_same_versions(name):
    lines = (ROOT / "envs" / "hashes" / name).read_text().splitlines()
    assert pins(requirements(lines)) == {each: version for each, version in lock(name).items() if each != "torch"}
    assert [str(each.marker) for each in requirements(lines)] == [
        str(each.marker) for each in locked(name) if each.name != "torch"
    ]
    packages = re.split(r"^(?=\S)", "\n".join(lines), flags=re.MULTILINE)[1:]
    assert len(packages) == len(requirements(lines))
    for package in packages:
        assert re.fullmatch(r"\S+==\S+( ; [^\n\\]*)?( \\\n +--hash=sha256:[0-9a-f]{64})+\n?", package), package


def test_the_supported_pythons_are_the_same_everywhere():
    project, makefile = PROJECT["project"], (ROOT / "Makefile").read_text()
    oldest, newest = PYTHONS[0], PYTHONS[-1]
    assert project["requires-python"] == f">={oldest}"
    assert project["classifiers"] == [f"Programming Language :: Python :: {python}" for python in PYTHONS]
    assert PROJECT["tool"]["ruff"]["target-version"] == f"py{oldest.replace('.', '')}"
    assert f"({oldest.replace('.', ', ')}) <= sys.version_info[:2] <= ({newest.replace('.', ', ')})" in makefile
    assert f"--python-version {oldest} " in (ROOT / "envs" / "lock.sh").read_text()
    for page in ("README.md", "docs/run/python.md", "envs/requirements.txt"):
        assert f"Python {oldest} to {newest}" in " ".join((ROOT / page).read_text().split()), page


def test_the_version_is_the_same_everywhere():
    version = PROJECT["project"]["version"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    released = re.findall(r"^## (\S+) - (\S+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert released[0] == (version, citation["date-released"].isoformat())
    assert citation["version"] == version
    assert f"version = {{{version}}}" in (ROOT / "docs" / "README.md").read_text()


def test_conda_environments_are_equal_to_the_lock():
    environment = yaml.safe_load((ROOT / "envs" / "headtypes.yaml").read_text())
    (installed,) = [each["pip"] for each in environment["dependencies"] if isinstance(each, dict)]
    assert [str(each) for each in requirements(installed)] == [str(each) for each in locked(LOCKS["run"])]


def test_what_the_package_imports_is_declared_and_locked():
    stated = {canonicalize_name(Requirement(each).name) for each in PROJECT["project"]["dependencies"]}
    files = (*MODULES.values(), ROOT / "workflow_scripts/call.py")
    names = set().union(*(packages(imported(file)) for file in files)) - sys.stdlib_module_names
    # Files of GGUF are read by who has the package for it.
    assert {canonicalize_name(DISTRIBUTION.get(name, name)) for name in names - {"headtypes", "gguf"}} <= stated
    assert stated <= lock().keys()
