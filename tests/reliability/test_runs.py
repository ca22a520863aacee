"""Runs that are killed, that find no room, or that meet another run or a damaged file, and what comes of them."""

import contextlib
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.reliability.conftest import FEATURES, PARTITION, RESULTS, TARGETS, Place
from tests.support.commands import job_counts, run
from tests.support.workplace import copy_workflow


def mounts_allowed() -> bool:
    probe = ["unshare", "--mount", "sh", "-c", "mount -t tmpfs none /tmp"]
    try:
        return subprocess.run(probe, capture_output=True).returncode == 0
    except OSError:
        return False


@contextlib.contextmanager
def small_disk(folder: Path, megabytes: int):
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}M", "none", folder], check=True)
    try:
        yield
    finally:
        # What has been killed a moment ago may still hold a file.
        subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.mark.parametrize(
    ("job_alone", "numbers"),
    [
        (False, [4]),
        pytest.param(False, [2, 6], marks=pytest.mark.slow),
        pytest.param(True, [2, 6], marks=pytest.mark.slow),
    ],
)
def test_after_kills_nothing_is_lost_nothing_stale_and_nothing_half_written(undisturbed, place, job_alone, numbers):
    """Killed once so many results are there; what had been finished before a kill is not made again."""
    finished: dict[str, int] = {}
    for number in numbers:
        run = place.started()
        place.until(run, lambda: len(place.records()) >= number)  # noqa: B023
        place.kill(run, job_alone)
        assert finished.items() <= (finished := place.finished()).items()
        place.snakemake("--unlock", *TARGETS)
    place.finish()
    assert place.findings(undisturbed) == []


@pytest.mark.slow
def test_an_edit_after_a_kill_leaves_nothing_of_the_old_config(place, config, tmp_path):
    run = place.started()
    place.until(run, lambda: (place.path / PARTITION).exists())
    place.kill(run)
    edited = {**config, "clustering": {**config["clustering"], "distance_bins": 8}}
    place.configure(edited)
    place.finish()
    fresh = Place.at(tmp_path / "fresh", edited)
    fresh.make(*RESULTS)
    assert place.findings(fresh) == []


@pytest.mark.slow
def test_new_code_that_changes_no_number_is_accepted_and_the_record_says_that_nothing_was_computed(tmp_path):
    folder, target = tmp_path / "place", "results/samples/news.jsonl"
    copy_workflow(folder, "commands")
    (folder / "news.txt").write_text("One.\n\nTwo.\n\nThree.\n\nFour.\n")
    task = {"kind": "text", "source": {"file": "news.txt"}, "samples": 2}
    config = {"tasks": {"news": task}, "models": {"one": {"source": {"hub": "some/one"}, "tasks": ["news"]}}}
    (folder / "config.yaml").write_text(json.dumps(config))

    def record() -> dict:
        return json.loads((folder / "results/provenance/samples/news.jsonl.json").read_text())

    def planned() -> set[str]:
        return job_counts(run(["-m", "snakemake", "-n", "--quiet", "rules", "--", target], folder)).keys() - {"total"}

    def edit(text: str) -> None:
        with open(folder / "workflow_scripts/headtypes/data/encoding.py", "a") as module:
            module.write(f"{text}\n")

    run(["-m", "snakemake", "--cores", "1", "--", target], folder)
    made = record()
    edit("NOTHING = 1")
    assert planned() == {"fetch_task", "sample_inputs"}
    assert "Accepted: 3 results" in run(["commands/audit.py", "--accept"], folder, check=False)
    assert planned() == set()
    assert "stale" not in run(["commands/audit.py"], folder, check=False)
    assert record() == {**made, "accepted": record()["accepted"]}
    # Not where something else has changed as well.
    edit("NOTHING = 2")
    (folder / "config.yaml").write_text(json.dumps({**config, "seed": 7}))
    assert "Accepted" not in run(["commands/audit.py", "--accept"], folder, check=False)
    assert planned() == {"fetch_task", "sample_inputs"}


@pytest.mark.slow
@pytest.mark.skipif(not mounts_allowed(), reason="file systems cannot be mounted here")
def test_a_full_disk_is_told_and_the_same_command_goes_on(undisturbed, tmp_path, config):
    (tmp_path / "disk").mkdir()
    with small_disk(tmp_path / "disk", megabytes=16):
        place = Place.at(tmp_path / "disk", config)
        run = place.started()
        place.until(run, lambda: len(place.records()) >= 2)
        with open(place.path / "ballast", "wb", buffering=0) as ballast, contextlib.suppress(OSError):
            while True:
                ballast.write(bytes(1 << 12))
        assert run.wait(600) != 0
        assert "No space left on device" in place.printed()
        (place.path / "ballast").unlink()
        place.finish()
        assert place.findings(undisturbed) == []


@pytest.mark.slow
def test_a_second_run_in_the_folder_is_refused_and_the_first_one_goes_on(undisturbed, place):
    first = place.started()
    place.until(first, lambda: len(place.records()) >= 1)
    assert re.search("in use by|cannot be locked", place.snakemake(*TARGETS, check=False))
    assert first.wait(600) == 0, place.printed()
    assert place.findings(undisturbed) == []


@pytest.mark.slow
def test_a_damaged_result_is_refused_and_made_again_once_it_is_deleted(undisturbed, place):
    shutil.copytree(undisturbed.path / "results", place.path / "results")
    file = place.path / FEATURES
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 0x10
    file.write_bytes(content)
    (place.path / PARTITION).unlink()
    printed = place.snakemake("--rerun-triggers", "params", *TARGETS, check=False)
    assert f"{FEATURES} was damaged or changed since it was made" in printed
    assert "delete" in printed
    assert not (place.path / PARTITION).exists()
    file.unlink()
    place.finish()
    assert place.findings(undisturbed) == []
