"""Estimates for jobs that have never run: within a factor of two of what was measured, and what they rest on."""

import json
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from headtypes.core.files import write_text
from headtypes.planning.config.schema import read_config
from headtypes.planning.provenance import RESULTS
from headtypes.planning.tools.estimates import Estimate, estimates, speed
from headtypes.planning.tools.jobs import Job
from headtypes.planning.tools.preview import preview, preview_text
from tests.support.places import ROOT
from tests.support.tiny import bert_tokenizer, gpt2_tokenizer, llama_tokenizer, roberta_tokenizer
from tests.support.warm import python

# Operations per second of the machine on which seconds were measured.
SPEED = 118e9
DEMO = yaml.safe_load((ROOT / "config.yaml").read_text())
MINILM = {"layers": 6, "heads": 12, "width": 384, "parameters": 22_566_146, "max_length": 512}
SQUAD = {
    "tasks": {"squad": {"kind": "question_answering", "source": {"file": "squad.json"}}},
    "models": {"local": {"source": {"folder": "model"}, "tasks": ["squad"], "evaluate": "squad"}},
    "conditions": DEMO["conditions"],
}
MODEL, QUESTIONS = "results/sources/models/{}.json", "results/questions/{}.jsonl"
SAMPLES, TRAINING = "results/samples/{}.jsonl", "results/sources/training/{}.jsonl"
OF_QA = {"model": "minilm-qa", "partition": "qa-kmeans-k4"}
OF_SQUAD = {"model": "local", "partition": "squad-kmeans-k4"}


def job(rule: str, wildcards: dict, **named: str) -> Job:
    inputs = {name: (path,) for name, path in named.items()}
    every = tuple(path for paths in inputs.values() for path in paths)
    output = f"results/{rule}/{'-'.join(wildcards.values())}.csv"
    return Job(rule, wildcards, "{}", "", Path(f"{rule}.py"), every, (output,), named=inputs)


def evaluating(rule: str, **wildcards: str) -> Job:
    task = wildcards.get("task") or wildcards["partition"].partition("-")[0]
    return job(rule, wildcards, model=MODEL.format(wildcards["model"]), questions=QUESTIONS.format(task))


def extracting_squad() -> Job:
    model, samples = MODEL.format("local"), SAMPLES.format("squad")
    return job("extract_features", {"model": "local", "task": "squad"}, model=model, samples=samples)


@pytest.fixture(autouse=True)
def processor(monkeypatch):
    """As when the seconds were measured: products in float32 were by MKL."""
    monkeypatch.setattr("headtypes.planning.tools.estimates.has_avx512_that_mkl_leaves_unused", lambda: False)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def estimate(config: dict, *jobs: Job, speed: float = SPEED) -> list[Estimate]:
    scratch = Path("scratch")
    return list(estimates(jobs, {RESULTS: read_config(config)}, speed, scratch).values())


def of_squad(*jobs: Job, **more) -> list[Estimate]:
    """Estimates for MiniLM on all questions of SQuAD's dev set, as large as they are."""
    write_text("model/config.json", "{}")
    write_text("squad.json", "{}")
    write_text(MODEL.format("local"), json.dumps(MINILM))
    write_text(QUESTIONS.format("squad"), ("x" * 1059 + "\n") * 10_570)
    write_text(SAMPLES.format("squad"), ("x" * 909 + "\n") * 1000)
    return estimate(SQUAD, *jobs, **more)


@pytest.mark.parametrize(
    ("planned", "seconds"),
    [
        (job("finetune_model", {"model": "minilm-qa"}, base=MODEL.format("minilm"), rows=TRAINING.format("qa")), 80),
        (
            job(
                "finetune_model",
                {"model": "minilm-entailment"},
                base=MODEL.format("minilm"),
                rows=TRAINING.format("entailment"),
            ),
            44,
        ),
        (
            job(
                "extract_features",
                {"model": "minilm", "task": "qa"},
                model=MODEL.format("minilm"),
                samples=SAMPLES.format("qa"),
            ),
            10.4,
        ),
        (evaluating("evaluate_condition", **OF_QA, condition="zero-dense"), 9.3),
        # All of the draws, which most conditions do not need.
        (evaluating("evaluate_controls", **OF_QA, condition="zero-diagonal"), 66),
        (evaluating("evaluate_curves", **OF_QA), 45.4),
        (evaluating("measure_importance", model="minilm-qa", task="qa"), 14.1),
        (job("choose_clustering", {"model": "minilm", "task": "qa"}, features="results/features/minilm/qa.h5"), 5.9),
        (job("measure_confidence", OF_QA, features="results/features/minilm-qa/qa.h5"), 3.7),
    ],
    ids=lambda value: value.rule if isinstance(value, Job) else "",
)
def test_the_demo_is_estimated_within_a_factor_of_two_before_anything_is_there(planned, seconds):
    (found,) = estimate(DEMO, planned)
    assert seconds / 2 < found.seconds < seconds * 2
    assert not found.assumed


@pytest.mark.parametrize(
    ("planned", "seconds"),
    [
        (evaluating("evaluate_condition", **OF_SQUAD, condition="zero-dense"), 571),
        (evaluating("measure_importance", model="local", task="squad"), 1087),
        (
            job(
                "extract_features",
                {"model": "local", "task": "squad"},
                model=MODEL.format("local"),
                samples=SAMPLES.format("squad"),
            ),
            42,
        ),
        (
            job("prepare_windows", {"model": "local", "task": "squad"}, questions=QUESTIONS.format("squad")),
            4,
        ),
    ],
    ids=lambda value: value.rule if isinstance(value, Job) else "",
)
def test_minilm_on_squad_is_estimated_within_a_factor_of_two(planned, seconds):
    (found,) = of_squad(planned)
    assert seconds / 2 < found.seconds < seconds * 2


def test_twice_the_speed_is_half_the_time_but_for_loading():
    planned = evaluating("evaluate_condition", **OF_SQUAD, condition="zero-dense")
    (slow,), (fast,) = of_squad(planned), of_squad(planned, speed=2 * SPEED)
    assert slow.seconds / 2 < fast.seconds < slow.seconds / 2 + 5


def test_a_forward_pass_with_all_of_avx512_is_estimated_within_a_factor_of_two(monkeypatch):
    planned = evaluating("evaluate_condition", **OF_SQUAD, condition="zero-dense")
    (by_mkl,) = of_squad(planned)
    monkeypatch.setattr("headtypes.planning.tools.estimates.has_avx512_that_mkl_leaves_unused", lambda: True)
    (found,) = of_squad(planned)
    assert 300 / 2 < found.seconds < 300 * 2
    assert found.seconds < by_mkl.seconds * 0.6


def test_disk_is_what_was_written():
    """Megabytes of the demo's fine-tuned model, and of features of 1,000 samples."""
    (model,) = estimate(
        DEMO, job("finetune_model", {"model": "minilm-qa"}, base=MODEL.format("minilm"), rows=TRAINING.format("qa"))
    )
    assert 80 < model.disk_mb < 100
    assert model.temporary_mb == pytest.approx(3 * model.disk_mb, rel=0.01)
    (features,) = of_squad(extracting_squad())
    assert 16 / 1.5 < features.disk_mb < 16 * 1.5


@pytest.mark.parametrize(
    ("make", "share"), [(bert_tokenizer, 1), (roberta_tokenizer, 1), (llama_tokenizer, 1), (gpt2_tokenizer, 2)]
)
def test_features_hold_the_first_token_on_its_own_where_no_token_is_put_before_it(make, share):
    """Those of SmolLM2-135M on 100 samples have 3.2 bytes of each number, and 3.1 of its part of the first token."""
    (plain,) = of_squad(extracting_squad())
    make(["the"]).save_pretrained("model")
    (found,) = of_squad(extracting_squad())
    assert found.disk_mb == pytest.approx(share * plain.disk_mb, rel=0.02)


def test_the_memory_is_what_the_job_asks_for_when_its_inputs_are_there():
    planned = evaluating("evaluate_condition", **OF_SQUAD, condition="zero-dense")
    (found,) = of_squad(planned)
    assert 1313 < found.mem_mb < 3 * 1313


def test_what_is_still_on_the_hub_is_assumed_and_named(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    far = {"source": {"hub": "nobody/has-this", "revision": "0" * 40}}
    config = {
        **SQUAD,
        "tasks": {"squad": {"kind": "question_answering", **far}},
        "models": {"local": {**far, "tasks": ["squad"], "evaluate": "squad"}},
    }
    fetch = replace(job("fetch_model", {"model": "local"}), outputs=(MODEL.format("local"),))
    evaluate = evaluating("evaluate_condition", **OF_SQUAD, condition="zero-dense")
    fetched, evaluated = estimate(config, fetch, evaluate)
    assert evaluated.assumed == {"models.local", "tasks.squad"}
    # BERT-large in float32, on SQuAD: hours on a core.
    assert fetched.download_mb == pytest.approx(1344, rel=0.01)
    assert 5000 < evaluated.seconds < 50_000
    config = read_config(config)
    jobs = [replace(each, runs=True) for each in (fetch, evaluate)]
    found = estimates(jobs, {RESULTS: config}, SPEED, Path("other"))
    text = preview_text(preview(jobs, {RESULTS: config}, found), 2, SPEED)
    assert "models.local, tasks.squad" in text
    assert "1.3 GB of weights are downloaded" in text


def test_of_data_that_no_job_can_read_the_text_says_why():
    write_text("pairs.csv", "a,b\none,two\nthree,\n")
    pairs = {"kind": "sentence_pair", "source": {"file": "pairs.csv"}, "columns": {"first": "a", "second": "b"}}
    models = {"small": {"source": {"trained": {"layers": 2}}, "tasks": ["pairs"]}}
    config = read_config({"tasks": {"pairs": pairs}, "models": models})
    jobs = [replace(job("sample_inputs", {"task": "pairs"}, rows="results/sources/tasks/pairs.jsonl"), runs=True)]
    found = estimates(jobs, {RESULTS: config}, SPEED, Path("other"))
    text = preview_text(preview(jobs, {RESULTS: config}, found), 2, SPEED)
    assert "A job will fail: " in text
    assert "pairs.csv: row 2 has no text in a or b; row 1 is the first below a header." in text


def test_a_model_whose_download_was_cut_off_before_its_weights_is_assumed_and_named():
    write_text("model/config.json", json.dumps({"num_hidden_layers": 6, "num_attention_heads": 12}))
    write_text("squad.json", "{}")
    write_text(QUESTIONS.format("squad"), "x")
    (found,) = estimate(SQUAD, evaluating("evaluate_condition", **OF_SQUAD, condition="zero-dense"))
    assert found.assumed == {"models.local"}


def test_the_speed_is_that_of_a_processor():
    assert 1e9 < speed(0.05) < 2e12


def work(*jobs: Job, seconds: dict[str, float]) -> dict:
    expected = {each.outputs: Estimate(seconds[each.wildcards["task"]], 1500, 20.0, temporary_mb=3.0) for each in jobs}
    return preview([replace(each, runs=True) for each in jobs], {RESULTS: read_config(SQUAD)}, expected)


@pytest.fixture
def two() -> list[Job]:
    write_text("model/config.json", "{}")
    write_text("squad.json", "{}")
    jobs = [job("extract_features", {"model": "local", "task": task}) for task in ("short", "long")]
    return [replace(each, benchmark=f"{each.wildcards['task']}.tsv") for each in jobs]


def test_nothing_measured_is_estimated_and_the_text_says_so(two):
    found = work(*two, seconds={"short": 10, "long": 30})
    assert found["extract_features"].seconds == found["extract_features"].estimated == 40
    text = preview_text(found, 2, SPEED)
    assert text.splitlines()[1].split() == ["extract_features", "2", "0:00:40", "1.5", "GB", "40", "MB"]
    assert "2 jobs, 0:00:40 of processor time: 0:00:20 on 2 cores." in text
    assert "at most 1.5 GB of memory; the results take about 40 MB of disk" in text
    assert "0:00:40 of this is estimated from the sizes of models and texts and the speed of this machine (118" in text
    assert "half or twice as much" in text


def test_what_was_measured_counts_more_than_an_estimate_and_corrects_others_of_the_rule(two):
    write_text("short.tsv", "s\th:m:s\n5.0\t0:00:05\n")
    found = work(*two, seconds={"short": 10, "long": 30})
    assert found["extract_features"].seconds == 5 + 15
    assert found["extract_features"].estimated == 0
    text = preview_text(found, 2, SPEED)
    assert "Times are those that such jobs took before." in text
    assert "estimated" not in text


def test_measured_and_estimated_times_are_told_apart(two):
    write_text("short.tsv", "s\th:m:s\n5.0\t0:00:05\n")
    jobs = [two[0], replace(two[1], rule="measure_surface")]
    text = preview_text(work(*jobs, seconds={"short": 10, "long": 30}), 2, SPEED)
    assert "0:00:05 of this is what such jobs took before." in text
    assert "0:00:30 of this is estimated" in text


def test_each_rule_of_the_demo_has_a_time_memory_and_disk(folder):
    """The command itself, where nothing has run: a quarter of an hour and 320 MB were measured."""
    text, lines = previewed(folder)
    assert len(lines) > 35
    assert all(time != "0:00:00" for _, _, time, _, _ in lines)
    assert "new" in text
    (disk,) = re.findall(r"the results take about (\d+) MB of disk", text)
    assert 320 / 1.5 < int(disk) < 320 * 1.5
    assert not list(folder.glob("results/samples"))


def test_memory_and_times_are_those_of_the_resources_that_a_profile_gives(folder):
    write_text("given/config.yaml", 'default-resources: [gpu=1]\nset-resources: ["embed_heads:mem_mb=16000"]\n')
    # Most of the time would go into the texts of the demo's world.
    few = {"source": {"size": 12}}
    trained = {"source": {"size": 12, "training_size": 12}}
    tasks = dict.fromkeys(("qa", "paraphrase", "entailment", "trees"), trained) | dict.fromkeys(
        ("paragraphs", "stories"), few
    )
    write_text("smaller.yaml", yaml.safe_dump({"tasks": tasks}))
    text, lines = previewed(folder, "--profile", str(folder / "given"), "--configfile", str(folder / "smaller.yaml"))
    memory = {rule: memory for rule, _, _, memory, _ in lines}
    assert memory["embed_heads"] == "16.0 GB"
    assert memory["evaluate_condition"] == "5.1 GB", "CUDA's libraries take some"
    assert "A job asks for at most 16.0 GB of memory" in text


def previewed(folder: Path, *arguments: str) -> tuple[str, list[tuple[str, ...]]]:
    """What the command prints for the demo, and its lines about rules: rule, jobs, time, memory, disk."""
    command = [python(), str(ROOT / "commands" / "preview.py"), "--cores", "2", "--directory", str(folder)]
    text = subprocess.run([*command, *arguments], capture_output=True, text=True, check=True).stdout
    return text, re.findall(r"^(\w+) +([\d,]+) +(\S+) +(\S+ [MG]B) +(\S+ [MG]B)$", text, re.MULTILINE)
