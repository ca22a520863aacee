"""The audit: what is missing, foreign, damaged or stale is named with its cause, and nothing else is."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from headtypes.planning.code.digest import code_digest, forget_files
from headtypes.planning.code.running import remember_code

from headtypes.core.files import canonical_json, write_text
from headtypes.planning.provenance import RESULTS, beside, folder_of_records, provenance_of, record, shards_of, verified
from headtypes.planning.tools.audit import audit, remove, remove_unused, unused
from headtypes.planning.tools.jobs import Job

DATA, SAMPLES, FEATURES = "data/squad.json", "results/samples/squad.jsonl", "results/features/bert/squad.h5"
MODEL, TABLE, FIGURE = "results/models/bert", "results/guan2020/table1.csv", "results/guan2020/figure1.png"


@pytest.fixture(autouse=True)
def scripts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_text(DATA, "questions")
    write_text("scripts/rule.py", "import numpy\nfrom tools import N\n\nprint(numpy, N)\n")
    write_text("scripts/tools.py", "N = 3\n")


def planned(rule, inputs, outputs, **spec) -> Job:
    script = Path("scripts/rule.py").absolute()
    return Job(
        rule, {"task": "squad"}, canonical_json(spec), code_digest(script), script, tuple(inputs), tuple(outputs)
    )


def plan(samples=5, windows=16) -> list[Job]:
    """Samples from the user's file, a model, features of both, and a table and a figure of the features."""
    return [
        planned("sample_inputs", [DATA], [SAMPLES], samples=samples),
        planned("finetune_model", [], [MODEL], epochs=1),
        planned("extract_features", [MODEL, SAMPLES], [FEATURES]),
        planned("tabulate", [FEATURES], [TABLE], windows=windows),
        planned("draw", [FEATURES], [FIGURE]),
    ]


def run(jobs) -> list[Job]:
    for job in jobs:
        remember_code(RESULTS, job.script)
        for path in job.outputs:
            write_text(f"{path}/weights" if path == MODEL else path, f"{path} by {job.spec}")
        made = provenance_of(job.rule, job.wildcards, json.loads(job.spec), job.code, job.inputs)
        record(made, verified(job.inputs), job.outputs, threads=1)
    return jobs


def states(jobs) -> dict[str, str]:
    return {finding.path: finding.state for finding in audit(jobs)}


def why(jobs, path) -> str:
    return next(finding.why for finding in audit(jobs) if finding.path == path)


def test_results_of_this_configuration_are_as_they_should_be():
    jobs = run(plan())
    write_text("results/features/bert/squad.benchmark.tsv", "s\n1\n")
    write_text("results/report.html", "made on demand")
    jobs[2] = replace(jobs[2], benchmark="results/features/bert/squad.benchmark.tsv")
    assert states(jobs) == {}


@pytest.mark.parametrize("text", ["", "{", "{}", "[]", '{"rule": 3}'])
def test_a_result_whose_record_is_damaged_is_damaged(text):
    jobs = run(plan())
    beside(TABLE).write_text(text)
    assert states(jobs) == {TABLE: "damaged"}
    assert str(beside(TABLE)) in why(jobs, TABLE)
    assert remove(audit(jobs)) == [TABLE]
    assert not beside(TABLE).exists()


def test_results_copied_to_another_place_are_as_they_should_be(tmp_path, monkeypatch):
    """Another folder, another place of the user's data, new times, and nothing of Snakemake's."""
    run(plan())
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree("results", elsewhere / "results")
    write_text(elsewhere / "mine.json", "questions")
    jobs = plan()
    jobs[0] = replace(jobs[0], inputs=(str(elsewhere / "mine.json"),))
    monkeypatch.chdir(elsewhere)
    assert states(jobs) == {}


def test_what_is_not_there_is_missing_and_what_comes_from_it_is_stale():
    jobs = run(plan())
    Path(FEATURES).unlink()
    assert states(jobs) == {FEATURES: "missing", TABLE: "stale", FIGURE: "stale"}
    assert why(jobs, TABLE) == f"{FEATURES} is missing"


@pytest.mark.parametrize("path", [SAMPLES, f"{MODEL}/weights"])
def test_a_flipped_bit_is_damage_and_what_comes_from_it_is_stale(path):
    jobs = run(plan())
    data = bytearray(Path(path).read_bytes())
    data[3] ^= 1
    Path(path).write_bytes(data)
    of = MODEL if path.startswith(MODEL) else path
    assert states(jobs) == {of: "damaged", FEATURES: "stale", TABLE: "stale", FIGURE: "stale"}


def test_another_value_makes_stale_what_depends_on_it_and_what_comes_from_that():
    run(plan())
    assert states(plan(windows=32)) == {TABLE: "stale"}
    assert why(plan(windows=32), TABLE) == "windows: 16, now 32"
    assert states(plan(samples=6)) == dict.fromkeys([SAMPLES, FEATURES, TABLE, FIGURE], "stale")


def test_another_code_is_told_by_its_module_or_its_package():
    jobs = run(plan())
    write_text("scripts/tools.py", "N = 4\n")
    forget_files()
    assert all(state == "stale" for state in states(plan()).values())
    assert why(plan(), SAMPLES) == "tools.py: N has changed"
    before = folder_of_records(RESULTS) / "code" / f"{jobs[0].code}.json"
    before.write_text(before.read_text().replace('"numpy": "', '"numpy": "0.'))
    assert "numpy 0." in why(plan(), SAMPLES)
    # Edited, so that it says of another code what is true of this one.
    shutil.copy(before.with_name(f"{run(plan())[0].code}.json"), before)
    record = json.loads(beside(SAMPLES).read_text())
    beside(SAMPLES).write_text(json.dumps(record | {"code": jobs[0].code}))
    assert why(plan(), SAMPLES) == "its code has changed"
    shutil.rmtree(folder_of_records(RESULTS) / "code")
    assert why(plan(), SAMPLES) == "its code has changed"


def test_another_content_of_the_users_data_makes_stale_what_comes_from_them():
    jobs = run(plan())
    write_text(DATA, "other questions")
    assert states(jobs) == dict.fromkeys([SAMPLES, FEATURES, TABLE, FIGURE], "stale")
    assert why(jobs, SAMPLES) == f"the contents of {DATA} have changed"
    Path(DATA).unlink()
    assert why(jobs, SAMPLES) == f"{DATA} is not there"


def test_a_result_that_was_made_anew_leaves_behind_what_comes_from_it():
    jobs = run(plan())
    write_text(SAMPLES, "drawn anew")
    made = provenance_of("sample_inputs", {"task": "squad"}, {"samples": 5}, jobs[0].code, [DATA])
    record(made, verified([DATA]), [SAMPLES], threads=1)
    assert states(jobs) == dict.fromkeys([FEATURES, TABLE, FIGURE], "stale")
    assert why(jobs, FEATURES) == f"it was made from another version of {SAMPLES}"


def test_other_inputs_make_a_result_stale():
    jobs = run(plan())
    jobs[3] = replace(jobs[3], inputs=(FEATURES, SAMPLES))
    assert states(jobs) == {TABLE: "stale"}
    assert why(jobs, TABLE) == "it was made from other results"


def test_files_that_nobody_planned_are_foreign():
    jobs = run(plan())
    write_text("results/notes.txt", "mine")
    beside(FIGURE).unlink()
    assert states(jobs) == {"results/notes.txt": "foreign", FIGURE: "foreign"}
    assert why(jobs, FIGURE) == "there is no record of what made it"
    assert why(jobs[:3], TABLE) == "it belongs to another configuration"


def test_only_what_is_stale_or_damaged_is_removed():
    run(plan())
    write_text("results/notes.txt", "mine")
    write_text(f"{MODEL}/weights", "other")
    jobs = plan(windows=32)
    gone = remove(audit(jobs))
    assert set(gone) == {MODEL, FEATURES, TABLE, FIGURE}
    assert not any(Path(path).exists() or beside(path).exists() for path in gone)
    assert states(jobs) == {**dict.fromkeys(gone, "missing"), "results/notes.txt": "foreign"}
    run(jobs)
    assert states(jobs) == {"results/notes.txt": "foreign"}


def test_what_nobody_asks_for_any_more_is_found_and_removed_alone():
    """After an edit that asks for neither the model nor the table; a shard of a stopped run goes, too."""
    before = run(plan())
    left = "results/shards/features/bert/squad/0-of-2.h5"
    for path in (left, "results/notes.txt", "results/guan2020/table1.benchmark.tsv", f"{MODEL}/sub/more"):
        write_text(path, "x")
    jobs = [before[0], before[2], before[4]]
    expected = [TABLE.replace(".csv", ".benchmark.tsv"), TABLE, f"{MODEL}/sub/more", f"{MODEL}/weights", left]
    assert sorted(map(str, unused(jobs))) == sorted(expected)
    assert unused(before) == [Path("results/guan2020/table1.benchmark.tsv"), Path(left)]
    remove_unused(unused(jobs))
    assert unused(jobs) == []
    assert not Path(MODEL).exists()
    assert not Path("results/shards").exists()
    assert not any(beside(path).exists() for path in (MODEL, TABLE))
    for path in (SAMPLES, FEATURES, FIGURE, "results/notes.txt"):
        assert Path(path).exists()
    assert states([before[0], before[4]])[FEATURES] == "foreign"
    assert beside(FIGURE).exists()


def test_a_result_is_sound_from_however_many_shards_it_was_merged():
    parts = [f"results/shards/features/bert/squad/{shard}-of-2.h5" for shard in range(2)]
    shards = [planned("extract_shard", [MODEL, SAMPLES], [part]) for part in parts]
    first, model, _, *last = plan()
    merged = [first, model, *shards, planned("extract_features", [MODEL, SAMPLES, *parts], [FEATURES]), *last]
    run(merged)
    assert shards_of(FEATURES) == 2
    assert shards_of(TABLE) == 1
    run([planned("tabulate", [FEATURES, FEATURES], [TABLE], windows=16)])
    assert shards_of(TABLE) == 1, "an input that is named twice is not a shard"
    run(merged)
    Path(parts[0]).unlink()
    assert states(merged) == {}
    assert states(plan()) == {parts[1]: "foreign"}
    assert "left over from a run that was stopped" in why(plan(), parts[1])
    Path(FEATURES).unlink()
    assert shards_of(FEATURES) is None
