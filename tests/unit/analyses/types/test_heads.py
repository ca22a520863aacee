"""Exported lists of heads and masks hold every head once, as other programs read them."""

import json

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file

from headtypes.analyses.types.clustering import cluster_heads, partition_of
from headtypes.analyses.types.confidence import head_confidence
from headtypes.analyses.types.export import (
    head_table,
    read_confidence,
    read_doubts,
    write_head_list,
    write_masks,
)
from headtypes.analyses.types.partitions import build_partition
from headtypes.core.errors import InputError
from headtypes.core.files import write_json
from headtypes.core.table_files import write_csv

SHAPE = (3, 4)
CLUSTERING = {"method": "kmeans", "k": 4, "scale": False, "restarts": 5}
PROVENANCE = {"rule": "export_heads", "code": "c"}


@pytest.fixture(scope="module")
def by_sample():
    """Features of twelve heads on six samples: near, special, far and mixed."""
    rng = np.random.default_rng(0)
    features = rng.dirichlet(np.full(21, 0.3), size=(6, 12))
    features[:, :3, 0] += 9
    features[:, 3:6, 18] += 9
    features[:, 6:9, 5] += 9
    return (features / features.sum(-1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def clustering(by_sample):
    return cluster_heads(by_sample.mean(0), **CLUSTERING, seed=1)


@pytest.fixture(scope="module")
def partition(by_sample, clustering):
    return partition_of(clustering, by_sample.mean(0), SHAPE)


@pytest.fixture(scope="module")
def confidence(by_sample, partition):
    table, _ = head_confidence(by_sample, partition, CLUSTERING, seed=2, resamples=20, clusterings=8)
    return table


def test_the_list_names_every_head_with_its_type_and_how_certain_it_is(partition, clustering, confidence, tmp_path):
    shuffled = confidence.sample(frac=1, random_state=0)
    write_csv(tmp_path / "confidence.csv", shuffled)
    write_json(tmp_path / "naming.json", clustering.naming.as_dict())
    table = head_table(partition, read_confidence(tmp_path / "confidence.csv"))
    about = {"model": "m", "task": "t", "partition": "p"}
    write_head_list(tmp_path / "heads.json", table, read_doubts(tmp_path / "naming.json"), about, PROVENANCE)
    read = json.loads((tmp_path / "heads.json").read_text())
    assert {key: read[key] for key in about} == about
    assert (read["layers"], read["heads_per_layer"], read["provenance"]) == (*SHAPE, PROVENANCE)
    assert [(each["layer"], each["head"]) for each in read["heads"]] == list(np.ndindex(SHAPE))
    doubts = dict(zip(clustering.naming.names, clustering.naming.doubts, strict=True))
    assert any(doubts.values())
    assert not all(doubts.values())
    for number, each in enumerate(read["heads"]):
        assert each["name"] == f"{each['layer'] + 1}-{each['head'] + 1}"
        assert each["type"] == partition.type_of[each["layer"], each["head"]]
        assert each["doubtful"] == bool(doubts[each["type"]])
        assert each["keeps_type_percent"] == {
            kind: pytest.approx(confidence.loc[number, f"keeps_type_{kind}"]) for kind in ("samples", "seeds")
        }
        assert each["near"] + each["special"] + each["far"] == pytest.approx(1, abs=1e-5)
    for name, about_type in read["types"].items():
        heads = [each for each in read["heads"] if each["type"] == name]
        assert about_type == {"heads": len(heads), "doubtful": bool(doubts[name]), "doubt": doubts[name]}


def test_an_imported_partition_says_that_nothing_is_known_of_its_certainty(by_sample, tmp_path):
    types = np.resize(np.array(["a", "b"], dtype=object), 12)
    settings = {"cluster": np.zeros(12, int), "types": types, "silhouette": np.full(12, np.nan), "doubtful": False}
    table = head_table(build_partition(by_sample.mean(0), SHAPE, **settings))
    write_head_list(tmp_path / "heads.json", table, {}, {}, PROVENANCE)
    head = json.loads((tmp_path / "heads.json").read_text())["heads"][5]
    assert (head["keeps_type_percent"], head["silhouette"]) == ({"samples": None, "seeds": None}, None)


def test_the_table_is_that_of_the_list(partition, confidence, tmp_path):
    table = head_table(partition, confidence)
    write_csv(tmp_path / "heads.csv", table)
    read = pd.read_csv(tmp_path / "heads.csv")
    pd.testing.assert_frame_equal(read, table, check_dtype=False, rtol=1e-6)
    assert list(read)[:5] == ["name", "layer", "head", "type", "doubtful"]


def test_masks_are_boolean_tensors_that_divide_the_heads(partition, tmp_path):
    write_masks(tmp_path / "masks.safetensors", partition, PROVENANCE)
    masks = load_file(tmp_path / "masks.safetensors")
    assert set(masks) == set(partition.types)
    for name, mask in masks.items():
        assert (mask.dtype, mask.shape) == (torch.bool, SHAPE)
        np.testing.assert_array_equal(mask.numpy(), partition.type_of == name)
    assert torch.stack(list(masks.values())).sum(0).eq(1).all()
    with safe_open(tmp_path / "masks.safetensors", "np") as file:
        assert json.loads(file.metadata()["provenance"]) == PROVENANCE


@pytest.mark.parametrize(("read", "name"), [(read_confidence, "confidence.csv"), (read_doubts, "naming.json")])
def test_damaged_inputs_are_named(read, name, tmp_path):
    (tmp_path / name).write_text('{"layer": 1}\n')
    with pytest.raises(InputError, match=f"{name} is damaged or holds no"):
        read(tmp_path / name)
