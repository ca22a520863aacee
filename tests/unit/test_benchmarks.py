"""The benchmarks run, at the smallest size; how often a GPU reads and writes maps is counted on the CPU."""

import pytest
import torch

from benchmarks.traffic import Traffic, traffic
from tests.support.commands import run
from tests.support.models import saved, tiny_language_model
from tests.support.places import ROOT

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


@pytest.mark.slow
@pytest.mark.parametrize("name", [file.name for file in (ROOT / "benchmarks").glob("*.py")])
def test_a_benchmark_prints_its_table(name, tmp_path):
    saved(*tiny_language_model("gpt2"), tmp_path / "model")
    (tmp_path / "texts.txt").write_text("\f".join(f"the {word} sat\n\nit ran by the {word}" for word in WORDS))
    printed = run([ROOT / "benchmarks" / name, *SMALLEST[name].split()], tmp_path)
    assert "| ---" in printed
    assert "nan" not in printed


def test_what_operations_read_and_write_is_counted():
    of_four = torch.ones(4)
    rows = torch.ones(3, 4)
    with Traffic() as counted:
        rows.add_(of_four.expand(3, 4))
        rows[:, 1:].sum(1)
        torch.softmax(rows, -1, out=rows)
        rows.t()
    # A number has 4 bytes: 12 are read with 4 and 12 written; 9 read and 3 written; 12 read and written.
    expected = [("add", 4 * (12 + 4 + 12)), ("sum", 4 * (9 + 3)), ("softmax", 4 * 24)]
    assert [(name, moved) for name, _, moved in counted.found] == expected


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_a_layer_of_bert_large_is_read_with_few_readings_of_its_maps(dtype):
    maps = traffic(dtype).set_index("operation").maps
    assert maps["of a map's size"] <= 5.5
    assert maps["all"] <= 7
