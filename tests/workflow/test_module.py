"""The workflow as a module of another one: planned and run to its end, with a prefix and without."""

import json
from pathlib import Path

import pytest
import yaml

from tests.support.places import ROOT
from tests.support.planning import snakemake

pytestmark = pytest.mark.slow

OUTER = """
configfile: "outer.yaml"


module heads:
    snakefile:
        "{root}/Snakefile"
    config:
        config["heads"]
    {prefix}


use rule * from heads as heads_*


onsuccess:
    heads.onsuccess()


rule all:
    default_target: True
    input:
        rules.heads_{target}.input,
        "summary.csv",


rule summarise:
    input:
        "{results}/stability/tiny/animals-kmeans-k4.csv",
    output:
        "summary.csv",
    shell:
        "cp {{input}} {{output}}"
"""
# What `profiles/default` says, which is not read where another workflow is the main one.
TRIGGERS = ["--rerun-triggers", "params", "input", "mtime"]


def run(folder: Path, *arguments: str) -> str:
    return snakemake(["--cores", "2", *TRIGGERS, *arguments], folder)


def configure(folder: Path, config: dict) -> None:
    (folder / "outer.yaml").write_text(yaml.safe_dump({"heads": config}))


def write_outer(folder: Path, config: dict, prefix: str, target: str) -> None:
    line = f'prefix:\n        "{prefix}"' if prefix else ""
    results = f"{prefix}/results" if prefix else "results"
    (folder / "Snakefile").write_text(OUTER.format(root=ROOT, prefix=line, target=target, results=results))
    configure(folder, config)


@pytest.fixture
def config(tiny_config) -> dict:
    squad = tiny_config["tasks"]["animals"]["source"]["file"]
    made = {"base": "base", "task": "animals", "batch_size": 8, "epochs": 1.0, "max_seq_length": 48}
    return {
        "tasks": {"animals": {"source": {"file": squad, "training_file": squad}, "samples": 5}},
        "models": {
            "base": {"source": tiny_config["models"]["tiny"]["source"], "tasks": ["animals"]},
            "tiny": {"source": {"finetuned": made}, "tasks": ["animals"], "evaluate": "animals"},
        },
        "windows": tiny_config["windows"],
        "clustering": {"restarts": 2},
        "conditions": {"baseline": {}, "zero-dense": {"dense": "zero"}},
        "controls": {"draws": 0},
        "company": {"sets": 0},
        "select": {"models": ["tiny"]},
    }


# A prefix may have a folder of the name of ours.
@pytest.mark.parametrize(("prefix", "target"), [("results/heads", "all"), ("", "types")])
def test_it_runs_to_its_end_inside_another_workflow(tmp_path, config, prefix, target):
    write_outer(tmp_path, config, prefix, target)
    run(tmp_path)
    results = tmp_path / prefix / "results"
    assert (tmp_path / "summary.csv").read_bytes() == (results / "stability/tiny/animals-kmeans-k4.csv").read_bytes()
    assert {path.name for path in tmp_path.iterdir() if not path.name.startswith(".")} == {
        "Snakefile",
        "outer.yaml",
        "summary.csv",
        "results",
        *(["logs"] if not prefix else []),
    }
    record = json.loads((results / "provenance/partitions/tiny/animals-kmeans-k4.csv.json").read_text())
    assert record["rule"] == "heads_cluster_heads"
    assert list(record["inputs"]) == [(results / "features/tiny/animals.h5").relative_to(tmp_path).as_posix()]
    assert set(record["sources"]) >= {"models/tiny", "tasks/animals"}
    if target == "all":
        assert (results / "guan2020/comparison.csv").exists()
    assert "Nothing to be done" in run(tmp_path, "--dry-run")

    configure(tmp_path, config | {"clustering": {"restarts": 3}})
    assert "cluster_heads" in run(tmp_path, "--dry-run", "--quiet", "rules")


def test_null_in_the_other_workflows_own_files_takes_nothing_of_ours_away(tmp_path, config):
    write_outer(tmp_path, config, "heads", "types")
    (tmp_path / "more.yaml").write_text("models: null\ncontrols: null\n")
    printed = run(tmp_path, "--dry-run", "--quiet", "rules", "--configfile", "more.yaml")
    assert "heads_cluster_heads" in printed
