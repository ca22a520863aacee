"""The experiments of both papers, with random weights for what they take from the Hub; of Guan's jobs, one chain."""

import json
from pathlib import Path

import pandas as pd
import pytest
import yaml

from headtypes.core.files import sha256_file
from tests.support import commands
from tests.support.hub import Hub
from tests.support.places import ROOT, SCRIPTS
from tests.support.stand_ins import COMMITS, write_stand_ins

pytestmark = pytest.mark.slow

MODELS = {
    "bert-large-wwm": "google-bert/bert-large-uncased-whole-word-masking",
    "bert-large-wwm-squad": "google-bert/bert-large-uncased-whole-word-masking-finetuned-squad",
}
SQUAD, GLUE = "rajpurkar/squad", "nyu-mll/glue"
DATA = {
    "tasks/squad": (SQUAD, None, "validation"),
    "tasks/mrpc": (GLUE, "mrpc", "validation"),
    "tasks/mnli": (GLUE, "mnli", "validation_matched"),
    "training/mrpc": (GLUE, "mrpc", "train"),
    "training/mnli": (GLUE, "mnli", "train"),
}
PAPER = [
    *(f"results/sources/models/{model}.json" for model in MODELS),
    *(f"results/sources/{where}.jsonl" for where in DATA),
    "results/ablation/bert-large-wwm-squad/squad-kmeans-k4/drop_intra-dense_vertical/metrics.json",
    # Fine-tuned here.
    "results/ablation/bert-large-wwm-mrpc/mrpc-kmeans-k4/zero-dense/metrics.json",
]


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hub")
    with Hub(write_stand_ins(folder), COMMITS) as hub:
        yield hub


def smaller(experiment: str, number: int) -> dict:
    config = yaml.safe_load((ROOT / "experiments" / f"{experiment}.yaml").read_text(encoding="utf-8"))
    tasks = {
        name: {"samples": number} | ({"questions": number} if task["kind"] != "text" else {})
        for name, task in config["tasks"].items()
    }
    numbers = {"controls": "questions", "gradients": "samples"}
    return {"tasks": tasks, **{key: {name: number} for key, name in numbers.items() if key in config}}


def run(experiment: str, hub: Hub, folder: Path, *targets: str) -> Path:
    small, work = folder / "small.yaml", folder / "work"
    small.write_text(yaml.safe_dump(smaller(experiment, 4)), encoding="utf-8")
    work.mkdir()
    command = ["-m", "tests.workflow.replay", work, ROOT / "experiments" / f"{experiment}.yaml", small, "--", *targets]
    where = {"HF_HOME": str(folder / "cache"), "PYTHONPATH": f"{SCRIPTS}:{ROOT}"}
    commands.run(command, ROOT, **hub.environment, **where)
    return work / "results"


def test_the_papers_experiment_fetches_all_its_sources_and_answers_questions(hub, tmp_path):
    results = run("paper", hub, tmp_path, *PAPER)
    for name, repository in MODELS.items():
        record = json.loads((results / f"sources/models/{name}.json").read_text())
        served = hub.repositories[f"models/{repository}"]
        assert (record["hub"], record["revision"]) == (repository, served.commit)
        assert record["weights"] == {"model.safetensors": sha256_file(served.files["model.safetensors"])}
    for name, (repository, configuration, split) in DATA.items():
        record = json.loads((results / f"sources/{name}.json").read_text())
        origin = {"hub": repository, "name": configuration, "split": split}
        assert record.items() >= {**origin, "revision": COMMITS[f"datasets/{repository}"]}.items()
        assert record["rows"] == (24 if split == "train" else 12)
    for path, counted in zip(PAPER[-2:], ("n_questions", "n_pairs"), strict=True):
        assert json.loads((results / Path(path).relative_to("results")).read_text())[counted] == 4


def test_the_second_papers_experiment_runs_to_its_end(hub, tmp_path):
    results = run("clark", hub, tmp_path)
    table = pd.read_csv(results / "clark2019/comparison.csv", keep_default_na=False)
    assert set(table["model"]) == {"bert-base"}
    record = json.loads((results / "sources/tasks/squad-paragraphs.json").read_text())
    assert (record["hub"], record["split"], record["revision"]) == (SQUAD, "train", COMMITS[f"datasets/{SQUAD}"])
