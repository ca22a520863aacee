"""A study that two clones have computed halves of: deposits of them are merged, and only what is joint runs."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from headtypes.core.files import sha256_path
from tests.support.models import tiny_bert
from tests.support.places import ROOT
from tests.support.warm import python
from tests.workflow.conftest import Workdir, squad_file

DEPOSIT = ["--author", "A Group", "--license", "CC-BY-4.0"]
LEDGER = "results/ledger.csv"


@pytest.fixture(scope="module")
def clones(tmp_path_factory):
    """Two clones in which each half of a study was run and deposited, and the study's own folder, which is empty."""
    folder = tmp_path_factory.mktemp("clones")
    for number, name in enumerate(("one", "two")):
        model, tokenizer = tiny_bert(layers=2, heads=4, head_size=4, seed=number)
        model.save_pretrained(folder / name)
        tokenizer.save_pretrained(folder / name)
    config = {
        "tasks": {"animals": {"source": {"file": str(squad_file(folder / "squad.json"))}, "samples": 5}},
        "models": {
            "{name}": {
                "source": {"folder": str(folder / "{name}")},
                "tasks": ["animals"],
                "over": {"name": ["one", "two"]},
            }
        },
        "clustering": {"restarts": 5},
        "select": {"tasks": ["animals"]},
    }
    places = {}
    for name in ("one", "two", "whole"):
        places[name] = Workdir(folder / "runs" / name)
        places[name].path.mkdir(parents=True)
        models = ["one", "two"] if name == "whole" else [name]
        places[name].configure({**config, "select": {**config["select"], "models": models}})
        if name != "whole":
            places[name].snakemake()
            places[name].command("deposit", *DEPOSIT, "--private")
    return places


def merge(place: Workdir, *deposits: Path, check: bool = True) -> str:
    """Merge deposits into a run and return what was printed."""
    command = [python(), str(ROOT / "commands/merge.py"), *map(str, deposits), *place.arguments()[3:]]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert (run.returncode == 0) == check, run.stdout + run.stderr
    return run.stdout + run.stderr


def results_of(place: Workdir) -> dict[str, str]:
    found = (path for path in (place.path / "results").rglob("*") if path.is_file() and "benchmark" not in path.name)
    return {path.relative_to(place.path).as_posix(): sha256_path(path) for path in found}


def test_only_what_is_joint_runs_after_a_merge_and_all_else_has_the_bytes_that_were_computed(clones):
    one, two, whole = (clones[name] for name in ("one", "two", "whole"))
    packed = shutil.make_archive(str(two.path.parent / "two"), "zip", two.path, "deposit")
    merge(whole, one.path / "deposit", Path(packed))
    there = results_of(whole)
    computed = results_of(one) | results_of(two)
    assert [path for path in there if "provenance" not in path and there[path] != computed[path]] == []
    assert {f"results/features/{name}/animals.h5" for name in ("one", "two")} <= there.keys()
    planned = whole.planned()
    joint = {"tabulate_stability", "compare_with_paper", "write_ledger", "write_summary"}
    assert joint <= planned.keys()
    of_models = {"fetch_model", "fetch_task", "extract_features", "cluster_heads", "plot_heads", "write_atlas"}
    assert of_models.isdisjoint(planned)
    whole.snakemake()
    assert whole.command("audit").splitlines()[-1] == "All results are as they should be."
    after = results_of(whole)
    assert {path: after[path] for path in there} == there
    assert {row.split(",")[5] for row in (whole.path / LEDGER).read_text().splitlines()[1:]} >= {"one", "two"}
    # Snakemake knows what it was made with: an edit runs what depends on it, and a merge changes nothing more.
    config = whole.config()
    whole.configure(config | {"clustering": {"restarts": 6}})
    assert whole.planned()["cluster_heads"] == 2
    assert "extract_features" not in whole.planned()
    whole.configure(config)
    merge(whole, one.path / "deposit")
    assert whole.planned() == {}


@pytest.mark.parametrize("of", ["definition", "data", "bytes"])
def test_what_differs_is_refused_by_its_name_and_nothing_is_written(clones, tmp_path, of):
    other = Workdir(tmp_path)
    config = clones["whole"].config()
    deposit = clones["one"].path / "deposit"
    if of == "definition":
        config["tasks"]["animals"]["samples"] = 4
        expected = "results/samples/animals.jsonl: samples: 5, now 4. Make the configurations agree"
    elif of == "data":
        squad = json.loads(Path(config["tasks"]["animals"]["source"]["file"]).read_text())
        squad["data"][0]["title"] = "others"
        (tmp_path / "squad.json").write_text(json.dumps(squad))
        config["tasks"]["animals"]["source"]["file"] = str(tmp_path / "squad.json")
        expected = "If only its place differs, fetch it here first: snakemake --cores 1 results/sources/tasks/animals"
    else:
        deposit = shutil.copytree(deposit, tmp_path / "copy")
        with open(deposit / "results/partitions/one/animals-kmeans-k4.csv", "a") as table:
            table.write("\n")
        expected = "results/partitions/one/animals-kmeans-k4.csv has changed since the deposit was made"
    other.configure(config)
    assert expected in merge(other, deposit, check=False)
    assert not (tmp_path / "results").exists()
