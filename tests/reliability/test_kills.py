"""A run that is killed at random moments, then goes on: `benchmarks/kills.py` with few kills."""

from pathlib import Path

import pytest

from benchmarks.kills import WAYS, Place, configs, play
from tests.support.warm import python

# The model is fine-tuned, read and clustered.
TARGETS = ("results/partitions/made/animals-kmeans-k4.csv",)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> tuple[dict, Path]:
    folder = tmp_path_factory.mktemp("kills")
    config = configs(folder / "inputs")[0]
    place = Place(folder / "reference", config, TARGETS, python())
    place.finish()
    return config, place.folder


@pytest.mark.parametrize("way", WAYS)
def test_after_kills_nothing_is_lost_and_nothing_stale(undisturbed, tmp_path, way):
    config, reference = undisturbed
    place = Place(tmp_path / "place", config, TARGETS, python())
    came = play(place, way, 2, 7, 3, [config], [reference])
    assert came["kills"] == 2
    assert came["found"] == []
    # What would be found if a result had come out otherwise.
    file = place.folder / "results/partitions/made/animals-kmeans-k4.csv"
    file.write_text(file.read_text().replace("dense", "diagonal", 1))
    found = "\n".join(place.findings(reference))
    assert "partitions/made/animals-kmeans-k4.csv differs" in found
    assert "damaged  results/partitions/made/animals-kmeans-k4.csv" in found
