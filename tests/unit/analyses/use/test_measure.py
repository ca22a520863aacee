"""Whether a head is used: planted heads that find objects, which a model needs or not, are told apart."""

import numpy as np
import pandas as pd
import pytest

from headtypes.analyses.outputs.measure import measure_outputs
from headtypes.analyses.outputs.results import COLUMNS
from headtypes.analyses.relations.measure import extract_arcs
from headtypes.analyses.use.found import find_heads
from headtypes.analyses.use.measure import measure_use
from headtypes.analyses.use.results import use_table
from headtypes.data.records import Sample
from tests.support.objects import FINDER, planted_decoder, sentences
from tests.support.records import recorded

HOW = {"task": "trees", "precision": "float32", "batch_tokens": 512}
LISTED = {"least": 20, "offsets": 3}


def table_of(record, parts) -> pd.DataFrame:
    arcs = extract_arcs(parts, record, subwords="mean", **HOW)
    losses = measure_use(parts, arcs, record, **LISTED, words=100, seed=1, **HOW)
    return use_table(list(find_heads(parts, arcs, **LISTED)), losses, least=0.01, found_seed=1, seed=1)


def written_by_finder(record) -> float:
    """What the head that finds objects writes, of the residual stream."""
    texts = [" ".join(("", *sentence.words)) for sentence in sentences(2)]
    outputs = measure_outputs([Sample("0", *texts)], record, kind="text", segment_ids="pair", **HOW)
    return outputs.written[0, 0, FINDER, COLUMNS.index("written")]


@pytest.mark.parametrize(
    ("written", "verdict"),
    [("read", "found and used"), ("unread", "found and not used"), ("nothing", "found and not used")],
)
def test_a_head_that_finds_objects_and_is_used_is_told_from_one_that_is_not(tmp_path, written, verdict):
    record = recorded(*planted_decoder(written), tmp_path / "model")
    assert (written_by_finder(record) > 0) == (written != "nothing")
    table = table_of(record, {"file": sentences(120)})
    objects = table[(table["relation"] == "obj") & (table["direction"] == "dependent_to_head")]
    assert objects["verdict"].tolist() == [verdict] * 2
    assert (objects[["layer", "head", "accuracy"]] == [0, FINDER, 100]).all(axis=None)
    assert (objects["above_low"] > 0).all()
    if written == "read":
        # Of four particles one cannot be told from the others, without the verb.
        assert (objects["rise_low"] > 1).all()
    else:
        np.testing.assert_allclose(objects[["rise", "above_arcs", "above_heads"]], 0, atol=1e-6)
    # In a decoder, subjects do not see their verbs, and verbs not their objects.
    assert set(zip(table["relation"], table["direction"], strict=True)) >= {("nsubj", "head_to_dependent")}
    assert not ((table["relation"] == "nsubj") & (table["direction"] == "dependent_to_head")).any()
