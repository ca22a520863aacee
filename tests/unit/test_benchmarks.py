"""The benchmarks run, at the smallest size."""

import pytest

from tests.support.commands import run
from tests.support.models import saved, tiny_language_model
from tests.support.places import ROOT

# What one of them reads.
WORDS = ("cat", "dog", "house", "river")
SMALLEST = {
    "attention.py": "--shape minilm --layers 1 --tokens 16 --pairs 1 --threads 1",
    "company.py": "--shape minilm --sets 1 --pairs 1",
    "dry_run.py": "1",
    "growth.py": "16 32",
    "gpu.py": "--tiny",
    "instruments.py": "text texts.txt --model model --units 3 --tokens 8 --sets 12",
    "traffic.py": "--tokens 64 --heads 2",
}


def test_every_benchmark_is_tried():
    assert {file.name for file in (ROOT / "benchmarks").glob("*.py")} == set(SMALLEST)


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALLEST)
def test_a_benchmark_prints_its_table(name, tmp_path):
    saved(*tiny_language_model("gpt2"), tmp_path / "model")
    (tmp_path / "texts.txt").write_text("\f".join(f"the {word} sat\n\nit ran by the {word}" for word in WORDS))
    printed = run([ROOT / "benchmarks" / name, *SMALLEST[name].split()], tmp_path)
    assert "| ---" in printed
    assert "nan" not in printed
