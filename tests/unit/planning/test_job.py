"""A job: what a script gets of Snakemake, and what the user sees when it fails."""

import errno
import json
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest

import call as of_jobs
from call import job
from headtypes.core.errors import InputError
from headtypes.core.files import write_text
from headtypes.core.progress import progress, warn
from headtypes.models.placement import MEMORY
from headtypes.planning.provenance import recorded


class Named(list):
    def __init__(self, **named):
        super().__init__(named.values())
        self._named = named
        vars(self).update(named)

    def items(self):
        return self._named.items()


@pytest.fixture
def snakemake(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.h5").write_text("features")
    return SimpleNamespace(
        rule="cluster_heads",
        wildcards=Named(model="bert", partition="squad-kmeans-k4"),
        input=Named(features="in.h5"),
        output=Named(partition="results/out.csv"),
        threads=1,
        resources=SimpleNamespace(gpu=0),
        params=SimpleNamespace(spec='{"k":4,"seed":1}', code="abc"),
        log=[str(tmp_path / "logs" / "cluster_heads" / "bert.log")],
        config={"never": "reached"},
    )


def run(snakemake, action):
    with job(snakemake) as (inputs, spec, outputs, _):
        action(inputs, spec, outputs)
        write_text(outputs.partition, "head,type")


def log_of(snakemake) -> str:
    return Path(snakemake.log[0]).read_text(encoding="utf-8")


@pytest.mark.parametrize("asked", ['"precision":"bfloat16"', '"bf16":true'])
def test_the_record_says_whether_bfloat16_was_what_was_computed(snakemake, monkeypatch, asked):
    run(snakemake, lambda *_: None)
    assert "computed_in" not in recorded("results/out.csv")
    snakemake.params.spec = f"{{{asked}}}"
    for computed in ("bfloat16", "float32"):
        monkeypatch.setattr(of_jobs, "usable_precision", {"bfloat16": computed}.get)
        run(snakemake, lambda *_: None)
        assert recorded("results/out.csv")["computed_in"] == computed


def test_where_the_weights_of_its_model_may_lie_is_told_to_a_job_and_in_no_record(snakemake):
    snakemake.wildcards.model, snakemake.params.memory = "huge", '{"cpu":2.0}'
    run(snakemake, lambda *_: None)
    assert MEMORY["huge"] == {"cpu": 2.0}
    assert recorded("results/out.csv")["spec"] == {"k": 4, "seed": 1}


def test_files_of_a_kind_are_found_by_their_keys(snakemake):
    files = [f"results/f/{name}.h5" for name in ("b", "a", "all")]
    for file in files:
        write_text(file, "features")
    snakemake.input = Named(features=files[0])
    snakemake.input.maps = files
    snakemake.params.keyed = json.dumps({"maps": [["bert", "b"], ["bert", "a"], "all"]})
    by_key = []
    run(snakemake, lambda inputs, spec, outputs: by_key.extend(inputs.maps.items()))
    assert by_key == list(zip([("bert", "b"), ("bert", "a"), "all"], files, strict=True))


def test_what_made_the_outputs_stands_beside_them_when_the_job_has_ended_well(snakemake):
    run(snakemake, lambda inputs, spec, outputs: spec.pop("k"))
    found = recorded("results/out.csv")
    assert found["rule"] == "cluster_heads"
    assert found["wildcards"] == {"model": "bert", "partition": "squad-kmeans-k4"}
    assert (found["spec"], found["code"]) == ({"k": 4, "seed": 1}, "abc")
    with pytest.raises(SystemExit):
        run(snakemake, lambda *_: 1 / 0)
    assert recorded("results/out.csv") is None


DAMAGED, READ_ONLY = "in.h5 is damaged; delete it and run again.", "Read-only file system"
ENDS = {
    "an input error": (InputError(DAMAGED), 1, DAMAGED),
    "a system that refuses": (
        OSError(errno.EROFS, READ_ONLY, "results/elsewhere"),
        1,
        f"results/elsewhere cannot be read or written: {READ_ONLY}; fix this and run again.",
    ),
    "a stop": (KeyboardInterrupt(), 130, "stopped; run again."),
}


@pytest.mark.parametrize(("error", "status", "said"), ENDS.values(), ids=ENDS)
def test_what_a_user_can_mend_ends_the_job_with_its_sentence_alone(snakemake, capsys, error, status, said):
    def action(inputs, spec, outputs):
        raise error

    with pytest.raises(SystemExit) as ended:
        run(snakemake, action)
    assert ended.value.code == status
    assert capsys.readouterr().err == log_of(snakemake) == f"cluster_heads bert squad-kmeans-k4: {said}\n"
    assert not Path("results/out.csv").exists()


def test_any_other_error_leaves_its_traceback_on_the_terminal_and_in_the_log(snakemake, capsys):
    with pytest.raises(SystemExit) as ended:
        run(snakemake, lambda *_: 1 / 0)
    assert ended.value.code == 1
    for text in (capsys.readouterr().err, log_of(snakemake)):
        assert text.startswith("Traceback (most recent call last):")
        assert text.endswith("ZeroDivisionError: division by zero\n")


@pytest.mark.filterwarnings("always")
def test_what_a_job_prints_is_seen_and_kept(snakemake, capsys):
    with job(snakemake) as (_, _, outputs, made):
        print("said")
        print("Ünïcode", file=sys.stderr)
        warn(made, ["two types have one name."])
        warnings.warn("from a library", UserWarning, stacklevel=1)
        with progress(2, "bert on squad", "samples") as bar:
            bar.update(2)
        write_text(outputs.partition, "head,type")
    shown = capsys.readouterr()
    for text in (
        "Ünïcode\n",
        "warning: cluster_heads bert squad-kmeans-k4: two types have one name.\n",
        "bert on squad: 2/2 samples",
    ):
        assert text in shown.err
        assert text in log_of(snakemake)
    lines = [line for line in log_of(snakemake).splitlines() if line.startswith("bert") or not line]
    assert len(lines) == 1, "one line of progress, none of nothing done, none empty"
    assert shown.out == "said\n"
    assert "said" in log_of(snakemake)
