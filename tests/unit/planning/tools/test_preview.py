"""The preview: what will run, why, down to the leaf or the module, and for how long."""

import json
import os
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from headtypes.planning.code.digest import code_digest, forget_files
from headtypes.planning.code.running import remember_code

from headtypes.core.files import canonical_json, write_text
from headtypes.planning.config.schema import read_config
from headtypes.planning.plan import Plan
from headtypes.planning.provenance import RESULTS, beside, provenance_of, record, verified
from headtypes.planning.stages.registry import STAGES
from headtypes.planning.tools.estimates import Estimate
from headtypes.planning.tools.history import remember_config
from headtypes.planning.tools.jobs import Job
from headtypes.planning.tools.preview import Work, preview, preview_text, superseded, unseen
from tests.support.configs import DELETE, edited, full_config
from tests.support.places import ROOT
from tests.support.warm import python

RUN = {
    "sample_inputs": {"task": "squad"},
    "extract_features": {"model": "tuned+1.0", "task": "squad"},
    "cluster_heads": {"model": "tuned+1.0", "partition": "squad-kmeans-k4"},
    "evaluate_condition": {"model": "tuned+1.0", "partition": "squad-kmeans-k4", "condition": "zero-dense"},
}


@pytest.fixture
def config(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for rule in RUN:
        write_text(f"scripts/{rule}.py", "from tools import N\n\nprint(N)\n")
    write_text("scripts/tools.py", "N = 3\n")
    return full_config(tmp_path)


def planned(raw, running=()) -> list[Job]:
    """Four jobs in a row, each from the one before; those of the rules named would run."""
    plan, jobs = Plan(read_config(raw)), []
    for rule, wildcards in RUN.items():
        script = Path(f"scripts/{rule}.py").absolute()
        spec = canonical_json(STAGES[rule](plan, **wildcards))
        job = Job(rule, wildcards, spec, code_digest(script), script, (), (f"results/{rule}.csv",))
        inputs = jobs[-1].outputs if jobs else ()
        jobs.append(replace(job, inputs=inputs, benchmark=f"results/{rule}.benchmark.tsv", runs=rule in running))
    return jobs


def run(raw) -> None:
    for job in planned(raw):
        remember_code(RESULTS, job.script)
        write_text(job.outputs[0], job.rule)
        made = provenance_of(job.rule, job.wildcards, json.loads(job.spec), job.code, job.inputs)
        record(made, verified(job.inputs), job.outputs, threads=1)
    remember_config(read_config(raw), RESULTS)


def previewed(jobs, raw) -> dict[str, Work]:
    """The preview, where each job is expected to take four seconds."""
    return preview(jobs, {RESULTS: read_config(raw)}, {job.outputs: Estimate(4.0, 1500, 20.0) for job in jobs})


def reasons(jobs, raw) -> dict[str, list[str]]:
    return {rule: list(work.why) for rule, work in previewed(jobs, raw).items()}


def test_nothing_to_run_is_said_so(config):
    assert previewed(planned(config), config) == {}
    assert preview_text({}, 2, 1e9) == "Nothing to be done."


def test_what_was_never_made_is_new(config):
    assert reasons(planned(config, ["sample_inputs"]), config) == {"sample_inputs": ["new"]}


@pytest.mark.parametrize(
    ("path", "value", "rule", "reason"),
    [
        ("tasks/squad/samples", 11, "sample_inputs", "tasks.squad.samples: 10, now 11"),
        ("clustering/restarts", 6, "cluster_heads", "clustering.restarts: 5, now 6"),
        ("clustering/restarts", DELETE, "cluster_heads", "clustering.restarts: 5, now not given"),
        ("compute/precision", "bfloat16", "extract_features", 'compute.precision: "float32", now "bfloat16"'),
        (
            "conditions/zero-dense/dense",
            "uniform",
            "evaluate_condition",
            'conditions.zero-dense.dense: "zero", now "uniform"',
        ),
        ("seed", 2, "cluster_heads", "seed: 1, now 2"),
    ],
)
def test_a_changed_value_is_named_by_its_place_in_the_configuration(config, path, value, rule, reason):
    run(config)
    after = edited(config, path, value)
    assert reasons(planned(after, [rule]), after) == {rule: [reason]}


def test_of_two_changed_values_each_job_names_the_one_that_concerns_it(config):
    run(config)
    after = edited(edited(config, "clustering/restarts", 6), "tasks/squad/samples", 11)
    assert reasons(planned(after, RUN), after) == {
        "sample_inputs": ["tasks.squad.samples: 10, now 11"],
        "extract_features": ["after sample_inputs"],
        "cluster_heads": ["clustering.restarts: 5, now 6"],
        "evaluate_condition": ["after cluster_heads"],
    }


def test_a_changed_key_may_have_a_slash_where_another_is_what_stands_before_it(config):
    config["tasks"]["pairs"]["labels"] = {"n": 0, "n/a": 1}
    run(config)
    after = edited(config, "clustering/restarts", 6)
    after["tasks"]["pairs"]["labels"]["n/a"] = 0
    assert reasons(planned(after, ["cluster_heads"]), after) == {"cluster_heads": ["clustering.restarts: 5, now 6"]}


def test_without_a_remembered_configuration_the_value_is_named_as_the_rule_knows_it(config):
    run(config)
    Path("results/provenance/config.json").unlink()
    after = edited(config, "clustering/restarts", 6)
    assert reasons(planned(after, ["cluster_heads"]), after) == {"cluster_heads": ["restarts: 5, now 6"]}


@pytest.mark.parametrize("text", ["", "{", "{}", "[]", "3"])
def test_damaged_records_are_named_and_stop_nothing(config, text):
    run(config)
    beside("results/extract_features.csv").write_text(text)
    jobs = planned(config, ["extract_features"])
    assert reasons(jobs, config) == {"extract_features": ["the record of what made it is damaged"]}
    Path("results/provenance/config.json").write_text(text)
    assert reasons(jobs, config) == {"extract_features": ["the record of what made it is damaged"]}


def test_a_changed_module_is_named(config):
    run(config)
    write_text("scripts/tools.py", "N = 4\n")
    forget_files()
    assert reasons(planned(config, ["sample_inputs"]), config) == {"sample_inputs": ["tools.py: N has changed"]}


def test_results_whose_change_snakemake_does_not_see_are_counted(config):
    """It sees none where its own records were not copied, so that nothing would run."""
    run(config)
    assert unseen(planned(config)) == ""
    after = edited(config, "clustering/restarts", 6)
    assert "have changed: 1. Snakemake has no record" in unseen(planned(after))
    assert unseen(planned(after, ["cluster_heads"])) == ""
    write_text("scripts/tools.py", "N = 4\n")
    forget_files()
    assert f"have changed: {len(planned(config))}." in unseen(planned(config))


def test_results_that_are_replaced_or_left_over_are_counted(config):
    run(config)
    assert superseded(planned(config)) == ""
    jobs = planned(config, ["cluster_heads"])
    replaced = "Files of results that will be replaced: 1; another --directory keeps them."
    assert superseded(jobs) == f"{replaced} Files of results that stay: 3."
    # What is there without a record is the user's.
    write_text("results/notes.txt", "mine")
    assert superseded(jobs[:2]).startswith("Files that no job of this plan makes: 2; ")


def test_where_nothing_of_ours_tells_snakemakes_own_reason_stands(config):
    run(config)
    jobs = [replace(job, reasons=("updated input files",)) for job in planned(config, ["sample_inputs"])]
    assert reasons(jobs, config) == {"sample_inputs": ["updated input files"]}


def test_an_input_that_was_touched_is_named(config):
    run(config)
    touched = {"reasons": ("updated input files",), "newer": ("results/features/a.h5", "results/features/b.h5")}
    jobs = [replace(job, **touched) for job in planned(config, ["sample_inputs"])]
    named = [f"results/features/{name}.h5 is newer than what was made of it" for name in "ab"]
    assert reasons(jobs, config) == {"sample_inputs": named}


@pytest.mark.parametrize(
    ("columns", "seconds"),
    [
        # A job in a fork, as the system counted it.
        ({"s": 28, "mean_load": 21, "cpu_time": 6.25}, 6.25),
        # Snakemake looked once, long before the end.
        ({"s": 28, "mean_load": 50, "cpu_time": 2.5}, 14),
        # It did not look at all.
        ({"s": 1.5, "mean_load": 0, "cpu_time": 0}, 1.5),
        ({"s": 1.5, "mean_load": "NA", "cpu_time": "NA"}, 1.5),
        ({"s": 1.5, "mean_load": "nan", "cpu_time": "-"}, 1.5),
    ],
)
def test_a_time_is_processor_time_which_a_busy_machine_does_not_lengthen(config, columns, seconds):
    job = replace(planned(config)[1], benchmark="results/busy.tsv", runs=True)
    write_text(job.benchmark, "\n".join("\t".join(map(str, row)) for row in (columns, columns.values())) + "\n")
    assert previewed([job], config)["extract_features"].seconds == seconds


def test_times_are_those_of_the_job_itself_else_of_its_rule(config):
    first, second = (replace(planned(config)[1], benchmark=f"results/{n}.tsv", runs=True) for n in (1, 2))
    other = replace(planned(config)[2], runs=True)
    assert previewed([first, second], config)["extract_features"].seconds == 8.0
    write_text("results/1.tsv", "s\th:m:s\tmax_rss\n3.0\t0:00:03\t10\n")
    assert previewed([first, second], config)["extract_features"].seconds == 6.0
    write_text("results/2.tsv", "s\th:m:s\tmax_rss\n5.0\t0:00:05\t10\n7.0\t0:00:07\t10\n")
    found = previewed([first, second, other], config)
    assert found["extract_features"].seconds == 9.0
    text = preview_text(found, 2, 1e9)
    assert "3 jobs, 0:00:13 of processor time: 0:00:06 on 2 cores." in text
    assert "0:00:09 of this is what such jobs took before." in text


@pytest.mark.parametrize("left", ["", "s\th:m:s\n", "s\tmax_rss\n", "h:m:s\n0:00:01\n"])
def test_of_a_time_that_a_power_cut_has_taken_nothing_is_known(config, left):
    """Snakemake does not wait until the file is on the disk."""
    job = replace(planned(config)[1], benchmark="results/cut.tsv", runs=True)
    write_text(job.benchmark, left)
    assert previewed([job], config)["extract_features"].estimated == 4.0


def test_the_text_has_a_line_per_rule_and_the_commonest_reason_first():
    work = Work(seconds=3600.0, estimates=[Estimate(3.0, 1500, 20.0)] * 1200)
    work.why.update(["new"] * 1000 + ["after sample_inputs"] * 200)
    lines = preview_text({"extract_features": work}, 4, 1e9).splitlines()
    assert lines[1].split() == ["extract_features", "1,200", "1:00:00", "1.5", "GB", "24.0", "GB"]
    assert lines[2:4] == ["  1,000 x new", "  200 x after sample_inputs"]


def test_several_reasons_that_an_earlier_rule_has_too_are_counted():
    work_of = {}
    for rule, reasons in (("first", "abc"), ("second", "abd"), ("third", "dc")):
        work_of[rule] = Work(estimates=[Estimate(3.0, 1500, 20.0)] * 2)
        work_of[rule].why.update(list(reasons) * 2)
    said = [line for line in preview_text(work_of, 4, 1e9).splitlines() if " x " in line]
    assert said == ["  2 x a", "  2 x b", "  2 x c", "  2 x d", "  2 x 2 reasons given for first", "  2 x d", "  2 x c"]


def test_a_command_whose_output_is_cut_off_ends_without_a_traceback(tmp_path):
    (tmp_path / "Snakefile").write_text("rule all:\n")
    read, write = os.pipe()
    os.close(read)
    command = [python(), str(ROOT / "commands/preview.py"), "--cores", "1", "--directory", str(tmp_path)]
    run = subprocess.run([*command, "--snakefile", str(tmp_path / "Snakefile")], stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert (run.returncode, run.stderr) == (-signal.SIGPIPE, b"")
