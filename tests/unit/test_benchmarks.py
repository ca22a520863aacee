"""The benchmarks still run: no test reads what they measure, so that a name they lack would not be missed."""

import ast
import importlib
import subprocess
import sys

import pytest

from tests.support.places import ROOT

FILES = sorted((ROOT / "benchmarks").glob("*.py"))
# The smallest run of each that needs neither minutes nor the results of an experiment.
SMALLEST = {
    "attention.py": "--shape minilm --layers 1 --tokens 16 --spread 3 --samples 2 --pairs 1 --threads 1 "
    "--ways extraction surface zero drop_intra masks bincount",
    "divergence.py": "--shape minilm --tokens 8 --segments 2",
    "dry_run.py": "1 2",
    "gradients.py": "--layers 1 --tokens 16 --samples 2",
    "job.py": "2 1",
}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_every_name_that_a_benchmark_takes_from_the_package_is_there(file):
    taken = [
        (node.module, alias.name)
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module.startswith("headtypes")
        for alias in node.names
    ]
    for module, name in taken:
        assert hasattr(importlib.import_module(module), name), f"{module} has no {name}"


@pytest.mark.parametrize("name", SMALLEST)
def test_a_benchmark_prints_its_table(name, tmp_path):
    (file,) = [file for file in FILES if file.name == name]
    arguments = SMALLEST[name].split()
    done = subprocess.run([sys.executable, file, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "| ---" in done.stdout
    assert "nan" not in done.stdout
