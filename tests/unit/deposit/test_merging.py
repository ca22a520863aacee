"""A deposit that is read back: as it was written or not at all, into a run that would compute the same."""

import json
import os
import shutil
import signal
import zipfile
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from commands.ro_crate import write_crate
from headtypes.core.errors import InputError
from headtypes.core.files import sha256_path, write_json
from headtypes.deposit import merging
from headtypes.deposit.card import PRIVATE, Author
from headtypes.deposit.merging import compare, write_merged
from headtypes.deposit.reading import METADATA, Deposit
from headtypes.deposit.study import collect
from headtypes.deposit.writing import SUMS, write_folder
from headtypes.planning.provenance import beside, recorded
from headtypes.planning.tools.audit import audit
from tests.support.deposits import TEXT, WEIGHTS, planted_config, planted_jobs
from tests.support.places import ROOT

TABLE, SOURCE, SUMMARY = "results/guan2020/table2.csv", "results/sources/models/bert.json", "results/index.html"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The jobs of a run, and two deposits of it: one to be given away, and a private one."""
    folder, before = tmp_path_factory.mktemp("made"), Path.cwd()
    os.chdir(folder)
    try:
        jobs = planted_jobs()
        about = {"configfile": "config.yaml", "license": "CC-BY-4.0", "authors": [Author("A Group")]}
        for name in ("public", "private"):
            study, parts = collect(jobs, planted_config(), ROOT, private=name == "private", **about)
            write_folder(folder / name, parts, partial(write_crate, study=study, parts=parts))
    finally:
        os.chdir(before)
    return jobs, folder


@pytest.fixture
def jobs(made):
    return made[0]


@pytest.fixture
def public(made):
    return made[1] / "public"


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """An empty working directory."""
    (tmp_path / "run").mkdir()
    monkeypatch.chdir(tmp_path / "run")
    return tmp_path


def merged(jobs, deposit):
    merge = compare(jobs, deposit)
    write_merged(merge, jobs, deposit)
    return merge


def rewritten(path: Path, folder: Path, name: str, text: str, truly: bool = False) -> Path:
    """A deposit in which a file is another one; truly: with sums and metadata that say so."""
    changed = folder / "changed"
    shutil.copytree(path, changed)
    of_file, of_metadata = sha256_path(changed / name), sha256_path(changed / METADATA)
    (changed / name).write_text(text)
    for said, before, file in [(METADATA, of_file, name), (SUMS, of_file, name), (SUMS, of_metadata, METADATA)] * truly:
        (changed / said).write_text((changed / said).read_text().replace(before, sha256_path(changed / file)))
    return changed


def test_everything_is_merged_with_the_bytes_that_were_computed_and_belongs_to_the_run(made, jobs, elsewhere):
    merge = merged(jobs, Deposit(made[1] / "private"))
    results = [path for job in jobs for path in job.outputs]
    assert set(merge.copied) == set(results) == set(merge.taken)
    assert (merge.joint, merge.absent, merge.strange) == ([], [], [])
    assert [path for path in results if sha256_path(path) != sha256_path(made[1] / path)] == []
    assert audit(jobs) == []
    assert WEIGHTS in Path("results/models/minilm-qa/model.safetensors").read_text()
    assert TEXT in Path("results/samples/qa.jsonl").read_text()
    again = merged(jobs, Deposit(made[1] / "private"))
    assert again.copied == []


def test_a_private_deposit_says_that_it_must_not_be_given_away(made):
    for name, said in (("private", True), ("public", False)):
        for file in ("README.md", METADATA):
            assert (PRIVATE in (made[1] / name / file).read_text()) == said


def test_what_a_deposit_leaves_out_is_absent_and_the_rest_is_merged(jobs, public, elsewhere):
    merge = merged(jobs, Deposit(public))
    assert {"results/samples/qa.jsonl", "results/models/minilm-qa"} <= set(merge.absent)
    assert {(it.path, it.state) for it in audit(jobs)} >= {(path, "missing") for path in merge.absent}
    assert not any(Path(path).exists() for path in merge.absent)


def test_an_archive_is_read_as_its_folder(made, jobs, public, elsewhere):
    archive = Path(shutil.make_archive(elsewhere / "packed", "zip", public.parent, public.name))
    deposit = Deposit(archive)
    assert (deposit.sums, deposit.records) == (Deposit(public).sums, Deposit(public).records)
    assert sorted(merged(jobs, deposit).copied) == sorted(
        merged(jobs, Deposit(public)).taken.keys() & deposit.sums.keys()
    )
    assert sha256_path(TABLE) == sha256_path(made[1] / TABLE)


def test_a_folder_that_is_a_result_is_whole(made, jobs, elsewhere):
    archive = Path(shutil.make_archive(elsewhere / "packed", "zip", made[1] / "private"))
    merged(jobs, Deposit(archive))
    assert sha256_path("results/models/minilm-qa") == recorded("results/models/minilm-qa")["sha256"]


@pytest.mark.parametrize("name", [TABLE, "workflow/config.yaml", METADATA, str(beside(TABLE))])
def test_a_changed_file_is_refused_by_its_name(public, tmp_path, name):
    with pytest.raises(InputError, match=f"{name} has changed since the deposit was made; copy the deposit again"):
        Deposit(rewritten(public, tmp_path, name, "changed"))


def test_a_file_that_is_missing_or_of_which_nothing_is_said_is_refused(public, tmp_path):
    deposit = tmp_path / "changed"
    shutil.copytree(public, deposit)
    (deposit / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match=r"mine\.txt is not in SHA256SUMS"):
        Deposit(deposit)
    (deposit / "mine.txt").unlink()
    (deposit / TABLE).unlink()
    with pytest.raises(InputError, match=r"table2\.csv is missing"):
        Deposit(deposit)


def test_a_result_that_its_record_does_not_describe_is_refused(public, tmp_path):
    with pytest.raises(InputError, match=r"the record of what made results/guan2020/table2\.csv is not that of"):
        Deposit(rewritten(public, tmp_path, TABLE, "changed", truly=True))


def test_what_is_no_deposit_is_told(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "text.zip").write_text("text")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("a.txt", "a")
    with pytest.raises(InputError, match=r"text\.zip is neither a folder nor a ZIP archive"):
        Deposit(tmp_path / "text.zip")
    for name in ("folder", "other.zip"):
        with pytest.raises(InputError, match=f"{name} is no deposit: it has no SHA256SUMS"):
            Deposit(tmp_path / name)


def changed(jobs, stage: str, **values):
    return [replace(job, **values) if job.stage == stage else job for job in jobs]


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        ({"spec": {"size": 2}}, r"The first is results/samples/qa\.jsonl: size: 2, now null\. Make the configurations"),
        ({"code": "0" * 64}, r"qa\.jsonl: its code has changed\. Merge with the code that made it \(commit \w+"),
        ({"rule": "other"}, r"made by other, not by sample_inputs"),
    ],
)
def test_another_definition_or_other_code_is_refused_and_nothing_is_written(jobs, public, elsewhere, other, sentence):
    deposit = Deposit(public)
    deposit.records["results/samples/qa.jsonl"] |= other
    with pytest.raises(InputError, match=sentence):
        compare(jobs, deposit)
    assert list(Path().iterdir()) == []


def test_other_bytes_here_are_refused_and_kept(jobs, public, elsewhere):
    merged(jobs, Deposit(public))
    Path(TABLE).write_text("mine")
    with pytest.raises(InputError, match=r"table2\.csv: here it has other bytes, though .* Nothing is overwritten"):
        compare(jobs, Deposit(public))
    assert Path(TABLE).read_text() == "mine"


def test_results_that_follow_from_other_data_here_are_refused_once(jobs, public, elsewhere):
    rows = Path("results/sources/tasks/qa.jsonl")
    rows.parent.mkdir(parents=True)
    rows.write_text("other rows")
    with pytest.raises(InputError, match=r"since 1 of \d+ results do not fit .*qa\.jsonl: the data are others there"):
        compare(jobs, Deposit(public))


def test_a_model_that_lies_in_another_folder_here_is_the_same_model(jobs, public, elsewhere):
    own = Deposit(public).json(SOURCE) | {"folder": "/elsewhere"}
    write_json(SOURCE, own)
    merge = merged(jobs, Deposit(public))
    assert json.loads(Path(SOURCE).read_text()) == own
    of_model = [path for path, record in merge.taken.items() if SOURCE in record["inputs"]]
    assert all(recorded(path)["inputs"][SOURCE] == sha256_path(SOURCE) for path in of_model if Path(path).exists())
    write_json(SOURCE, own | {"weights": {"model.safetensors": "00" * 32}})
    with pytest.raises(InputError, match=r"models/bert\.json: weights is .* there and .* here\. Use the same models"):
        compare(jobs, Deposit(public))


def test_a_table_over_more_models_is_made_again_and_what_follows_from_it(jobs, public, elsewhere):
    further = [*jobs[0].outputs, "results/guan2020/more.csv"]
    jobs = [replace(job, inputs=(*job.inputs, *further)) if TABLE in job.outputs else job for job in jobs]
    merge = merged(jobs, Deposit(public))
    assert {TABLE, SUMMARY} <= set(merge.joint)
    assert not Path(TABLE).exists()
    assert not beside(TABLE).exists()


def test_what_no_job_makes_is_left_where_it_is(jobs, public, elsewhere):
    fewer = [job for job in jobs if TABLE not in job.outputs and job.stage != "write_summary"]
    assert TABLE in merged(fewer, Deposit(public)).strange
    assert not Path(TABLE).exists()
    with pytest.raises(InputError, match=r"none of its \d+ results belongs to this run"):
        compare([], Deposit(public))


@pytest.mark.parametrize("after", [0, 1, 5, 40])
def test_a_merge_that_is_killed_leaves_whole_results_and_the_next_one_ends_it(made, jobs, elsewhere, after):
    deposit = Deposit(made[1] / "private")
    child = os.fork()
    if child == 0:
        moves, replace_file = iter(range(after)), os.replace

        def killed(*paths):
            if next(moves, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)
            replace_file(*paths)

        os.replace = killed
        merged(jobs, deposit)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
    there = [it for it in audit(jobs) if it.state != "missing" and not it.path.endswith(".tmp")]
    assert [it for it in there if it.state != "stale" or "is missing" not in it.why] == []
    merged(jobs, deposit)
    assert audit(jobs) == []


def test_a_deposit_that_changes_while_it_is_copied_leaves_nothing_of_the_file(jobs, public, tmp_path, elsewhere):
    copy = tmp_path / "copy"
    shutil.copytree(public, copy)
    deposit = Deposit(copy)
    merge = compare(jobs, deposit)
    (copy / TABLE).write_text("changed")
    with pytest.raises(InputError, match=r"table2\.csv changed while it was copied; merge again"):
        write_merged(merge, jobs, deposit)
    assert not Path(TABLE).exists()
    assert merging.recorded(TABLE) is not None
