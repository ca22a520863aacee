"""The whole workflow on a random model and six questions, offline."""

import json
import re
from pathlib import Path

import h5py
import pandas as pd
import pytest
import yaml
from snakemake.utils import update_config

from commands.export import UNDECIDED
from headtypes.analyses.types.partitions import read_partition
from headtypes.data.kinds.question_answering import score_predictions
from headtypes.data.tasks import KINDS
from headtypes.planning.config import read_config
from headtypes.planning.plan import RESULTS, STAGES, Plan
from tests.support.commands import differences, files_below
from tests.support.demo import demo_task
from tests.support.records import read_squad
from tests.workflow.conftest import ROOT
from tests.workflow.replay import uncovered

# One of each kind of operation, and the baseline; planning all 19 is tested by a dry run.
CONDITIONS = ["baseline", "zero-dense", "uniform-vertical", "drop_intra-diagonal", "drop_inter-all-but-diagonal"]
# And what the paper does not have.
FURTHER = {"mixed": {"dense": "mean", "2-3": "uniform"}}


def words_in(file: Path) -> set[str]:
    """Words of the texts that a file of results holds, also if it is compressed."""
    texts = [file.read_bytes()]
    if file.suffix == ".h5":
        with h5py.File(file) as data:
            data.visititems(lambda _, it: texts.append(it[()].tobytes()) if isinstance(it, h5py.Dataset) else None)
    if file.suffix == ".parquet":
        texts.append(pd.read_parquet(file).to_csv().encode())
    words = ("river", "young", "house", "under")
    return {word for word in words for text in texts if re.search(rf"\b{word}\b".encode(), text)}


def rules_of_texts() -> set[str]:
    """The rules whose results are declared for each model on a task of text, and for no other."""
    tasks = {"squad": {"source": {"hub": "some/questions"}}, "news": {"kind": "text", "source": {"hub": "some/news"}}}
    model = {"source": {"hub": "some/one"}, "tasks": [*tasks], "evaluate": "squad"}
    plan = Plan(read_config({"tasks": tasks, "models": {"one": model}}))
    return {result.rule for result in RESULTS if result.of and result.of(plan) == plan.texts}


def test_all_19_conditions_are_planned_by_default(workdir):
    planned = workdir.planned()
    # What the config does not ask for.
    absent = {"fetch_training", "finetune_model", "train_model", "import_partition", "measure_head_outputs"}
    absent |= {"measure_detectors", "read_analysis", "plot_analysis"}
    # There are no tasks of text, treebanks or coreference.
    absent |= rules_of_texts() | {"compare_norms", "plot_sentences", "tabulate_readings"}
    absent |= {"fetch_test", "measure_offsets", "extract_arcs", "measure_relations", "train_probes", "measure_probes"}
    absent |= {"extract_antecedents", "measure_coreference"}
    absent |= {"tabulate_relations", "tabulate_coreference", "tabulate_probes"}
    several = {"evaluate_condition": 19, "evaluate_controls": 18}
    assert planned == dict.fromkeys(STAGES.keys() - absent, 1) | several


def answers_of(results: Path, partition: str) -> dict[str, tuple[dict, dict]]:
    folders = (results / f"ablation/tiny/{partition}").glob("*/")
    return {
        folder.name: tuple(json.loads((folder / f"{what}.json").read_text()) for what in ("predictions", "metrics"))
        for folder in folders
    }


def test_from_a_model_and_a_squad_file_to_the_tables(workdir):
    config = workdir.config()
    config["models"]["tiny"]["published"] = {"guan2020": "squad"}
    # More than the six questions that there are, which is said.
    config["controls"] |= {"draws": 1, "questions": 9}
    config["select"]["conditions"] = ["baseline", "zero-dense"]
    workdir.configure(config)
    workdir.snakemake()
    results = workdir.path / "results"

    partition = read_partition(results / "partitions/tiny/animals-kmeans-k4.csv")
    assert partition.types == ("dense", "diagonal", "dense_vertical", "vertical")

    questions = read_squad(config["tasks"]["animals"]["source"]["file"])
    answers = answers_of(results, "animals-kmeans-k4")
    assert answers.keys() == {"baseline", "zero-dense"}
    for predictions, metrics in answers.values():
        assert predictions.keys() == {question.id for question in questions}
        assert metrics.pop("provenance")["rule"] == "evaluate_condition"
        assert metrics == KINDS["question_answering"].mean_scores(score_predictions(questions, predictions))

    table2 = pd.read_csv(results / "guan2020/table2.all.csv")
    assert table2["condition"].tolist() == ["baseline", "zero-dense"]
    assert table2["id"].tolist() == [1, 2]
    assert table2["published_exact_match"].tolist() == [82.85, 79.92]
    assert table2["control_draws"].tolist()[1:] == [1]
    said = "animals-kmeans-k4: 9 questions for random heads were asked for, and there are 6."
    assert said in (workdir.path / "logs/tabulate_ablations.log").read_text()
    said = "Beside 1 draw of as many heads of each layer on 6 questions (9 asked for)."
    assert said in (results / "guan2020/table2.md").read_text()
    printed = pd.read_csv(results / "guan2020/table2.csv")
    pd.testing.assert_frame_equal(printed, table2[printed.columns])
    assert set(pd.read_csv(results / "guan2020/table1.csv")["model"]) == {"tiny"}

    for name in ("pairs", "types", "heads"):
        # One model under one clustering has no other to stand beside.
        assert pd.read_csv(results / f"compared/kmeans-k4/{name}.csv").empty

    compared_types = pd.read_csv(results / "compared_types/tiny/animals-kmeans-k4.csv")
    assert {"gradients", "ablation"} <= set(compared_types["analysis"])
    assert "All clusterings of halves of the heads of tiny agree on" in (results / "index.html").read_text()

    comparison = pd.read_csv(results / "guan2020/comparison.csv")
    assert set(comparison["kind"]) == {"claim", "figure"}
    assert set(comparison["verdict"].dropna()) <= {"holds", "fails", "open", "no verdict"}

    assert workdir.planned() == {}
    assert workdir.command("audit") == "All results are as they should be."

    given = workdir.path / "export"
    workdir.command("export", "--author", "Doe, Jane", "--license", "CC-BY-4.0", "--output", str(given))
    assert yaml.safe_load((given / "config.yaml").read_text())["select"] == config["select"]
    assert {"results/features/tiny/animals.h5", "results/guan2020/table2.csv"} <= files_below(given)
    assert not [path for path in files_below(given / "results") if words_in(given / "results" / path)]
    assert UNDECIDED not in (given / "README.md").read_text()
    assert words_in(results / "samples/animals.jsonl")
    assert words_in(results / "maps/tiny/animals.samples.h5")

    # An edit of whatever a job has loaded runs it again.
    records = [json.loads(file.read_text()) for file in (results / "provenance").rglob("*.json")]
    assert {record["rule"]: missed for record in records if (missed := uncovered(record))} == {}

    # In another order, at another time and in another place, all is the same.
    assert differences(results, workdir.replay()) == []

    # A flipped bit, and another value.
    samples = results / "samples/animals.jsonl"
    samples.write_text(samples.read_text() + " ")
    config["clustering"]["restarts"] += 1
    workdir.configure(config)
    audit = workdir.command("audit", check=False)
    assert "damaged  results/samples/animals.jsonl" in audit
    assert "restarts: 5, now 6" in audit


@pytest.mark.slow
def test_a_partition_a_reading_and_a_condition_of_the_users_are_treated_like_the_others(workdir):
    config = workdir.config()
    config["models"]["tiny"]["published"] = {"guan2020": "squad"}
    config["conditions"] = FURTHER
    config["controls"]["draws"] = 1
    config["readings"] = {"segments": {"sentences": "segments"}}
    config["select"]["conditions"] = [*CONDITIONS, *FURTHER]
    imported = pd.DataFrame([{"layer": n // 4, "head": n % 4, "type": ("odd", "dense")[n % 2]} for n in range(8)])
    imported.to_csv(workdir.path / "mine.csv", index=False)
    config["partitions"] = {"mine": {"file": str(workdir.path / "mine.csv"), "model": "tiny", "task": "animals"}}
    workdir.configure(config)
    tables = [f"results/guan2020/table{number}.all.csv" for number in (2, 3)]
    compared = [f"results/compared_types/tiny/{partition}.csv" for partition in ("animals-kmeans-k4", "mine")]
    results = workdir.make(*tables, *compared)
    assert read_partition(results / "partitions/tiny/mine.csv").types == ("dense", "odd")
    clustered = answers_of(results, "animals-kmeans-k4")
    assert clustered.keys() >= {*CONDITIONS, *FURTHER, "drop_intra-diagonal@segments"}
    # The imported partition has the type dense and no other of the paper's.
    assert answers_of(results, "mine").keys() == {"baseline", "zero-dense", *FURTHER}
    table2, table3 = (pd.read_csv(workdir.path / table) for table in tables)
    table2 = table2[table2["partition"] == "animals-kmeans-k4"]
    assert table2["condition"].tolist() == ["baseline", "zero-dense", "uniform-vertical", *FURTHER]
    assert table2["id"].tolist()[:3] == [1, 2, 11]
    assert table2["published_exact_match"].tolist()[:3] == [82.85, 79.92, 53.17]
    assert table3["id"].tolist() == [12, 17]
    for path in compared:
        assert "ablation" in set(pd.read_csv(workdir.path / path)["analysis"])


def test_the_papers_experiment_is_planned_without_network(workdir):
    workdir.configure(yaml.safe_load((ROOT / "experiments/paper.yaml").read_text()))
    planned = workdir.planned()
    # On SQuAD, MRPC and MNLI: 19 conditions, and those that the five further readings can change.
    assert planned["evaluate_condition"] == 3 * (19 + 36)
    assert planned["fetch_model"] == 2
    assert planned["fetch_task"] == 3
    assert planned["finetune_model"] == planned["fetch_training"] == 2
    assert planned["extract_features"] == planned["cluster_heads"] == 6
    # Nothing is computed in a dry run, and nothing is fetched.
    assert not (workdir.path / "results").exists()


def test_its_second_half_is_planned_with_a_treebank_and_documents_of_the_user_s(workdir, monkeypatch):
    for variable, name in {"TREEBANK": "en_ewt-ud", "DOCUMENTS": "stories", "VECTORS": "vectors.txt"}.items():
        monkeypatch.setenv(variable, str(workdir.path / name))
    (workdir.path / "stories").mkdir()
    for name in (
        *(f"en_ewt-ud-{part}.conllu" for part in ("dev", "train", "test")),
        "stories/one.conllu",
        "vectors.txt",
    ):
        (workdir.path / name).write_text("")
    config = yaml.safe_load((ROOT / "experiments/clark.yaml").read_text())
    update_config(config, yaml.safe_load((ROOT / "experiments/clark_language.yaml").read_text()))
    workdir.configure(config)
    planned = workdir.planned()
    once = ("fetch_test", "fetch_training", "measure_relations", "measure_probes", "measure_coreference")
    assert {rule: planned[rule] for rule in once} == dict.fromkeys(once, 1)
    assert planned["fetch_task"] == 3


@pytest.mark.slow
def test_a_model_is_made_from_another(workdir):
    config = workdir.config()
    config["tasks"]["told"] = demo_task(workdir.path, "question_answering", 4, 16) | {"samples": 3}
    made = {"base": "tiny", "task": "told", "batch_size": 8, "epochs": 1.0, "max_seq_length": 64}
    config["models"]["made"] = {"source": {"finetuned": made}, "tasks": ["told"], "evaluate": "told"}
    config["select"] = {"models": ["made"], "tasks": ["told"], "conditions": ["baseline"]}
    workdir.configure(config)
    answered = "results/ablation/made/told-kmeans-k4/baseline/predictions.json"
    results = workdir.make(answered)
    assert {"model.safetensors", "config.json", "tokenizer.json"} <= {
        f.name for f in (results / "models/made").iterdir()
    }
    assert len(json.loads((workdir.path / answered).read_text())) == 4
    # The base was found, but nothing was asked of it.
    assert [file.name for file in (results / "features").iterdir()] == ["made"]
