"""Results of somebody else's, with records that say anything: all are reported, and nothing outside is touched."""

import json
import os
from pathlib import Path

import pytest

from headtypes.core.files import write_json, write_text
from headtypes.deposit.parts import made_by
from headtypes.planning.provenance import beside, folder_of_records, provenance_of, record, verified
from headtypes.planning.tools.agreement import disagreements
from headtypes.planning.tools.audit import audit, remove
from headtypes.planning.tools.jobs import Job

MODEL, FEATURES, FOLDER = "results/sources/models/bert.json", "results/features/squad.h5", "results/models/tuned"
SECRET = "outside/secret.json"
FORGED = [
    3,
    -1.5,
    None,
    True,
    "",
    "../../../outside/secret",
    "\u202eabc\U0001f600",
    "x" * 100_000,
    [],
    [[{}]],
    {"": []},
]


@pytest.fixture
def jobs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_text("rule.py", "")
    write_json(SECRET, {"a": "password"})
    made = []
    for rule, inputs, output in (
        ("fetch_model", [], MODEL),
        ("extract_features", [MODEL], FEATURES),
        ("finetune_model", [], FOLDER),
    ):
        job = Job(rule, {"of": "x"}, '{"k": 1}', "c0de", Path("rule.py").absolute(), tuple(inputs), (output,), of=rule)
        write_text(f"{output}/weights" if output == FOLDER else output, '{"hub": "bert"}')
        record(provenance_of(rule, job.wildcards, {"k": 1}, "c0de", inputs), verified(inputs), [output], threads=1)
        made.append(job)
    return made


def leaves(value, path=()):
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from leaves(value[key], (*path, key))


def forged(value, path, by):
    return by if not path else {**value, path[0]: forged(value[path[0]], path[1:], by)}


def test_a_record_that_is_forged_anywhere_is_told_or_changes_nothing(jobs):
    whole = json.loads(beside(FEATURES).read_text())
    assert (audit(jobs), disagreements(jobs)) == ([], [])
    tried = 0
    for path in leaves(whole):
        for by in FORGED:
            beside(FEATURES).write_text(json.dumps(forged(whole, path, by)))
            told = [f"{finding.path}: {finding.why}" for finding in audit(jobs)] + disagreements(jobs)
            assert all("password" not in sentence and len(sentence) < 3000 for sentence in told), path
            # Sources, packages and the like are of records that are whole.
            if not any(finding.state == "damaged" for finding in audit(jobs)):
                made_by(jobs)
            tried += 1
    assert tried > 300


@pytest.mark.parametrize("code", ["../../../outside/secret", "/etc/passwd", "c0de/../../.."])
def test_the_digest_of_a_forged_record_names_no_file_elsewhere(jobs, code):
    beside(FEATURES).write_text(json.dumps({**json.loads(beside(FEATURES).read_text()), "code": code}))
    (finding,) = audit(jobs)
    assert finding.state == "damaged"


@pytest.mark.parametrize("text", ["", "[]", "3", '{"numpy": 3}', '{"a.py:f": ["x"]}', "{" * 10_000])
def test_what_a_digest_was_made_of_may_be_damaged(jobs, text):
    write_text(folder_of_records(Path("results")) / "code/0ld.json", text)
    beside(FEATURES).write_text(json.dumps({**json.loads(beside(FEATURES).read_text()), "code": "0ld"}))
    (finding,) = audit(jobs)
    assert (finding.path, finding.state) == (FEATURES, "stale")


@pytest.mark.parametrize(("path", "state"), [(FEATURES, "damaged"), (str(beside(FEATURES)), "foreign")])
def test_a_pipe_in_place_of_a_result_is_not_waited_for(jobs, path, state):
    os.unlink(path)
    os.mkfifo(path)
    assert [finding.state for finding in audit(jobs)] == [state]


def test_a_link_in_place_of_a_result_is_removed_and_what_it_leads_to_is_not(jobs, tmp_path):
    outside = tmp_path / "outside"
    os.rename(FOLDER, tmp_path / "moved")
    os.symlink(outside, FOLDER)
    assert remove(audit(jobs)) == [FOLDER]
    assert not os.path.lexists(FOLDER)
    assert os.listdir(outside) == ["secret.json"]
