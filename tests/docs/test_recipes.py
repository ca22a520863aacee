"""Every recipe does what it says: planned where the promise is about planning, run on little data where it is not."""

import json
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from headtypes.analyses.detectors.measure import detector_table
from headtypes.analyses.distances.features import Features
from headtypes.core.hdf5_files import write_arrays
from headtypes.core.table_files import write_csv
from headtypes.data.fetching import fetch_task
from headtypes.data.kinds.sentence_pair import label_numbers
from tests.docs.pages import blocks, parts_of, run_python
from tests.support.commands import job_counts, run
from tests.support.demo import demo_task
from tests.support.models import saved, tiny_bert
from tests.support.places import ROOT
from tests.support.planning import snakemake
from tests.support.records import PAIRS, classifier, described, recorded, types_like
from tests.support.workplace import copy_workflow

RECIPES = parts_of("docs/run/recipes.md")


@dataclass(frozen=True)
class Place:
    folder: Path
    variables: dict[str, str]

    def run(self, command: str, *further: str) -> str:
        name, *words = shlex.split(command)
        program = {"snakemake": snakemake, "python": run}[name]
        return program([*words, *further], self.folder, **self.variables)

    def planned(self, command: str) -> tuple[dict[str, int], str]:
        printed = self.run(command, "--dry-run", "--quiet", "rules")
        return job_counts(printed), printed


def commands(recipe: str) -> list[str]:
    lines = [line for block in blocks(RECIPES[recipe]) for line in block.splitlines()]
    return [line for line in lines if not line.startswith("export ")]


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Place:
    folder = tmp_path_factory.mktemp("recipes")
    copy_workflow(folder, "experiments", "commands", "demo", "config.yaml")
    several = {f"models/seed-{seed}": tiny_bert() for seed in range(5)}
    others = {"judge": classifier(tiny_bert, labels=3)}
    for name, made in {"model": tiny_bert(), **others, **several}.items():
        saved(*made, folder / "inputs" / name)
    squad = folder / "inputs/squad.json"
    asked = {"id": "1", "question": "Who sat?", "answers": [{"text": "The cat", "answer_start": 0}]}
    article = {"title": "a", "paragraphs": [{"context": "The cat sat.", "qas": [asked]}]}
    squad.write_text(json.dumps({"data": [article]}))
    labels = ("neutral", "entailment", "contradiction", "neutral")
    rows = ["\t".join((pair.first, pair.second, label)) for pair, label in zip(PAIRS, labels, strict=True)]
    (folder / "inputs/pairs.tsv").write_text("\n".join(["premise\thypothesis\tgold", *rows, ""]))
    variables = {
        "MODEL": str(folder / "inputs/model"),
        "SQUAD": str(squad),
        "JUDGE": str(folder / "inputs/judge"),
        "PAIRS": str(folder / "inputs/pairs.tsv"),
        "MODELS": str(folder / "inputs/models"),
    }
    for text in (block for recipe in RECIPES.values() for block in blocks(recipe, "yaml")):
        (folder / re.match(r"# (\S+\.yaml)\n", text)[1]).write_text(text, encoding="utf-8")
    return Place(folder, variables)


@pytest.mark.parametrize(
    ("recipe", "number", "wanted", "without"),
    [
        ("", 0, {"fetch_model": 1, "cluster_heads": 1, "evaluate_condition": 19}, ()),
        ("Many models", 0, {"fetch_model": 5, "cluster_heads": 5, "write_ledger": 1}, "evaluate_condition"),
        ("Another seed", 1, {"finetune_model": 5}, ()),
        ("Another number of types", 0, {"cluster_heads": 1}, ("evaluate_condition", "evaluate_controls")),
        ("Another number of types", 1, {"evaluate_condition": 3, "evaluate_controls": 2}, ()),
        ("Only one result", 0, {"evaluate_condition": 1, "finetune_model": 1}, ("write_", "evaluate_controls")),
        ("Types only", 0, {"cluster_heads": 1, "plot_partition": 1}, "evaluate_"),
        ("Compare two models", 0, {"fetch_model": 2, "compare_models": 1}, ()),
        ("Less of everything, for a first look", 0, {"evaluate_controls": 18}, ()),
    ],
)
def test_a_recipe_plans_what_it_says_and_nothing_else(place, recipe, number, wanted, without):
    jobs, printed = place.planned(commands(recipe)[number])
    assert {rule: jobs[rule] for rule in wanted} == wanted
    assert not without or not any(rule.startswith(without) for rule in jobs)
    if recipe == "Another number of types":
        assert "Left out, since they name types that only four clusters give: conditions zero-" in printed


def test_another_seed_draws_other_samples(place):
    another, _ = commands("Another seed")
    drawn = place.folder / "runs/seed/results/samples/questions.jsonl"
    few = {"questions": demo_task(place.folder / "few", "question_answering", 20) | {"samples": 5}}
    config = yaml.safe_load((place.folder / "mine.yaml").read_text()) | {"tasks": few}
    (place.folder / "seeded.yaml").write_text(yaml.safe_dump(config))
    another = another.replace("mine.yaml", "seeded.yaml")
    found = set()
    for command in (another.replace(" seed.yaml", ""), another):
        place.run(f"{command} results/samples/questions.jsonl")
        found.add(drawn.read_bytes())
    assert len(found) == 2


def test_three_partitions_have_the_names_that_the_page_gives(place):
    (command,) = commands("Several partitions")
    named = [f"questions-kmeans-k{k}" for k in (3, 4, 6)]
    assert all(f"`{name}`" in RECIPES["Several partitions"] for name in named)
    jobs, _ = place.planned(f"{command} {' '.join(f'results/partitions/mine/{name}.csv' for name in named)}")
    assert jobs["cluster_heads"] == 3


@pytest.fixture
def results(tmp_path, monkeypatch) -> Path:
    features = np.random.default_rng(0).dirichlet(np.ones(69), (5, 2, 4)).astype(np.float32)
    (tmp_path / "runs/mine/results/features/mine").mkdir(parents=True)
    (tmp_path / "runs/mine/results/partitions/mine").mkdir(parents=True)
    stored = Features(features, np.full(5, 9, np.int32), np.zeros(5, bool), list("abcde"))
    write_arrays(tmp_path / "runs/mine/results/features/mine/questions.h5", stored, {})
    table = types_like(described("mine", layers=2, heads=4)).table.replace({"type": {"diagonal": "vertical"}})
    table = table.assign(cluster=0, silhouette=0.1, near=0.2, special=0.5, far=0.3, doubtful=False)
    write_csv(tmp_path / "runs/mine/results/partitions/mine/questions-kmeans-k4.csv", table)
    (tmp_path / "runs/mine/results/detectors").mkdir()
    tested = [(name, *place) for name in ("previous", "induction") for place in np.ndindex(20, 2, 4)]
    scores = pd.DataFrame(tested, columns=["detector", "sequence", "layer", "head"]).assign(score=0.1, null=0.1)
    scores.loc[scores.eval("detector == 'previous' and layer == 0 and head == 2"), "score"] = 0.7
    scores.loc[scores.eval("detector == 'induction' and layer == 1 and head == 0"), "score"] = 0.5
    write_csv(tmp_path / "runs/mine/results/detectors/mine.csv", detector_table(scores, least=0.1))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_heads_of_a_type_are_listed(results, capsys):
    run_python([RECIPES["Which heads are of a type"]])
    assert capsys.readouterr().out == "['2-1', '2-3']\n"


def test_the_features_of_heads_are_a_table(results, capsys):
    names = run_python([RECIPES["Features in a notebook"]])
    table = names["table"]
    assert (table.shape, table.index[0], table.index[-1]) == ((8, 21), "1-1", "2-4")
    np.testing.assert_allclose(table.sum(axis=1), 1, rtol=1e-5)
    expected = names["stored"].distance.mean(axis=0).reshape(8, 69)
    np.testing.assert_allclose(table["sep"], expected[:, 66], rtol=1e-5)
    np.testing.assert_allclose(table["bin-0"], expected[:, :4].sum(axis=1), rtol=1e-5)
    assert "(5, 2, 4, 69)" in capsys.readouterr().out


def test_detectors_are_asked_for_by_model_and_their_heads_stand_beside_the_types(place, results, capsys):
    (command,) = commands("Heads that a detector finds")
    jobs, _ = place.planned(command)
    assert jobs["measure_detectors"] == 1
    found = run_python([RECIPES["Heads that a detector finds"]])["found"]
    assert found[["detector", "layer", "head"]].to_numpy().tolist() == [["previous", 0, 2], ["induction", 1, 0]]
    assert found["type"].tolist() == ["dense", "vertical"]
    assert "corrected_p" in capsys.readouterr().out


def test_labels_of_other_names_are_those_of_the_model(place):
    (command,) = commands("Labels with other names")
    jobs, _ = place.planned(command)
    assert jobs["evaluate_condition"] == 19
    recipe = yaml.safe_load((place.folder / "pairs.yaml").read_text())["tasks"]["pairs"]
    columns = {**recipe["columns"], "labels": recipe["labels"]}
    rows, _ = fetch_task("pairs", "sentence_pair", {"file": place.variables["PAIRS"]}, columns)
    record = recorded(*classifier(tiny_bert, labels=3), place.folder / "inputs/again")
    assert label_numbers(rows, record).tolist() == [1, 0, 2, 1]


def test_figures_are_asked_for_with_the_configuration_of_a_run(place):
    (command,) = commands("Tables and figures for a paper")
    pdf = place.folder / "runs/mine/results/stability/mine/questions-kmeans-k4.pdf"
    pdf.parent.mkdir(parents=True)
    with pytest.raises(AssertionError, match="no figure yet; run snakemake first"):
        place.run(command)
    pdf.write_bytes(b"%PDF")
    assert place.run(command).startswith("1 figures and captions.md are in ")


def test_an_experiment_runs_from_the_folder_of_the_data(place, tmp_path):
    (command,) = re.findall(r"^snakemake -s .*$", (ROOT / "docs/run/own-model.md").read_text("utf-8"), re.MULTILINE)
    shutil.copyfile(place.folder / "mine.yaml", tmp_path / "mine.yaml")
    jobs, _ = replace(place, folder=tmp_path).planned(command.replace("/path/to/checkout", str(place.folder)))
    assert jobs["cluster_heads"] == 1


def test_a_run_that_is_moved_goes_on_where_it_was(place, tmp_path):
    (begin,) = commands("")
    copy, dry_run, *without = commands("Move a run to another machine")
    made = "results/samples/questions.jsonl"
    few = {"questions": demo_task(place.folder / "few", "question_answering", 20) | {"samples": 5}}
    config = yaml.safe_load((place.folder / "mine.yaml").read_text()) | {"tasks": few}
    (place.folder / "few.yaml").write_text(yaml.safe_dump(config))

    def there(command: str) -> str:
        for old, new in {"/elsewhere": str(tmp_path), "runs/mine": "runs/moved", "mine.yaml": "few.yaml"}.items():
            command = command.replace(old, new)
        return f"{command} {made}"

    assert copy == "cp -a runs/mine /elsewhere/runs/mine"
    place.run(there(begin))
    (tmp_path / "runs").mkdir()
    subprocess.run(["cp", "-a", place.folder / "runs/moved", tmp_path / "runs/moved"], check=True)
    assert "Nothing to be done" in place.run(there(dry_run))
    shutil.rmtree(tmp_path / "runs/moved/.snakemake")
    audit, touch, go_on = map(there, without)
    audit = audit.removesuffix(f" {made}")
    # Of one result alone, all others are missing.
    with pytest.raises(AssertionError, match=r"\b\d+ missing\b"):
        place.run(audit)
    before = (tmp_path / "runs/moved" / made).read_bytes()
    place.run(touch)
    assert "Nothing to be done" in place.run(go_on)
    assert (tmp_path / "runs/moved" / made).read_bytes() == before
