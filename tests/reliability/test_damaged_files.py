"""Files that were cut off or have wrong bytes: each reader gives data, or one sentence that names the file."""

import csv
import itertools
import os
import pickle
import resource
import shutil
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from headtypes.analyses.ablation.results import (
    read_curves,
    read_head_outputs,
    read_importance,
    read_intervals,
    read_parts,
    read_scores,
    write_head_outputs,
    write_scores,
)
from headtypes.analyses.detectors.results import (
    detector_table,
    read_detector_scores,
    read_detector_table,
)
from headtypes.analyses.distances.results import (
    Features,
    merge_features,
    read_distance,
    read_features,
    write_features,
)
from headtypes.analyses.divergence.results import (
    Divergence,
    merge_divergences,
    read_divergence,
    read_projection,
    read_projection_fit,
    write_divergence,
)
from headtypes.analyses.gradients.results import ATTENDED, Gradients, read_gradients
from headtypes.analyses.maps.measure import AttentionMaps
from headtypes.analyses.maps.results import read_maps, read_sample_maps, write_maps, write_sample_maps
from headtypes.analyses.norms.analysis import read_shares
from headtypes.analyses.norms.compare import BY_NORMS, SHARES
from headtypes.analyses.outputs.results import COLUMNS as OUTPUT_COLUMNS
from headtypes.analyses.outputs.results import HEADS as OUTPUT_HEADS
from headtypes.analyses.outputs.results import LAYERS as OUTPUT_LAYERS
from headtypes.analyses.outputs.results import Outputs, read_heads, read_layers, read_outputs, write_outputs
from headtypes.analyses.surface.results import COLUMNS, Surface, read_surface, write_surface
from headtypes.analyses.types.clustering import import_partition
from headtypes.analyses.types.partitions import build_partition, read_partition, write_partition
from headtypes.comparisons.models.compared import PAIRS as PAIRED
from headtypes.comparisons.models.compared import read_pairs
from headtypes.comparisons.types.table import COLUMNS as COMPARED_TYPES
from headtypes.comparisons.types.table import read_compared_types
from headtypes.core.errors import InputError
from headtypes.core.files import read_json_lines, write_json, write_json_lines
from headtypes.core.table_files import write_csv, write_parquet
from headtypes.data.fetching import fetch_task
from headtypes.data.kinds.question_answering.windows import build_windows
from headtypes.data.kinds.registry import read_rows
from headtypes.data.records import Sample, read_records, write_records
from headtypes.data.sampling import sample_questions
from headtypes.data.windows import read_windows, write_windows
from headtypes.models.architectures import check_model
from headtypes.models.fetching import fetch_model
from headtypes.models.loading import load_model
from headtypes.models.records import ModelRecord, read_model_record, write_model_record
from headtypes.papers.clark2019.example_files import Example, Examples, read_examples, write_examples
from headtypes.papers.clark2019.language.sentence_files import SentenceMap, read_sentence_maps, write_sentence_maps
from headtypes.papers.guan2020.published import read_guan2020
from headtypes.papers.guan2020.results import read_tables
from headtypes.papers.ledger.models import over_models, read_over_models
from headtypes.papers.ledger.table import read_ledger
from headtypes.planning.config.given_files import types_in
from headtypes.planning.provenance import beside, provenance_of, record, shards_of, verified
from tests.support.ledgers import made_ledger
from tests.support.models import tiny_bert
from tests.support.places import ROOT
from tests.support.records import PAIRS as OUR_PAIRS
from tests.support.records import questions
from tests.support.tiny import bert_tokenizer
from tests.workflow.conftest import squad_file

# Of each kind of file. Seconds after which one that is still read counts as a hang.
EXAMPLES, HANG = 60, 60
GIB = 2**30
EXAM = pd.DataFrame(
    {"question": ["Who sat?", "It was a"], "choices": [["it", "cat"], ["dog", "house"]], "answer": [1, 0]}
)
PAIRS = pd.DataFrame({"sentence1": ["the cat", "a dog"], "sentence2": ["sat", "ran"], "label": [0, 1]})
TEXTS = [{"id": name, "paragraphs": ["One cat.", "Two dögs.", "Three."]} for name in "abc"]
RESULT = "results/samples/a.jsonl"
IDS = [f"sample-{number}" for number in range(5)]


def features(path: Path) -> None:
    distance = np.random.default_rng(0).random((5, 2, 4, 69), dtype=np.float32)
    write_features(path, Features(distance, np.full(5, 9, np.int32), np.zeros(5, bool), IDS), {"rule": "x"})


def surface(path: Path) -> None:
    patterns = np.random.default_rng(0).random((5, 2, 4, len(COLUMNS)), dtype=np.float32)
    write_surface(path, Surface(patterns, np.ones((5, 2), np.float32), np.full(5, 9, np.int32), IDS), {"rule": "x"})


def outputs(path: Path) -> None:
    rng = np.random.default_rng(0)
    written = rng.random((5, 2, 4, len(OUTPUT_COLUMNS)), dtype=np.float32)
    write_outputs(path, Outputs(written, rng.random((5, 2, 3)), np.full(5, 9, np.int32), IDS), {"rule": "x"})


def divergence(path: Path) -> None:
    write_divergence(path, Divergence(np.random.default_rng(0).random((8, 8)), 45, 2, IDS), {"rule": "x"})


_DETECTOR_SCORES = pd.DataFrame(
    list(itertools.product(["first"], range(5), range(2), range(4))), columns=["detector", "sequence", "layer", "head"]
).assign(score=0.5, null=0.1)


def detector_scores(path: Path) -> None:
    write_parquet(path, _DETECTOR_SCORES)


def projection(path: Path) -> None:
    layer, head = np.indices((2, 4)).reshape(2, -1)
    write_csv(path, pd.DataFrame({"layer": layer, "head": head, "x": layer / 3, "y": head / 7}))


def projection_fit(path: Path) -> None:
    layers = {"within": 0.2, "between": 0.3, "difference": -0.1, "p": 0.01, "permutations": 2000}
    write_json(path, {"rows": 45, "scale": "plain", "stress": 0.2, "correlation": 0.9, "layers": layers})


def examples(path: Path) -> None:
    attention = np.random.default_rng(0).dirichlet(np.ones(3), (2, 3)).astype(np.float32)
    some = [Example("next", 0, 1, 0.6, attention[0]), Example("sep", 1, 0, 0.2, attention[1])]
    write_examples(path, Examples(some, ["it", ".", "[SEP]"], False, "a"), {"rule": "x"})


def sentence_maps(path: Path) -> None:
    attention = np.random.default_rng(0).dirichlet(np.ones(3), 3).astype(np.float32)
    one = SentenceMap("det", 0, 1, "dependent_to_head", 50.0, ["[CLS]", "it", "[SEP]"], [1], attention)
    write_sentence_maps(path, [one, one], {"rule": "x"})


def windows(path: Path) -> None:
    write_windows(
        path, build_windows(questions(), bert_tokenizer(), max_seq_length=64, doc_stride=16, max_query_length=20), {}
    )


def partition(path: Path) -> None:
    types = np.array(["dense", "vertical"] * 4, dtype=object)
    shares = np.random.default_rng(0).dirichlet(np.ones(21), 8)
    columns = {"cluster": np.arange(8) % 2, "types": types, "silhouette": np.linspace(-1, 1, 8), "doubtful": False}
    write_partition(path, build_partition(shares, (2, 4), **columns))


def imported(path: Path) -> None:
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([["layer", "head", "type"], *([n // 4, n % 4, "ab"[n % 2]] for n in range(8))])


def maps(path: Path) -> None:
    write_maps(path, AttentionMaps(np.full((2, 4, 3, 3), 1 / 3), ["a", "b", "c"], "s", False), {"rule": "x"})


def sample_maps(path: Path) -> None:
    samples = [AttentionMaps(np.full((2, 4, 3, 3), 1 / 3), ["a", "b", "c"], name, False) for name in "st"]
    write_sample_maps(path, samples, {"rule": "x"})


def scores(path: Path) -> None:
    table = {"id": IDS, "article": ["a"] * 5, "exact_match": np.zeros(5), "f1": np.linspace(0, 100, 5)}
    write_scores(path, pd.DataFrame(table), {"rule": "x"})


def part(path: Path) -> None:
    write_scores(path, pd.DataFrame({"window": range(5), "score": 1.0, "start": 1, "end": 2}), {"rule": "x"})


def table(*columns: str) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        values = {name: [f"{name}{n}" for n in range(3)] if "method" in name else [2, 3, 4] for name in columns}
        write_csv(path, pd.DataFrame(values))

    return write


def gradients(path: Path) -> None:
    write_csv(path, Gradients(np.full((2, 4, len(ATTENDED)), 0.5), "masked_words", 5).table())


def importance(path: Path) -> None:
    layer, head = np.indices((2, 4)).reshape(2, -1)
    write_csv(path, pd.DataFrame({"layer": layer, "head": head, "importance": 1.5, "normalised": 0.25}))


def compared_types(path: Path) -> None:
    row = {"analysis": "importance", "task": "qa", "quantity": "normalised", "statistic": "mean", "doubtful": False}
    row |= {"heads": 3, "overlap": 0.2, "value": 1.5, "p": 0.25, "draws": 1000, "profile_draws": 1000}
    write_csv(
        path, pd.DataFrame([row | {"type": name} for name in "ab"], columns=list(COMPARED_TYPES)).astype(COMPARED_TYPES)
    )


def compared(path: Path) -> None:
    row = {"model": "b on qa", "other": "a on qa", "same_shares": 92.5, "same_layers": 83.25, "doubtful": "dense"}
    write_csv(path, pd.DataFrame([row, row | {"relation": "parent", "same_type": 50.0}], columns=list(PAIRED)))


def curves(path: Path) -> None:
    rows = {"type": ["dense"] * 3, "order": "random", "draw": 0, "heads": [0, 1, 2], "f1": [80.0, 60.5, 10.0]}
    write_csv(path, pd.DataFrame(rows))


def from_file(task: str, kind: str) -> Callable[[Path], object]:
    columns = {
        "sentence_pair": {"first": "sentence1", "second": "sentence2", "label": "label"},
        "multiple_choice": {"question": "question", "choices": "choices", "answer": "answer"},
    }.get(kind)
    return lambda path: fetch_task(task, kind, {"file": str(path)}, columns)


def model_record(path: Path) -> None:
    about = {
        "name": "bert",
        "folder": str(path.parent),
        "weights": {},
        "files": {},
        "model_type": "bert",
        "architectures": None,
    }
    shape = {"parameters": 9, "layers": 2, "heads": 4, "width": 8, "max_length": 64}
    write_model_record(path, ModelRecord(**about, pickle=False, **shape))


def record_beside(path: Path) -> None:
    os.chdir(path.parent)
    write_json_lines(RESULT, [{"id": "a"}])
    made = provenance_of("sample_inputs", {"task": "a"}, {}, "abc", [])
    record(made, {}, [RESULT], threads=1)
    shutil.copy(beside(RESULT), path)


def read_record(path: Path) -> object:
    shutil.copy(path, beside(RESULT))
    return verified([RESULT]), provenance_of("x", {}, {}, "abc", [RESULT]), shards_of(RESULT)


# How each kind of file is written, and how it is read.
KINDS: dict[str, tuple[Callable[[Path], object], Callable[[Path], object]]] = {
    "samples.jsonl": (
        lambda path: write_records(path, [Sample(id_, "a", None) for id_ in IDS]),
        lambda path: read_records(path, Sample),
    ),
    "questions.jsonl": (
        lambda path: write_records(path, questions()),
        lambda path: read_rows(path, "question_answering"),
    ),
    "rows.jsonl": (
        lambda path: write_json_lines(path, [asdict(pair) for pair in OUR_PAIRS]),
        lambda path: sample_questions(read_json_lines(path), questions="all", seed=None),
    ),
    "squad.json": (squad_file, from_file("animals", "question_answering")),
    "pairs.tsv": (lambda path: PAIRS.to_csv(path, sep="\t", index=False), from_file("pairs", "sentence_pair")),
    "pairs.csv": (lambda path: PAIRS.to_csv(path, index=False), from_file("pairs", "sentence_pair")),
    "pairs.jsonl": (
        lambda path: PAIRS.to_json(path, orient="records", lines=True),
        from_file("pairs", "sentence_pair"),
    ),
    "pairs.parquet": (lambda path: PAIRS.to_parquet(path), from_file("pairs", "sentence_pair")),
    "exam.jsonl": (
        lambda path: EXAM.to_json(path, orient="records", lines=True),
        from_file("exam", "multiple_choice"),
    ),
    "exam.parquet": (lambda path: EXAM.to_parquet(path), from_file("exam", "multiple_choice")),
    "articles.json": (squad_file, from_file("read", "text")),
    "texts.txt": (
        lambda path: path.write_text("One cat.\n\nTwo.\n\fThree.\n\nFour dogs.\n"),
        from_file("read", "text"),
    ),
    "texts.jsonl": (lambda path: write_json_lines(path, TEXTS), from_file("read", "text")),
    "documents.jsonl": (lambda path: write_json_lines(path, TEXTS), lambda path: read_rows(path, "text")),
    "partition.csv": (partition, read_partition),
    "imported.csv": (imported, lambda path: import_partition(path, np.full((8, 21), 1 / 21), (2, 4))),
    "types.csv": (imported, lambda path: types_in("partitions.mine.file", str(path))),
    "features.h5": (features, read_features),
    "distance.h5": (features, lambda path: read_distance(path, 16)),
    "shard.h5": (features, lambda path: merge_features(path.with_name("merged.h5"), IDS, [path], {})),
    "surface.h5": (surface, read_surface),
    "outputs.h5": (outputs, read_outputs),
    "outputs.csv": (table(*OUTPUT_HEADS), read_heads),
    "outputs.layers.csv": (table(*OUTPUT_LAYERS), read_layers),
    "norms.csv": (table("layer", "head", *SHARES, *BY_NORMS.values()), read_shares),
    "divergence.h5": (divergence, read_divergence),
    "divergence_shard.h5": (
        divergence,
        lambda path: merge_divergences(path.with_name("merged.h5"), IDS, [path], {}),
    ),
    "detectors.parquet": (detector_scores, read_detector_scores),
    "detectors.csv": (
        lambda path: write_csv(path, detector_table(_DETECTOR_SCORES, least=0.1, seed=1)),
        read_detector_table,
    ),
    "projection.csv": (projection, read_projection),
    "projection.json": (projection_fit, read_projection_fit),
    "windows.h5": (windows, read_windows),
    "maps.h5": (maps, read_maps),
    "samples.h5": (sample_maps, read_sample_maps),
    "examples.h5": (examples, read_examples),
    "sentences.h5": (sentence_maps, read_sentence_maps),
    "head_outputs.h5": (lambda path: write_head_outputs(path, np.ones((2, 4, 3), np.float32), {}), read_head_outputs),
    "scores.parquet": (scores, lambda path: read_scores([path])),
    "part.parquet": (part, lambda path: read_parts([path])),
    "gradients.csv": (gradients, read_gradients),
    "importance.csv": (importance, read_importance),
    "compared_types.csv": (compared_types, read_compared_types),
    "compared.csv": (compared, read_pairs),
    "ledger.csv": (lambda path: write_csv(path, made_ledger(path.parent)), read_ledger),
    "ledger.claims.csv": (lambda path: write_csv(path, over_models(made_ledger(path.parent))), read_over_models),
    "curves.csv": (curves, read_curves),
    "intervals.csv": (table("condition", "f1", "f1_low"), read_intervals),
    "table2.csv": (table("model", "partition", "f1"), lambda path: read_tables([path])),
    "record.json": (model_record, read_model_record),
    "provenance.json": (record_beside, read_record),
    "guan.yaml": (lambda path: shutil.copy(ROOT / "reference/guan2020.yaml", path), read_guan2020),
}


def damages(content: bytes, seed: int) -> list[bytes]:
    """A file cut off at some place, or with some bytes that are others, drawn from a seed."""
    rng, found = np.random.default_rng(seed), [b""]
    for number in range(EXAMPLES - 1):
        if number % 3 == 0:
            found.append(content[: rng.integers(len(content))])
            continue
        wrong = bytearray(content)
        for place in rng.integers(len(content), size=rng.integers(1, 5)):
            wrong[place] ^= 1 << rng.integers(8) if number % 3 == 1 else rng.integers(1, 256)
        found.append(bytes(wrong))
    return found


def read_all(path: Path, contents: list[bytes], read: Callable[[], object], named: str) -> list[str]:
    """Read each, and say what came of it that is neither data nor a sentence that names the file.

    In a fork: a library that is not written in Python may end the process, or never return.
    """
    told, process = path.with_suffix(".told"), os.fork()
    if not process:
        limit = min(16 * GIB, *(limit for limit in resource.getrlimit(resource.RLIMIT_AS) if limit > 0), 16 * GIB)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        wrong = []
        for number, content in enumerate(contents):
            told.write_bytes(pickle.dumps([*wrong, f"example {number} ended the process"]))
            path.write_bytes(content)
            try:
                read()
            except InputError as error:
                if named not in str(error):
                    wrong.append(f"example {number} is not named: {error}")
                if len(str(error).splitlines()) != 1:
                    wrong.append(f"example {number} takes several lines: {error}")
            except BaseException as error:
                wrong.append(f"example {number}: {error!r}")
        told.write_bytes(pickle.dumps(wrong))
        os._exit(0)
    end = time.monotonic() + HANG
    while os.waitpid(process, os.WNOHANG) == (0, 0):
        if time.monotonic() > end:
            os.kill(process, 9)
            os.waitpid(process, 0)
            break
        time.sleep(0.01)
    return pickle.loads(told.read_bytes())


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_refused_or_read(kind: str, tmp_path: Path):
    write, read = KINDS[kind]
    path = tmp_path / kind
    write(path)
    content = path.read_bytes()
    read(path)
    # What is read beside a result names itself.
    named = "provenance" if kind == "provenance.json" else kind
    assert read_all(path, damages(content, seed=len(content)), lambda: read(path), named) == []


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors"])
def test_a_damaged_model_is_refused_or_read(name: str, tmp_path: Path):
    folder = tmp_path / "model"
    for part in tiny_bert(layers=1, heads=2, head_size=3):
        part.save_pretrained(folder)
    path = folder / name
    content = path.read_bytes()

    def read() -> None:
        record = fetch_model("tiny", {"folder": str(folder)})
        check_model(record)
        write_model_record(tmp_path / "record.json", record)
        load_model(record, "float32")

    read()
    assert read_all(path, damages(content, seed=1)[:20], read, str(folder)) == []
