"""What jobs ask for: more than was measured, never many times more, and more with every attempt."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from headtypes.analyses.ablation.curve_sets import most_sets
from headtypes.analyses.ablation.curves import growing_sets
from headtypes.planning.config.schema import Windows, read_config
from headtypes.planning.plan import Plan
from headtypes.planning.resources import (
    UNKNOWN,
    ModelSize,
    Texts,
    divergence,
    encoding,
    forward,
    gpus,
    gradients,
    grouping,
    grown,
    model_size,
    needs,
    runs_model,
    tables,
    texts_of,
    training,
)
from headtypes.planning.results import paths
from tests.support.configs import full_config

MINILM = ModelSize(layers=6, heads=12, width=384, parameters=22_566_146, max_length=512)
LARGE = ModelSize(layers=24, heads=16, width=1024, parameters=335_143_938, max_length=512)
# Bytes of the files of results/samples and results/questions, and of their longest lines, over four.
DEMO = Texts(rows=300, longest=162, tokens=32_859)
SQUAD_SAMPLES = Texts(rows=1000, longest=512, tokens=227_546)
SQUAD = Texts(rows=10_570, longest=384, tokens=2_800_275)
# 20 questions and 24 pairs of a rehearsal.
SQUAD_PART = Texts(rows=20, longest=384, tokens=7_684)
PAIRS = Texts(rows=24, longest=63, tokens=1_046)
SEGMENTS = Texts(rows=1000, longest=128, tokens=128_000)
TRAINING = Texts(rows=3200, longest=162, tokens=350_000)


@pytest.mark.parametrize(
    ("asked", "megabytes", "seconds"),
    [
        (forward(MINILM, DEMO, 4096, "float32"), 829, 17),
        (forward(MINILM, SQUAD_SAMPLES, 4096, "float32"), 831, 45),
        (forward(MINILM, SQUAD, 4096, "float32"), 1313, 2577),
        (forward(LARGE, SQUAD_PART, 4096, "float32"), 2966, 22),
        (divergence(MINILM, SEGMENTS, 4096, "float32"), 817, 80),
        (gradients(MINILM, DEMO, 4096, "float32"), 1345, 19),
        (gradients(MINILM, SQUAD, 4096, "float32"), 1704, 3143),
        (gradients(LARGE, SQUAD_PART, 4096, "float32"), 6649, 43),
        (training(LARGE, PAIRS, 32, 3), 8857, 290),
        (training(MINILM, TRAINING, 16, 1), 2079, 153),
        (encoding(SQUAD), 469, 6),
        (tables(16.2), 288, 25),
        (grouping(10_000, 0), 980, 5),
    ],
)
def test_more_than_what_was_measured_and_not_many_times_more(asked, megabytes, seconds):
    # A cluster counts what Snakemake itself takes in the job.
    assert 1.1 * (megabytes + 250) < asked.mem_mb < 3 * (megabytes + 250)
    # Ten minutes to load what a busy file system gives slowly.
    assert 1.1 * seconds < 60 * asked.minutes < 5 * seconds + 3600


def test_a_large_model_on_all_of_squad_stays_within_what_a_node_has():
    assert forward(LARGE, SQUAD, 4096, "float32").mem_mb < 16_000
    assert forward(LARGE, SQUAD, 4096, "float32", on_gpu=True).minutes < 60
    assert gradients(LARGE, SQUAD, 4096, "float32").mem_mb < 32_000


def test_more_of_anything_needs_no_less():
    def both(model=LARGE, texts=SQUAD_SAMPLES, batch_tokens=4096, precision="float32", passes=1):
        asked = forward(model, texts, batch_tokens, precision, passes)
        return asked, gradients(model, texts, batch_tokens, precision)

    for small, large in (
        (both(model=MINILM), both()),
        (both(texts=DEMO), both()),
        (both(batch_tokens=512), both()),
        (both(precision="bfloat16"), both()),
        (both(), both(texts=SQUAD_SAMPLES._replace(tokens=10**7))),
    ):
        for less, more in zip(small, large, strict=True):
            assert less.mem_mb < more.mem_mb or less.minutes < more.minutes
            assert less.mem_mb <= more.mem_mb
            assert less.minutes <= more.minutes
    assert forward(LARGE, SQUAD, 4096, "float32", passes=3).minutes > 2.5 * both(texts=SQUAD)[0].minutes


def test_the_time_of_divergences_grows_with_the_square_of_the_heads():
    base = MINILM._replace(layers=12)
    few, many = (divergence(model, SEGMENTS, 4096, "float32").minutes - 10 for model in (MINILM, base))
    # The forward pass grows in proportion.
    assert 2 * few < many < 5 * few
    assert divergence(base, SEGMENTS, 4096, "float32", passes=1 / 8).minutes < 10 + many / 4


def test_heads_of_several_models_are_grouped_in_memory_that_grows_with_their_square(tmp_path):
    plan = Plan(read_config(full_config(tmp_path)))
    task, entries = next(iter(plan.compared_heads.items()))
    results = tmp_path / "elsewhere"
    sizes = {entry.model: (LARGE, MINILM)[number % 2] for number, entry in enumerate(entries)}
    for entry in entries:
        for file in (paths.MODEL.format(model=entry.model), paths.FEATURES.format(**entry.wildcards)):
            (results / file).parent.mkdir(parents=True, exist_ok=True)
            (results / file).write_text(json.dumps(sizes[entry.model]._asdict()))
    features = [str(results / paths.FEATURES.format(**entry.wildcards)) for entry in entries]
    asked = needs(plan, "compare_heads", SimpleNamespace(task=task), Inputs(features=features))
    assert asked.mem_mb == pytest.approx(grouping(sum(it.layers * it.heads for it in sizes.values()), 0).mem_mb, abs=2)
    (results / paths.MODEL.format(model=entries[0].model)).unlink()
    assert needs(plan, "compare_heads", SimpleNamespace(task=task), Inputs(features=features)).mem_mb >= asked.mem_mb
    with pytest.raises(FileNotFoundError) as error:
        needs(plan, "compare_heads", SimpleNamespace(task=task), Inputs(features=[*features[:-1], "features.h5"]))
    assert error.value.filename == "features.h5"
    few, many, most, too_many = (grouping(number, 0).mem_mb for number in (5_000, 20_000, 30_000, 10**6))
    assert few + 1.4 * 8 * (20_000**2 - 5_000**2) / 1e6 < many < most == too_many < 12_000


def test_a_batch_is_on_the_gpu_and_cuda_in_memory():
    here, there = (gradients(LARGE, SQUAD, 2**15, "float32", on_gpu=on_gpu) for on_gpu in (False, True))
    assert there.mem_mb < here.mem_mb / 4
    assert there.minutes < here.minutes / 10
    small = (forward(MINILM, DEMO, 512, "float32", on_gpu=on_gpu).mem_mb for on_gpu in (False, True))
    assert next(small) + 2500 < next(small)


def test_every_attempt_asks_for_twice_as_much():
    assert [grown(700, attempt) for attempt in (1, 2, 3)] == [700, 1400, 2800]


@pytest.fixture
def plan(tmp_path):
    return Plan(read_config(full_config(tmp_path)))


class Inputs(SimpleNamespace):
    def __iter__(self):
        return iter(file for value in vars(self).values() for file in (value if isinstance(value, list) else [value]))


@pytest.fixture
def inputs(tmp_path):
    record = tmp_path / "base.json"
    record.write_text(json.dumps({"name": "bert", **MINILM._asdict()}))
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(json.dumps({"id": number, "first": "x" * 1000}) + "\n" for number in range(50)))

    def made(*names, **more):
        files = {name: str(record if name in ("model", "base") else rows) for name in names}
        return Inputs(**files, **more)

    return made


def test_a_model_larger_than_a_gpu_takes_as_many_as_the_configuration_says(plan, tmp_path):
    """Its record says how many weights it has, and an edit of `memory` does not change it."""
    for model in ("packed", "base"):
        large = MINILM._replace(parameters=70_000_000_000)
        (tmp_path / f"{model}.json").write_text(json.dumps(large._asdict()))
    # 280 GB in float32, of which each GPU takes 70.
    assert gpus(plan, SimpleNamespace(model=str(tmp_path / "packed.json"))) == 4
    assert gpus(plan, SimpleNamespace(model=str(tmp_path / "base.json"))) == 1


def test_random_tokens_are_in_no_file(plan, inputs):
    wildcards = SimpleNamespace(model="tuned+1.0")
    asked = needs(plan, "measure_detectors", wildcards, inputs("model"))
    # Twice 20 sequences of twice 16 tokens, and 20 texts with needles of 300 tokens.
    assert asked == forward(MINILM, Texts(60, 300, 40 * 32 + 20 * 300), plan.config.compute.batch_tokens, "float32")


def test_the_sizes_are_those_of_the_files(inputs):
    files = inputs("model", "samples")
    assert model_size(files.model) == MINILM
    found = texts_of(files.samples)
    assert (found.rows, found.longest) == (50, 1025 // 4)
    assert found.tokens == pytest.approx(50 * 1025 / 4, rel=0.01)
    assert found.cut(100).longest == 100


def test_windows_of_a_long_text_overlap(tmp_path):
    """At most: one window, and another for each stride that the text is longer."""
    rows = tmp_path / "rows.jsonl"
    rows.write_text("x" * 399 + "\n" + "x" * 3999 + "\n")
    windows = Windows(max_seq_length=384, doc_stride=128)
    assert texts_of(rows).tokens == 100 + 1000
    assert texts_of(rows, windows) == Texts(rows=2, longest=1000, tokens=100 + 384 + 5 * 384)


def test_a_record_that_is_damaged_is_left_to_the_job_to_tell(tmp_path):
    for text in ("", "{", '{"layers": 6}'):
        (tmp_path / "model.json").write_text(text)
        assert model_size(tmp_path / "model.json") == UNKNOWN


def test_finding_a_model_takes_no_memory_for_its_weights(plan, tmp_path):
    """What is read of them, piece by piece, is their SHA-256: 515 MB were measured with 538 MB of weights."""
    weights = tmp_path / "model.safetensors"
    with open(weights, "wb") as file:
        file.truncate(140_000_000_000)
    asked = needs(plan, "fetch_model", SimpleNamespace(model="tuned+1.0"), Inputs(files=[str(weights)]))
    assert 1.1 * (515 + 250) < asked.mem_mb < 3 * (515 + 250)


def test_what_is_not_there_yet_is_named(plan, inputs):
    """By its name, Snakemake tells an input that another job will make from a defect."""
    files = inputs("model", samples="results/samples/squad.jsonl")
    with pytest.raises(FileNotFoundError) as error:
        needs(plan, "extract_features", SimpleNamespace(model="base", task="squad"), files)
    assert error.value.filename == files.samples


def test_rules_that_run_a_model_ask_for_what_it_needs(plan, inputs):
    of_partition = SimpleNamespace(model="base", partition="squad-kmeans-k4", condition="zero-dense")
    of_task = SimpleNamespace(model="base", task="squad")
    texts, compute = texts_of(inputs("samples").samples), plan.config.compute
    once = forward(MINILM, texts.cut(100), compute.batch_tokens, compute.precision)
    asked = needs(plan, "evaluate_condition", of_partition, inputs("model", "questions", parts=[]))
    windows = texts_of(inputs("questions").questions, plan.config.windows)
    assert asked == forward(MINILM, windows.cut(100), compute.batch_tokens, compute.precision)
    assert needs(plan, "extract_features", of_task, inputs("model", "samples")).mem_mb >= once.mem_mb
    of_text = SimpleNamespace(model="trained", task="paragraphs")
    cut = texts.cut(plan.config.tasks["paragraphs"].max_seq_length)
    short = forward(MINILM, cut, compute.batch_tokens, compute.precision)
    assert needs(plan, "extract_features", of_text, inputs("model", "samples")) == short
    predicted = needs(plan, "measure_importance", of_text, inputs("model", "questions"))
    of_documents = texts_of(inputs("questions").questions).cut(plan.config.tasks["paragraphs"].max_seq_length)
    assert predicted == gradients(MINILM, of_documents, compute.batch_tokens, compute.precision)
    importance = needs(plan, "measure_importance", of_task, inputs("model", "questions"))
    assert importance == gradients(MINILM, windows.cut(100), compute.batch_tokens, compute.precision)
    made = plan.finetuned("taught")
    taught = needs(plan, "finetune_model", SimpleNamespace(model="taught"), inputs("base", "rows"))
    assert taught == training(MINILM, texts.cut(made.max_seq_length), made.batch_size, made.epochs)


def test_a_question_is_read_with_each_of_its_choices(plan, inputs):
    """Of which there are about four; how long the longest is does not change."""
    (asked, chosen) = (
        needs(plan, "evaluate_condition", SimpleNamespace(model="packed", task=task), inputs("model", "questions"))
        for task in ("asked", "chosen")
    )
    assert chosen.operations == 4 * asked.operations


def test_a_shard_takes_its_share_of_the_time(plan, inputs, tmp_path):
    many = tmp_path / "many.jsonl"
    many.write_text(("x" * 999 + "\n") * 20_000)
    of_partition = {"model": "base", "partition": "squad-kmeans-k4"}
    whole, shard = (
        needs(
            plan, "evaluate_shard", SimpleNamespace(**of_partition, **wildcards), inputs("model", questions=str(many))
        )
        for wildcards in ({}, {"shard": "3", "shards": "8"})
    )
    assert shard.minutes - 10 == pytest.approx((whole.minutes - 10) / 8, abs=1)
    assert shard.mem_mb == whole.mem_mb


def test_what_is_read_several_times_takes_longer(plan, inputs, tmp_path):
    many = tmp_path / "many.jsonl"
    many.write_text(("x" * 999 + "\n") * 20_000)
    files = inputs("model", questions=str(many))
    wildcards = SimpleNamespace(model="base", partition="pairs-kmeans-k4")
    once, controls, curves = (
        needs(plan, rule, wildcards, files).minutes
        for rule in ("evaluate_condition", "evaluate_controls", "evaluate_curves")
    )
    # Two draws of each of two families, of five questions, and curves of six, are little of 20,000.
    assert max(controls, curves) < once
    config = full_config(tmp_path)
    config["controls"]["questions"] = config["curves"]["questions"] = "all"
    controls, curves = (
        needs(Plan(read_config(config)), rule, wildcards, files).minutes
        for rule in ("evaluate_controls", "evaluate_curves")
    )
    assert controls - 10 == pytest.approx(4 * (once - 10), abs=4)
    assert curves > controls


def test_curves_have_no_more_sets_than_time_is_asked_for():
    rng = np.random.default_rng(0)
    for types in (2, 4, 8, 16):
        heads = np.argwhere(np.ones((24, 16)))
        of_type = rng.integers(types, size=len(heads))
        numbers = np.bincount(of_type)
        sets = sum(len(growing_sets(heads[of_type == type_])) for type_ in range(types))
        sets += len(growing_sets(heads, also=numbers))
        assert 0.9 * most_sets(types) < sets <= most_sets(types)


def test_what_merges_shards_or_reads_tables_runs_no_model(plan, inputs):
    parts = {"parts": [inputs("samples").samples] * 3}
    assert runs_model("extract_features", inputs("model", "samples", parts=[]))
    assert runs_model("evaluate_shard", inputs("model", "questions"))
    assert not runs_model("extract_features", inputs("model", "samples", **parts))
    assert not runs_model("prepare_windows", inputs("model", "questions"))
    assert not runs_model("cluster_heads", inputs("features"))
    for rule in ("evaluate_condition", "cluster_heads", "plot_heads"):
        asked = needs(plan, rule, SimpleNamespace(), inputs("model", "questions", **parts))
        assert 600 < asked.mem_mb < 1200
