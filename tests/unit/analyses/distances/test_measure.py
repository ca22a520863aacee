"""Features of a task: whole, or from parts that are merged, the same bytes."""

import pytest

from headtypes.analyses.distances.measure import extract_features, write_task_features
from headtypes.analyses.distances.results import write_features
from tests.support.models import tiny_bert
from tests.support.records import recorded, shortened_samples

SETTINGS = {"task": "squad", "kind": "question_answering", "precision": "float32", "batch_tokens": 60}
SAMPLES = shortened_samples(3)


@pytest.mark.parametrize("shards", [2, 3, 40])
def test_parts_that_are_merged_are_the_whole(shards, tmp_path):
    record = recorded(*tiny_bert(), tmp_path / "model")
    whole, merged = tmp_path / "whole.h5", tmp_path / "merged.h5"
    write_task_features(whole, SAMPLES, record, [], {"rule": "extract_features"}, **SETTINGS)
    parts = [tmp_path / f"{shard}.h5" for shard in range(shards)]
    for shard, part in enumerate(parts):
        features = extract_features(SAMPLES, record, part=[shard, shards], **SETTINGS)
        assert len(features.sample_ids) == len(features.distance) < len(SAMPLES)
        write_features(part, features, {})
    write_task_features(merged, SAMPLES, record, parts, {"rule": "extract_features"}, **SETTINGS)
    assert merged.read_bytes() == whole.read_bytes()
