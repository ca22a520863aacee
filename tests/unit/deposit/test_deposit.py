"""A deposit: what may be given away is in it and described, and nothing else is in it."""

import csv
import filecmp
import json
import os
import re
import signal
import subprocess
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import unquote

import pandas as pd
import pytest
import yaml

from commands.ro_crate import write_crate
from headtypes.core.errors import InputError
from headtypes.core.files import sha256_file
from headtypes.deposit.card import Author, card
from headtypes.deposit.citation import author_of
from headtypes.deposit.contents import UNDECIDED, declared
from headtypes.deposit.parts import check_complete, config_text, paths_of_machine
from headtypes.deposit.study import collect
from headtypes.deposit.writing import SUMS, write_folder
from headtypes.planning.config.schema import read_config
from headtypes.planning.provenance import beside, recorded
from headtypes.planning.tools.audit import audit
from headtypes.planning.tools.history import given
from tests.support.deposits import HUB, PLACE, TEXT, WEIGHTS, planted_config, planted_jobs
from tests.support.places import ROOT
from tests.support.warm import python

ABOUT = {"authors": [Author("Doe, Jane", "https://orcid.org/0000-0002-1825-0097"), Author("A Group")]}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A working directory with the planted results, their jobs, and a deposit of them."""
    folder = tmp_path_factory.mktemp("deposit")
    before = Path.cwd()
    os.chdir(folder)
    try:
        jobs = planted_jobs()
        found = collected(jobs)
        write(found, folder / "deposit")
        yield jobs, found, folder / "deposit"
    finally:
        os.chdir(before)


@pytest.fixture
def jobs(place):
    return place[0]


@pytest.fixture
def found(place):
    """The study and the parts."""
    return place[1]


@pytest.fixture
def folder(place):
    return place[2]


def collected(jobs):
    return collect(jobs, planted_config(), ROOT, configfile="config.yaml", license="CC-BY-4.0", **ABOUT)


def write(found, output: Path, describe: Callable | None = None) -> None:
    study, parts = found
    write_folder(output, parts, describe or partial(write_crate, study=study, parts=parts))


def files_of(folder: Path) -> dict[str, Path]:
    return {file.relative_to(folder).as_posix(): file for file in folder.rglob("*") if file.is_file()}


def entities(folder: Path) -> dict[str, dict]:
    return {it["@id"]: it for it in json.loads((folder / "ro-crate-metadata.json").read_text())["@graph"]}


def test_results_of_a_rule_that_nobody_has_decided_about_are_left_out():
    assert declared("measure_what_is_new", "results/new/bert/qa.csv").withheld == UNDECIDED
    assert declared("evaluate_condition", "results/new/bert/qa.csv").withheld == UNDECIDED
    assert declared("measure_surface", "results/surface/bert/qa.h5").withheld == ""
    assert declared("measure_relations", "other/results/relations/bert/ud.best.csv").withheld == ""


def test_no_word_of_a_corpus_and_no_weights_are_in_any_byte(jobs, found, folder):
    """Where they are planted, they are found: the search is good for every format."""
    planted = [path for job in jobs for path in job.outputs if Path(path).is_file() and holds(Path(path), TEXT)]
    assert len(planted) == 9
    assert all(declared(job.stage, path).withheld for job in jobs for path in job.outputs if path in planted)
    assert not [path for path, file in files_of(folder).items() if holds(file, TEXT) or holds(file, WEIGHTS)]
    assert not [path for path in files_of(folder) if path.endswith((".jsonl", "predictions.json", "heads.png"))]


def holds(file: Path, text: str) -> bool:
    return text.encode() in file.read_bytes()


def test_what_is_left_out_is_listed_with_why_and_with_its_hash(jobs, folder):
    left_out = {row["path"]: row for row in csv.DictReader((folder / "left_out.csv").open(encoding="utf-8"))}
    assert left_out["results/models/minilm-qa"]["why"] == "the weights of a model"
    assert left_out["results/questions/qa.jsonl"]["why"] == "text of a corpus"
    results = {path for job in jobs for path in job.outputs}
    there = files_of(folder).keys()
    assert results == left_out.keys() | (results & there)
    assert all(row["sha256"] == recorded(path)["sha256"] for path, row in left_out.items())
    assert "pictures of a corpus's words (4 files), text of a corpus" in (folder / "README.md").read_text()
    assert "left_out.csv" in entities(folder)["./"]["description"]


def test_the_crate_lists_every_file_with_its_size_and_hash(folder):
    listed = {unquote(id_): it for id_, it in entities(folder).items() if "File" in it["@type"]}
    there = files_of(folder)
    assert listed.keys() == there.keys() - {SUMS, "ro-crate-metadata.json"}
    assert len(listed) > 300
    for path, entity in listed.items():
        assert int(entity["contentSize"]) == there[path].stat().st_size
        assert entity["sha256"] == sha256_file(there[path])
        assert entity["description"]
    root = entities(folder)["./"]
    assert {unquote(part["@id"]) for part in root["hasPart"]} == listed.keys()


def test_whatever_the_crate_refers_to_is_in_it(folder):
    graph = entities(folder)

    def references(value):
        for it in value if isinstance(value, list) else [value]:
            if isinstance(it, dict):
                yield it["@id"]

    for entity in graph.values():
        for key, value in entity.items():
            # What RO-Crate itself defines.
            if key != "conformsTo" and entity["@type"] != "ComputerLanguage":
                assert set(references(value)) <= graph.keys(), (entity["@id"], key)


def test_the_crate_says_what_ran_on_what_and_by_whom(jobs, folder):
    graph = entities(folder)
    run, workflow = graph["#run"], graph["workflow/Snakefile"]
    assert graph["./"]["mainEntity"] == run["instrument"] == {"@id": workflow["@id"]}
    assert workflow["programmingLanguage"]["@id"].endswith("#snakemake")
    assert workflow["version"] == recorded(jobs[0].outputs[0])["git"]
    inputs = {it["@id"] for it in run["object"]}
    data, model = (f"https://huggingface.co/{at}/tree/" for at in ("datasets/some/questions", "some/bert"))
    assert inputs == {f"{data}{HUB['revision']}", f"{model}{'cd' * 20}", "#models/minilm-qa", "workflow/config.yaml"}
    assert graph[f"{model}{'cd' * 20}"]["version"] == "cd" * 20
    assert "fine-tuned here from bert on qa" in graph["#models/minilm-qa"]["description"]
    assert [graph[it["@id"]]["name"] for it in run["agent"]] == ["Doe, Jane", "A Group"]
    last = max(int(beside(path).stat().st_mtime) for job in jobs for path in job.outputs)
    assert pd.Timestamp(run["endTime"]) == pd.Timestamp(last, unit="s", tz="UTC")
    table = graph["results/guan2020/table2.csv"]
    assert table["subjectOf"] == {"@id": "results/provenance/guan2020/table2.csv.json"}
    assert {"@id": table["@id"]} in run["result"]
    assert graph["./"]["license"] == {"@id": "https://spdx.org/licenses/CC-BY-4.0"}


def test_the_crate_is_valid(folder, monkeypatch):
    validator = pytest.importorskip("rocrate_validator.services", reason="roc-validator is not installed")
    from rocrate import vocabs
    from rocrate_validator.models import Severity, ValidationSettings
    from rocrate_validator.utils.http import HttpRequester

    # The terms of RO-Crate 1.1, which are on the network alone, are those that `rocrate` has of 1.3 but for these.
    workflow = "https://bioschemas.org/ComputationalWorkflow"
    terms = {**vocabs.RO_CRATE["@context"], "ComputationalWorkflow": workflow}
    terms |= {key: f"{workflow}#{key}" for key in ("input", "output")}
    terms["FormalParameter"] = "https://bioschemas.org/FormalParameter"

    class Answer:
        status_code, headers, text = 200, {"Content-Type": "application/ld+json"}, json.dumps({"@context": terms})

        def json(self):
            return {"@context": terms}

    def answer(self, url, **settings):
        assert url == "https://w3id.org/ro/crate/1.1/context"
        return Answer()

    monkeypatch.setattr(HttpRequester, "get", answer, raising=False)
    settings = ValidationSettings(
        rocrate_uri=str(folder),
        profile_identifier="workflow-run-crate-0.5",
        requirement_severity=Severity.REQUIRED,
        skip_availability_check=True,
    )
    assert [issue.message for issue in validator.validate(settings).get_issues()] == []


def test_the_card_says_what_was_found_by_what_and_what_must_not_be_concluded(folder):
    text = (folder / "README.md").read_text()
    assert text.startswith("# The attention heads of 2 models\n\nDoe, Jane; A Group. ")
    assert "Licence of the results: CC-BY-4.0." in text
    assert "- Not told from as many random heads: without its 15 dense_vertical heads minilm-qa loses 37.0" in text
    (row,) = [line for line in text.splitlines() if line.startswith("| Guan et al. | minilm-qa |")]
    assert row == "| Guan et al. | minilm-qa | qa-kmeans-k4 | 7 (6) | 8 | 3 (4) | 11 |"
    assert "| holds | Clustering is stable with three clusters, too. |" in text
    assert (
        f"| data qa | some/questions of the Hugging Face Hub, split validation at revision {HUB['revision']} |" in text
    )
    must_not = text.partition("## What must not be concluded\n")[2].partition("\n## ")[0]
    assert "None of the models is one that the papers report." in must_not
    assert "minilm-qa, qa-kmeans-k4: dense_vertical" in must_not
    assert "minilm-qa was fine-tuned once, with one seed." in must_not
    assert "P-values beside random heads are corrected for the conditions of one table" in must_not
    assert "generated" not in must_not


def test_names_from_data_are_no_markup(jobs):
    study, _ = collect(
        jobs, planted_config(), ROOT, configfile="config.yaml", title="T", license="CC-BY-4.0", authors=[Author("A")]
    )
    study.summary.findings[:] = ["a <b>, p < 0.05 | *c*"]
    assert r"- a &lt;b>, p < 0.05 | \*c\*" in card(study)


def test_the_workflow_is_in_it_with_the_configuration_of_the_experiment(folder):
    config = read_config(yaml.safe_load((folder / "workflow/config.yaml").read_text()))
    assert given(config) == given(planted_config())
    assert config_text(config) == (folder / "workflow/config.yaml").read_text()
    for name in (
        "Snakefile",
        "rules/common.smk",
        "workflow_scripts/cluster_heads.py",
        "envs/requirements.txt",
        "LICENSE",
    ):
        assert filecmp.cmp(folder / "workflow" / name, ROOT / name, shallow=False)
    assert not [path for path in files_of(folder) if "__pycache__" in path]


def test_the_deposit_is_cited_by_its_authors(folder):
    cited = yaml.safe_load((folder / "CITATION.cff").read_text())
    person, group = cited["authors"]
    assert person == {"family-names": "Doe", "given-names": "Jane", "orcid": "https://orcid.org/0000-0002-1825-0097"}
    assert group == {"name": "A Group"}
    assert (cited["type"], cited["license"]) == ("dataset", "CC-BY-4.0")


@pytest.mark.parametrize(
    ("text", "author"),
    [
        ("Doe, Jane (0000-0002-1825-0097)", ABOUT["authors"][0]),
        ("Doe, Jane (https://orcid.org/0000-0002-1825-0097)", ABOUT["authors"][0]),
        ("Doe, Jane (orcid.org/0000-0002-1825-0097/)", ABOUT["authors"][0]),
        ("Doe, Jane (0000-0002-1694-233x)", Author("Doe, Jane", "https://orcid.org/0000-0002-1694-233X")),
        ("Doe, Jane (0000-0002-1694-233X)", Author("Doe, Jane", "https://orcid.org/0000-0002-1694-233X")),
        (" A Group ", ABOUT["authors"][1]),
    ],
)
def test_an_author_is_a_name_with_an_orcid_or_without(text, author):
    assert author_of(text) == author


@pytest.mark.parametrize(
    "text",
    [
        "Doe, Jane (0000-0002-1825-009)",
        "Doe, Jane (0000-0002-1825-0098)",
        "Doe, Jane (0000-0002-1825-0097",
        "Doe, Jane (a university)",
        "(0000-0002-1825-0097)",
        "Doe, Jane 0000-0002-1825-0097",
    ],
)
def test_what_is_no_orcid_does_not_become_part_of_the_name(text):
    with pytest.raises(InputError, match=re.escape(f"--author: {text} is not a name with an ORCID in parentheses")):
        author_of(text)


def test_a_mistake_in_the_command_is_told_in_one_line():
    command = [python(), str(ROOT / "commands/deposit.py"), "--author", "Doe (nobody)", "--license", "CC-BY-4.0"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 1
    assert run.stderr.splitlines()[-1].startswith("--author: Doe (nobody) is not a name")


@pytest.mark.parametrize("name", ["results/guan2020/table2.csv", "README.md", "ro-crate-metadata.json"])
def test_a_changed_file_is_found_by_sha256sum(folder, name):
    check = ["sha256sum", "--check", "--quiet", "--strict", SUMS]
    assert subprocess.run(check, cwd=folder).returncode == 0
    assert len((folder / SUMS).read_text().splitlines()) == len(files_of(folder)) - 1
    before = (folder / name).read_bytes()
    (folder / name).write_bytes(before[:-1] + bytes([before[-1] ^ 1]))
    try:
        run = subprocess.run(check, cwd=folder, capture_output=True, text=True)
    finally:
        (folder / name).write_bytes(before)
    assert run.returncode == 1
    assert run.stdout == f"{name}: FAILED\n"


def test_the_same_results_give_the_same_bytes(found, folder, tmp_path):
    write(found, tmp_path / "again")
    first, again = files_of(folder), files_of(tmp_path / "again")
    assert first.keys() == again.keys()
    assert not [path for path in first if first[path].read_bytes() != again[path].read_bytes()]


def test_a_result_that_changes_meanwhile_is_told_and_leaves_nothing(found, tmp_path):
    study, parts = found
    table = Path("results/guan2020/table2.csv")
    before = table.read_bytes()
    table.write_bytes(before + b"\n")
    try:
        with pytest.raises(InputError, match=r"table2\.csv changed while it was copied"):
            write_folder(tmp_path / "new", parts, partial(write_crate, study=study, parts=parts))
    finally:
        table.write_bytes(before)
    assert list(tmp_path.iterdir()) == []


def test_a_killed_deposit_looks_unfinished_and_the_next_one_clears_it_away(found, tmp_path):
    child = os.fork()
    if child == 0:
        write(found, tmp_path / "deposit", lambda folder, sums: os.kill(os.getpid(), signal.SIGKILL))
    os.waitpid(child, 0)
    (left,) = tmp_path.iterdir()
    assert left.name == f".deposit.{child}.unfinished"
    assert not list(left.glob("ro-crate-metadata.json")) + list(left.glob(SUMS))
    write(found, tmp_path / "deposit")
    assert [path.name for path in tmp_path.iterdir()] == ["deposit"]


def test_a_deposit_that_is_being_written_is_left_alone(found, tmp_path):
    other = tmp_path / f".deposit.{os.getppid()}.unfinished"
    other.mkdir()
    write(found, tmp_path / "deposit")
    assert other.is_dir()


def test_an_empty_folder_is_filled_and_another_one_is_not_touched(found, folder, tmp_path):
    (tmp_path / "empty").mkdir()
    write(found, tmp_path / "empty")
    assert (tmp_path / "empty" / SUMS).is_file()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"mine is not empty; name another folder with --output"):
        write(found, tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes.txt"]


def test_results_that_are_missing_or_of_another_configuration_are_refused(jobs):
    assert check_complete(jobs, audit(jobs)) == []
    table = Path("results/guan2020/table1.csv")
    table.rename("table1.csv")
    try:
        with pytest.raises(
            InputError, match=r"1 are missing and 1 are stale, so nothing was written\. The first is .*table1"
        ):
            check_complete(jobs, audit(jobs))
    finally:
        Path("table1.csv").rename(table)
    Path("results/mine.txt").write_text("mine")
    try:
        assert check_complete(jobs, audit(jobs)) == ["results/mine.txt"]
    finally:
        Path("results/mine.txt").unlink()


def test_a_part_of_an_experiment_is_refused(jobs):
    with pytest.raises(InputError, match="leave out the targets"):
        collected([job for job in jobs if job.stage != "write_summary"])


def test_paths_of_the_machine_are_named(found):
    found = dict(paths_of_machine(found[1]))
    assert found == {f"results/sources/models/{name}.json": PLACE for name in ("bert", "minilm-qa")}


def test_a_link_in_results_of_others_brings_no_file_of_the_users_into_a_deposit(found, tmp_path):
    study, parts = found
    secret = tmp_path / "secret"
    secret.write_text("password")
    times = next(part for part in parts if part.path.startswith("results/") and part.sha256 is None)
    link = tmp_path / "link"
    link.symlink_to(secret)
    forged = [replace(part, source=link) if part is times else part for part in parts]
    with pytest.raises(InputError, match=f"{link} is a link to {secret}"):
        write((study, forged), tmp_path / "deposit")
    assert not (tmp_path / "deposit").exists()
