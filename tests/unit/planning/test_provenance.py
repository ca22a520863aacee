"""What stands beside a result: enough to tell later what made it, and nothing of the machine that made it."""

import json
import os

import h5py
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from headtypes.analyses.ablation.evaluation import write_scores
from headtypes.analyses.distances.features import Features
from headtypes.core.errors import InputError
from headtypes.core.files import canonical_json, sha256_path, write_json, write_text
from headtypes.core.hdf5_files import write_arrays
from headtypes.core.style import save_figure
from headtypes.core.tables import to_html
from headtypes.planning import provenance
from headtypes.planning.provenance import (
    beside,
    contents_of,
    provenance_of,
    record,
    recorded,
    results_folder,
    state_of,
    verified,
)

MODEL = "results/sources/models/bert.json"
FEATURES = "results/features/bert/squad.h5"
TABLE = "results/guan2020/table1.csv"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def job(rule, inputs, outputs, **values):
    made = provenance_of(rule, {"model": "bert"}, {"seed": 3, **values}, "abc", inputs)
    for path in outputs:
        write_text(path, path)
    record(made, verified(inputs), outputs, threads=2)
    return made


def fetched(path=MODEL):
    write_json(path, {"hub": "some/bert", "revision": "f00", "folder": "/home/ada/cache", "weights": {"a": "1"}})
    record(provenance_of("fetch_model", {"model": "bert"}, {}, "abc", []), {}, [path], threads=1)


def test_a_record_says_what_made_the_result_and_from_what():
    write_text("outside.csv", "x")
    job("extract_features", ["outside.csv"], [FEATURES], windows=16)
    found = recorded(FEATURES)
    assert (found["rule"], found["wildcards"]) == ("extract_features", {"model": "bert"})
    assert (found["spec"], found["code"], found["threads"]) == ({"seed": 3, "windows": 16}, "abc", 2)
    assert found["inputs"] == {"outside.csv": sha256_path("outside.csv")}
    assert found["sha256"] == sha256_path(FEATURES)
    assert found["packages"]["numpy"] == np.__version__
    assert set(found["packages"]) >= {"torch", "transformers", "scikit-learn", "h5py"}
    assert {"headtypes.planning.provenance", "headtypes.core.files"} <= set(found["modules"])


def test_models_and_data_as_resolved_are_handed_on_to_what_comes_from_them_and_nothing_of_this_machine(folder):
    fetched()
    made = job("extract_features", [MODEL], [FEATURES])
    job("tabulate", [FEATURES], [TABLE])
    identity = {"models/bert": {"hub": "some/bert", "revision": "f00", "weights": {"a": "1"}}}
    assert recorded(MODEL)["sources"] == recorded(FEATURES)["sources"] == recorded(TABLE)["sources"] == identity
    assert not any(path in canonical_json(made) for path in (str(folder), "/home"))


def test_the_commit_is_that_of_the_code_and_not_of_the_working_directory():
    """The working directory is not a repository here."""
    assert len(provenance_of("a", {}, {}, "abc", [])["git"].removesuffix("-dirty")) == 40


@pytest.mark.parametrize("folder", ["results", "heads/results", "results/heads/results", "/scratch/results/a/results"])
def test_results_may_lie_under_a_prefix(folder):
    path = f"{folder}/features/bert/squad.h5"
    assert results_folder(path).as_posix() == folder
    assert beside(path).as_posix() == f"{folder}/provenance/features/bert/squad.h5.json"


def test_a_file_of_the_users_is_no_result_whatever_the_name_of_its_folder(folder):
    """Not even where it has a record: it may be a result of another workflow."""
    path = str(folder / "results/partitions/bert/mine.csv")
    job("cluster_heads", [], [path])
    write_text(path, "changed")
    assert results_folder("data/squad.json") is None
    assert verified([path]) == {path: sha256_path(path)}
    made = provenance_of("import_partition", {}, {}, "abc", [path])
    assert made["sources"] == {}


def test_files_of_the_users_are_known_by_what_they_hold(folder, monkeypatch):
    def replaced(text, times):
        write_text("mine.json", text)
        os.utime("mine.json", ns=times)
        return contents_of(["mine.json", "gone.json"], "results/samples/mine.jsonl")

    before = replaced("one", (5, 5))
    made = provenance_of("fetch_task", {}, {}, "abc", [])
    write_text("results/samples/mine.jsonl", "made")
    record(made, verified(["mine.json"]), ["results/samples/mine.jsonl"], 1, state_of(["mine.json"]))
    assert before == {"mine.json": sha256_path("mine.json")}
    assert replaced("two", (4, 4)) == {"mine.json": sha256_path("mine.json")} != before
    assert replaced("one", (9, 9)) == before
    assert replaced("two", (5, 5)) != before, "another file of the same size and time, as archives give it, is seen"
    record(made, verified(["mine.json"]), ["results/samples/mine.jsonl"], 1, state_of(["mine.json"]))
    unchanged = {"mine.json": sha256_path("mine.json")}
    monkeypatch.setattr(provenance, "sha256_path", lambda path: 1 / 0)
    found = contents_of(["mine.json"], "results/samples/mine.jsonl")
    assert found == unchanged, "a file of the recorded size and times is not read again"


def test_a_folder_is_recorded_by_what_is_in_it(folder):
    for name in ("config.json", "sub/model.safetensors"):
        write_text(f"results/models/bert/{name}", name)
    before = sha256_path("results/models/bert")
    (folder / "results/models/bert/config.json").touch()
    (folder / "results/models/bert/.snakemake_timestamp").touch()
    assert sha256_path("results/models/bert") == before
    (folder / "results/models/bert/sub/model.safetensors").rename(folder / "results/models/bert/sub/other")
    assert sha256_path("results/models/bert") != before


def written(kind, made) -> str:
    path, figure = f"results/a.{kind}", Figure()
    if kind == "h5":
        features = Features(np.zeros((1, 1, 1, 69), np.float32), np.ones(1, np.int32), np.zeros(1, bool), ["s"])
        write_arrays(path, features, made)
        with h5py.File(path) as file:
            return file.attrs["provenance"]
    if kind == "parquet":
        write_scores(path, pd.DataFrame({"id": ["q"], "f1": [50.0]}), made)
        return canonical_json(pd.read_parquet(path).attrs["provenance"])
    if kind == "html":
        _, _, text = to_html("# Title", made).partition('name="provenance" content="')
        return text.partition('">')[0].replace("&quot;", '"')
    save_figure(figure, "results/a.pdf", "results/a.png", made)
    with open(path, "rb") as file:
        content = file.read().decode("latin-1")
    start = content.index('{"code"')
    return json.JSONDecoder().raw_decode(content[start:].replace("\\(", "(").replace("\\)", ")"))[0]


@pytest.mark.parametrize("kind", ["h5", "parquet", "html", "png", "pdf"])
def test_a_result_holds_what_made_it_where_its_format_can(kind):
    made = provenance_of("plot_heads", {"model": "bert"}, {"seed": 3}, "abc", [])
    found = written(kind, made)
    assert (json.loads(found) if isinstance(found, str) else found) == made


@pytest.mark.parametrize("content", ["", "x", FEATURES.upper()])
def test_a_result_that_is_not_what_was_recorded_is_refused(content):
    job("extract_features", [], [FEATURES])
    assert verified([FEATURES]) == {FEATURES: sha256_path(FEATURES)}
    write_text(FEATURES, content)
    with pytest.raises(InputError, match=f"{FEATURES} was damaged or changed since .* delete {FEATURES} and run again"):
        verified([FEATURES])
    beside(FEATURES).unlink()
    assert verified([FEATURES]) == {FEATURES: sha256_path(FEATURES)}
