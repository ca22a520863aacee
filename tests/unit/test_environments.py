"""One set of versions, wherever an environment is made from."""

import ast
import re
import sys
import tomllib

import yaml

from tests.support.places import ROOT

# Imported under another name than the one they are installed by.
DISTRIBUTION = {"sklearn": "scikit-learn", "yaml": "pyyaml", "markdown_it": "markdown-it-py", "PIL": "pillow"}


def normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(lines: list[str]) -> dict[str, str]:
    found = [line.partition(";")[0].split("==") for line in lines if line.strip() and not line.startswith(("#", "-r"))]
    return {normalised(name): version.strip() for name, version in found}


def lock(name: str = "requirements.txt") -> dict[str, str]:
    return pins((ROOT / "envs" / name).read_text().splitlines())


def test_the_lock_pins_every_package_and_holds_no_address():
    assert lock()["torch"] == "2.13.0"
    assert lock("requirements-slurm.txt")["snakemake-executor-plugin-slurm"] == "2.8.0"
    for further in ("requirements-tests.txt", "requirements-slurm.txt"):
        assert not lock().keys() & lock(further).keys()
    for file in (ROOT / "envs").iterdir():
        assert "://" not in file.read_text(), file


def test_conda_environments_have_the_versions_of_the_lock():
    environment = yaml.safe_load((ROOT / "envs" / "headtypes.yaml").read_text())
    (installed,) = [each["pip"] for each in environment["dependencies"] if isinstance(each, dict)]
    for name, version in pins(installed).items():
        assert lock()[name] == version, name


def test_what_the_package_imports_is_declared_and_locked():
    imported = set()
    for file in (ROOT / "workflow_scripts").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add(node.module.partition(".")[0])
    # Triton comes with torch's builds for CUDA, at their version, and is not asked for where there is no GPU.
    imported -= set(sys.stdlib_module_names) | {"headtypes", "triton"}
    needed = {normalised(DISTRIBUTION.get(name, name)) for name in imported}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = {normalised(re.split(r"[<>=]", each)[0]) for each in project["dependencies"]}
    environment = yaml.safe_load((ROOT / "envs" / "headtypes.yaml").read_text())
    (installed,) = [each["pip"] for each in environment["dependencies"] if isinstance(each, dict)]
    assert needed <= declared
    assert needed <= pins(installed).keys()
    assert declared <= lock().keys()
