"""Every fault at every rule that computes: nothing half-written is taken for a result, and one sentence says why.

`docs/lookup/reliability.md` has the table of what is tested here; `test_the_table_says_what_is_tested` compares them.
"""

import hashlib
import json
import os
import re
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load, save

from headtypes.planning.provenance import beside, is_shard
from headtypes.planning.stages.registry import STAGES
from tests.reliability.bench import WHILE_WRITING, WHOLE
from tests.reliability.conftest import IDS, Finished, mark_as_running
from tests.reliability.disks import mounts_allowed, writing_can_be_forbidden
from tests.support.places import ROOT
from tests.support.planning import take_as_made
from tests.support.rules import READ_TEXTS, RUN_A_MODEL

RULES = sorted(STAGES)
MERGING = ["evaluate_condition, shared", "extract_features, shared", "measure_divergence, shared"]
CASES = [*RULES, *MERGING]
# The records of the model that jobs run, and of those that jobs about decoders run.
MODEL, *DECODERS = (f"results/sources/models/{name}.json" for name in ("tiny", "tiny-decoder", "tiny-objects"))
# Rules that read no result: what they read is the user's.
FROM_OUTSIDE = ["fetch_model", "fetch_task", "fetch_test", "fetch_training"]
# Lists of rules at the end of docs/lookup/outputs.md that the table refers to.
LISTED = ("run a model", "read texts")
# The rules of each fault, as the table in the documentation has them.
TABLE = {
    **dict.fromkeys(WHILE_WRITING, RULES),
    "read-only results": RULES,
    "damaged result": [rule for rule in RULES if rule not in (*FROM_OUTSIDE, "train_model")],
    "damaged source": [*FROM_OUTSIDE, "import_partition"],
    "weights that are not finite": sorted(RUN_A_MODEL),
    "empty sample": sorted([*READ_TEXTS, "fetch_task", "fetch_training"]),
}


def refused(came: dict, *fragments: str) -> None:
    """A job has ended with one sentence, without a traceback, that has these fragments."""
    assert came["status"] == 1, came
    assert "Traceback" not in came["printed"], came["printed"]
    *_, sentence = [line for line in came["printed"].splitlines() if line.strip()]
    for fragment in fragments:
        assert fragment in sentence, came["printed"]
    assert sentence.endswith("."), came["printed"]
    # Beside it there may be bars of progress and nothing else.
    others = [line for line in came["printed"].splitlines() if line.strip() and line != sentence]
    assert all(re.search(r"elapsed|warning: ", line) for line in others), came["printed"]


def test_every_rule_has_a_job_here(finished: Finished):
    assert set(finished.of_rule) == set(CASES)
    assert {rule for rules in TABLE.values() for rule in rules} == set(RULES)


@pytest.mark.parametrize("case", CASES)
def test_nothing_half_written_is_taken_for_a_result(finished: Finished, case: str, tmp_path: Path):
    """Killed, or without room or right to write: each output is not there or whole, and none is on record."""
    job = finished.job(case)
    folder = finished.before(case, tmp_path / "here")
    inputs = {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}
    came = finished.run(case, folder, "while writing")
    whole = came.pop(WHOLE)
    assert whole["status"] == 0, whole["printed"]
    assert set(whole["outputs"]) == set(job["outputs"])
    assert set(came) == set(WHILE_WRITING) - ({"disk turned read-only"} if not writing_can_be_forbidden() else set())
    for fault, found in came.items():
        left = set(found["files"]) - inputs
        recorded = {path for path in left if path.startswith("results/provenance/") and not path.endswith(".tmp")}
        assert not recorded, fault
        assert found["outputs"].items() <= whole["outputs"].items(), fault
        assert len(found["outputs"]) < len(job["outputs"]) or fault == "killed between two files", fault
        # What is neither an output nor hidden would be taken for one.
        inside = {path for path in left if any(path.startswith(f"{output}/") for output in found["outputs"])}
        others = {path for path in left - inside if not any(part.startswith(".") for part in Path(path).parts)}
        assert others <= {*found["outputs"], "results/filler"}, fault
        if fault.startswith("killed"):
            assert found["status"] < 0, f"{fault}: {found}"
        else:
            refused(found, "results/", "cannot be")
    if mounts_allowed():
        refused(came["full disk"], "No space left on device")
        refused(came["disk turned read-only"], "Read-only file system")


@pytest.mark.parametrize("case", CASES)
@pytest.mark.skipif(not writing_can_be_forbidden(), reason="root may write anywhere but on a mounted disk")
def test_read_only_results_are_told_before_anything_is_computed(finished: Finished, case: str, tmp_path: Path):
    folder = finished.before(case, tmp_path / "here")
    came = finished.run(case, folder, "read-only")
    refused(came, finished.job(case)["outputs"][0], "cannot be written", "is read-only")


def damaged(path: Path, how: str) -> None:
    """Give a file other content; the one it is linked to keeps its own."""
    content = bytearray(path.read_bytes())
    path.unlink()
    if how == "cut off":
        content = content[: len(content) // 2]
    else:
        content[len(content) // 2] ^= 0x10
    path.write_bytes(content)


def made_otherwise(folder: Path, path: str, text: str) -> None:
    """Replace a result by one of which nothing is recorded, as if it had been made so."""
    for file in (folder / path, folder / beside(path)):
        file.unlink()
    (folder / path).write_text(text)


def results_read(finished: Finished, case: str) -> dict[str, str]:
    """One result of each kind that a job reads: of each named input the first."""
    named = finished.job(case)["inputs"].items()
    return {name: path for name, (path, *_) in named if path.startswith("results/")}


@pytest.mark.parametrize("case", [case for case in CASES if case.partition(",")[0] in TABLE["damaged result"]])
def test_a_damaged_result_is_refused(finished: Finished, case: str, tmp_path: Path):
    """Cut off, or with a bit flipped, by turns: by what was recorded when it was made, or by checksums of its own."""
    read = results_read(finished, case).values()
    assert read
    for number, path in enumerate(read, start=CASES.index(case)):
        folder = finished.before(case, tmp_path / str(number))
        file = folder / path
        damaged(file / "model.safetensors" if file.is_dir() else file, ("cut off", "bit flipped")[number % 2])
        came = finished.run(case, folder)
        refused(came, path, "damaged", "delete")
        assert not [output for output in finished.job(case)["outputs"] if (folder / output).exists()]


@pytest.mark.parametrize("case", TABLE["damaged source"])
def test_a_damaged_source_is_refused(finished: Finished, case: str, tmp_path: Path):
    """The user's files: nothing is recorded of them, so a flipped bit may make another file that is as good."""
    sources = [Path(path) for path in finished.inputs(case) if os.path.isabs(path)]
    assert sources
    for source in sources:
        content = source.read_bytes()
        for how, left in (("cut off", content[: len(content) // 2]), ("emptied", b"")):
            folder = finished.before(case, tmp_path / f"{source.name} {how}")
            with finished.replaced(source, left):
                came = finished.run(case, folder)
            # The first may be had without; weights are opened by those that run the model, and refused then.
            if source.name in ("tokenizer_config.json", "model.safetensors") and came["status"] == 0:
                continue
            refused(came, str(source.parent))
            assert not [output for output in finished.job(case)["outputs"] if (folder / output).exists()]


@pytest.mark.parametrize("case", sorted(RUN_A_MODEL))
def test_weights_that_are_not_finite_give_no_result(finished: Finished, case: str, tmp_path: Path):
    folder = finished.before(case, tmp_path / "here")
    record = next((record for record in DECODERS if record in finished.inputs(case)), MODEL)
    model = Path(finished.place.config["models"][Path(record).stem]["source"]["folder"]) / "model.safetensors"
    weights = load(model.read_bytes())
    ends = ("layer.1.attention.self.value.weight", "layers.1.self_attn.v_proj.weight", "h.0.attn.c_attn.weight")
    name = next(name for name in weights if name.endswith(ends))
    key = name.replace("value", "key").replace("v_proj", "k_proj")
    weights[name][0, 0] = weights[key][0, 0] = np.nan
    content = save(weights, metadata={"format": "pt"})
    if record in finished.inputs(case):
        # As if the model had been found with these weights.
        found = json.loads((folder / record).read_text())
        found["weights"] = {model.name: hashlib.sha256(content).hexdigest()}
        made_otherwise(folder, record, json.dumps(found))
    with finished.replaced(model, content):
        came = finished.run(case, folder)
    refused(came, "tiny" if case != "finetune_model" else str(model.parent))
    assert re.search("finite|does not sum to one|is not a number", came["printed"])
    assert not [output for output in finished.job(case)["outputs"] if (folder / output).exists()]


@pytest.mark.parametrize("case", READ_TEXTS)
def test_an_empty_sample_is_refused(finished: Finished, case: str, tmp_path: Path):
    """A file of no rows that nothing is recorded of, as if it had been made so."""
    folder = finished.before(case, tmp_path / "here")
    (path,) = finished.job(case)["inputs"][READ_TEXTS[case]]
    made_otherwise(folder, path, "")
    came = finished.run(case, folder)
    refused(came, "no ")
    assert not [output for output in finished.job(case)["outputs"] if (folder / output).exists()]


@pytest.mark.parametrize("case", ["fetch_task", "fetch_training"])
def test_data_without_questions_are_refused(finished: Finished, case: str, tmp_path: Path):
    (source,) = map(Path, finished.inputs(case))
    folder = finished.before(case, tmp_path / "here")
    with finished.replaced(source, b'{"version": "1.1", "data": []}'):
        came = finished.run(case, folder)
    refused(came, str(source), "has no questions")


def unrelated(finished: Finished) -> list[dict[tuple[str, ...], set]]:
    """Outputs of a job of each rule, with those of the jobs that follow; in groups in which none follows another."""
    groups: list[dict[tuple[str, ...], set]] = []
    for case in (rule for rule in RULES if not rule.endswith("_shard")):
        outputs = tuple(finished.job(case)["outputs"])
        after = finished.after(set(outputs))
        apart = (group for group in groups if not after & group.keys() and outputs not in set().union(*group.values()))
        group = next(apart, None)
        if group is None:
            groups.append(group := {})
        group[outputs] = after
    return groups


def test_only_the_affected_jobs_run_again(finished: Finished, tmp_path: Path):
    """After a kill of the whole run, Snakemake plans the jobs that were running, and those that read what they make."""
    for number, group in enumerate(unrelated(finished)):
        place = finished.copied(tmp_path / str(number))
        mark_as_running(place.folder, [path for outputs in group for path in outputs])
        assert finished.runs_again(place) == group.keys() | set().union(*group.values())


@pytest.mark.parametrize(
    "merging", [["extract_features"], ["evaluate_condition", "measure_divergence"]], ids=lambda rules: rules[0]
)
def test_a_lost_shard_is_the_only_one_that_runs_again(finished: Finished, merging: list[str], tmp_path: Path):
    """With the merging of all shards, and what follows from that; together, where neither follows from the other."""
    cases = [f"{rule}, shared" for rule in merging]
    merged = {tuple(finished.job(case)["outputs"]) for case in cases}
    shards = [list(filter(is_shard, finished.inputs(case))) for case in cases]
    lost, outputs = [paths[0] for paths in shards], set().union(*merged)
    place = finished.copied(tmp_path / "here")
    for path in outputs:
        (place.folder / path).unlink()
    with place.configured({**place.config, "jobs": {"shards": 2}}):
        # Twice, since Snakemake removes them when it takes them as merged.
        place.touch(chain(*shards))
        take_as_made(place.folder, *outputs)
        place.touch(chain(*shards))
        for path in lost:
            (place.folder / path).unlink()
        mark_as_running(place.folder, lost)
        assert finished.runs_again(place) == {(path,) for path in lost} | merged | finished.after(outputs)


def test_a_deleted_result_is_made_again_with_what_follows(finished: Finished, tmp_path: Path):
    """What the sentence about a damaged result asks for."""
    place = finished.copied(tmp_path / "here")
    assert finished.runs_again(place) == set()
    outputs, refusing = (finished.job(case)["outputs"] for case in ("prepare_windows", "evaluate_condition"))
    for path in (*outputs, *refusing):
        (place.folder / path).unlink()
    assert finished.runs_again(place) == {tuple(outputs)} | finished.after(set(outputs))


def test_what_the_data_name_names_no_file(finished: Finished):
    """Ids of questions and titles of articles are data; `conftest.IDS` tries to get out with them."""
    folder = finished.place.folder
    names = {file.name for file in folder.rglob("*")} | {file.name for file in folder.parent.iterdir()}
    assert not [name for name in names if "escaped" in name]
    assert not os.path.exists("/tmp/escaped")
    written = (folder / "results/samples/animals.jsonl").read_text()
    assert sum(id_.replace("\n", "\\n") in written for id_ in IDS) == 5


def test_the_table_says_what_is_tested():
    text = (ROOT / "docs/lookup/reliability.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    faults = {cells[0]: cells for cells in rows if cells[0] in TABLE}
    assert list(faults) == list(TABLE)
    outputs = (ROOT / "docs/lookup/outputs.md").read_text(encoding="utf-8")
    lists = {what: re.search(f"^{what.capitalize()}: (.*)$", outputs, re.MULTILINE)[1] for what in LISTED}
    here = {name for name in globals() if name.startswith("test_")}
    for fault, (_, rules, *_, test) in faults.items():
        named = sorted(re.findall("`([a-z_]+)`", " ".join([rules, *(lists[what] for what in LISTED if what in rules)])))
        found = sorted(set(RULES) - set(named)) if rules.startswith("all") else named
        assert found == TABLE[fault], fault
        assert set(re.findall("`(test_[a-z_]+)`", test)) <= here, fault
