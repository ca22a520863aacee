"""Records that contradict one another, this environment or the plan's sources are reported, each in a sentence."""

import json
import os
import platform
from dataclasses import replace
from pathlib import Path

import pytest

from headtypes.core.files import write_text
from headtypes.planning.provenance import beside, provenance_of, record, verified
from headtypes.planning.tools.agreement import disagreements
from headtypes.planning.tools.audit import audit
from headtypes.planning.tools.jobs import Job

MODEL, TASK = "results/sources/models/bert.json", "results/sources/tasks/squad.json"
FEATURES, MORE, TABLE = "results/features/bert/squad.h5", "results/features/bert/ud.h5", "results/table.csv"
READ = {FEATURES: [MODEL, TASK], MORE: [MODEL], TABLE: [FEATURES, MORE]}


def planned(rule: str, output: str) -> Job:
    return Job(rule, {"of": output}, "{}", "", Path("rule.py"), tuple(READ.get(output, ())), (output,), of=rule)


@pytest.fixture
def jobs(tmp_path, monkeypatch):
    """A model and a task, features of both, and a table of the features."""
    monkeypatch.chdir(tmp_path)
    rules = {MODEL: "fetch_model", TASK: "fetch_task", FEATURES: "extract_features", MORE: "extract_features"}
    made = [planned(rules.get(output, "tabulate"), output) for output in (MODEL, TASK, FEATURES, MORE, TABLE)]
    for job in made:
        (output,) = job.outputs
        sources = {MODEL: {"hub": "bert", "revision": "a1"}, TASK: {"world": "qa", "seed": 1}}
        write_text(output, json.dumps(sources.get(output, {})))
        record(provenance_of(job.rule, job.wildcards, {}, "", job.inputs), verified(job.inputs), [output], threads=1)
    return made


def altered(path: str, **values) -> None:
    known = json.loads(beside(path).read_text())
    beside(path).write_text(json.dumps({**known, **values}))


def test_records_that_agree_are_not_mentioned(jobs):
    assert disagreements(jobs) == []


def test_every_result_of_a_job_has_the_source_that_one_of_them_describes(jobs):
    rows = "results/sources/tasks/squad.jsonl"
    write_text(rows, "{}")
    both = replace(jobs[1], outputs=(rows, TASK))
    record(provenance_of("fetch_task", both.wildcards, {}, "", []), {}, both.outputs, threads=1)
    assert disagreements([jobs[0], both, *jobs[2:]]) == []


def test_another_version_than_here_is_told_with_how_many_results_have_it(jobs):
    known = json.loads(beside(TABLE).read_text())["packages"]
    altered(TABLE, packages={**known, "numpy": "0.1"}, python="3.9.0")
    first, second = disagreements(jobs)
    assert first.startswith(f"Python is {platform.python_version()} here, and results were made with ")
    assert first.endswith(f"3.9.0 ({TABLE}).")
    assert (
        second == f"numpy is {known['numpy']} here, and results were made with {known['numpy']} ({MODEL} and 3 more); "
        f"0.1 ({TABLE})."
    )


def test_numbers_of_threads_count_where_a_model_runs(jobs):
    altered(TABLE, threads=8)
    assert disagreements(jobs) == []
    altered(MORE, threads=8)
    (sentence,) = disagreements(jobs)
    assert sentence.startswith("Results of extract_features were made with different numbers of threads")
    assert sentence.endswith(f"1 ({FEATURES}); 8 ({MORE}).")


@pytest.mark.parametrize(
    ("sources", "names"),
    [
        ({}, ["models/bert", "tasks/squad"]),
        (
            {"models/bert": {"hub": "bert", "revision": "b2"}, "tasks/squad": {"world": "qa", "seed": 1}},
            ["models/bert"],
        ),
        (
            {
                "models/bert": {"hub": "bert", "revision": "a1"},
                "tasks/squad": {"world": "qa", "seed": 1},
                "models/x": {},
            },
            ["models/x"],
        ),
    ],
)
def test_a_record_that_names_other_sources_than_its_inputs_is_told(jobs, sources, names):
    altered(TABLE, sources=sources)
    told = disagreements(jobs)
    assert len(told) == len(names)
    for sentence, name in zip(told, names, strict=True):
        assert f"The records of {TABLE} name another source for {name} " in sentence


def test_a_report_that_is_older_than_a_result_is_told(jobs):
    write_text("results/report.html", "")
    assert disagreements(jobs) == []
    os.utime("results/report.html", (0, 0))
    (sentence,) = disagreements(jobs)
    assert sentence.startswith(
        f"results/report.html is older than {MODEL} and 4 more, and may show what was there before"
    )


def test_what_is_missing_or_damaged_is_left_to_the_audit(jobs):
    Path(MORE).unlink()
    Path(MODEL).write_text("{")
    beside(TABLE).write_text("[]")
    altered(FEATURES, packages=3)
    assert {finding.path: finding.state for finding in audit(jobs)}[FEATURES] == "damaged"
    assert len(disagreements([replace(job) for job in jobs])) <= 1
