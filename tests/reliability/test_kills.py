"""A run that is killed at random moments, then goes on: `benchmarks/kills.py` with few kills."""

import shutil
import subprocess
from contextlib import nullcontext
from functools import cache
from pathlib import Path

import pytest

from benchmarks.kill_places import Host, Place, cut_power, disk, other_host, power_again
from benchmarks.kills import DISKS, WAYS, Round, configs
from tests.reliability.disks import mounts_allowed
from tests.support.warm import python

# The model is fine-tuned, read and clustered.
PARTITION = "results/partitions/made/animals-kmeans-k4.csv"


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> tuple[list[dict], list[Path]]:
    """Two configs, and a folder for each in which a run made everything undisturbed."""
    folder = tmp_path_factory.mktemp("kills")
    choices = configs(folder / "inputs")
    places = [
        Place(folder / f"reference-{number}", config, (PARTITION,), python()) for number, config in enumerate(choices)
    ]
    for place in places:
        place.finish()
    return choices, [place.folder for place in places]


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory) -> Host:
    """Another host than this one, where file systems can be mounted."""
    within = other_host("node7", tmp_path_factory.mktemp("elsewhere"))
    return Host(python(*within), within)


@cache
def ext4_allowed(folder: Path) -> bool:
    """Whether a file can be mounted as a disk here, whose power can be cut."""
    try:
        with disk("ext4", folder):
            cut_power(folder)
        return True
    except (OSError, subprocess.CalledProcessError):
        return False


@pytest.fixture
def needs(tmp_path_factory):
    """Skips a test of a way for which something is not allowed here."""

    def check(way: str) -> None:
        if way in ("disk", "node", "beside") and not mounts_allowed():
            pytest.skip("file systems cannot be mounted here")
        if way == "machine" and not ext4_allowed(tmp_path_factory.getbasetemp() / "probe"):
            pytest.skip("a file cannot be mounted as a disk here")

    return check


@pytest.mark.parametrize("way", WAYS)
def test_after_kills_nothing_is_lost_and_nothing_stale(undisturbed, needs, request, tmp_path, way):
    needs(way)
    choices, references = undisturbed
    folder = tmp_path / "place"
    with disk(DISKS[way], folder) if way in DISKS else nullcontext():
        place = Place(folder, choices[0], (PARTITION,), python())
        hosts = (place.here, request.getfixturevalue("elsewhere")) if way in ("node", "beside") else ()
        # With this seed, jobs of `node` are at work when they are killed.
        played = Round(place, way, 23, 3, hosts)
        played.play(2, choices, references)
    assert played.counts["kills"] == 2
    assert played.found == []
    # Each kill on the other host holds back the next run here, which says what to delete. Of two runs that begin side
    # by side, the one that is left may have ended before.
    assert played.counts["refused"] >= (way == "node")


def test_a_power_cut_takes_nothing_by_which_an_edit_is_noticed(undisturbed, needs, tmp_path):
    """Results were on the disk, and Snakemake's records of what made them were not."""
    needs("machine")
    choices, references = undisturbed
    folder = tmp_path / "place"
    with disk("ext4", folder):
        place = Place(folder, choices[0], (PARTITION,), python())
        place.finish()
        cut_power(folder)
        power_again(folder)
        assert place.findings(references[0]) == []
        place.configure(choices[1])
        place.finish()
        assert place.findings(references[1]) == []


def test_what_came_out_otherwise_is_found(undisturbed, tmp_path):
    choices, references = undisturbed
    shutil.copytree(references[0], tmp_path / "place")
    place = Place(tmp_path / "place", choices[0], (PARTITION,), python())
    file = place.folder / PARTITION
    file.write_text(file.read_text().replace("dense", "diagonal", 1))
    found = "\n".join(place.findings(references[0]))
    assert f"{Path(PARTITION).relative_to('results')} differs" in found
    assert f"damaged  {PARTITION}" in found
