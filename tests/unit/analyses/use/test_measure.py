"""Whether a head is used: planted heads that find objects, which a model needs or not, are told apart."""

import numpy as np
import pandas as pd
import pytest

from headtypes.analyses.relations.measure import extract_arcs
from headtypes.analyses.use.found import find_heads
from headtypes.analyses.use.measure import measure_use
from headtypes.analyses.use.results import use_table
from tests.support.objects import FINDER, planted_decoder, sentences
from tests.support.records import recorded

HOW = {"task": "trees", "precision": "float32", "batch_tokens": 512}
LISTED = {"least": 20, "offsets": 3}


def table_of(folder, used: bool, parts) -> pd.DataFrame:
    record = recorded(*planted_decoder(used), folder / "model")
    arcs = extract_arcs(parts, record, subwords="mean", **HOW)
    losses = measure_use(parts, arcs, record, **LISTED, words=100, seed=1, **HOW)
    return use_table(list(find_heads(parts, arcs, **LISTED)), losses, least=0.01, found_seed=1, seed=1)


@pytest.mark.parametrize(("used", "verdict"), [(True, "found and used"), (False, "found and not used")])
def test_a_head_that_finds_objects_and_is_used_is_told_from_one_that_is_not(tmp_path, used, verdict):
    table = table_of(tmp_path, used, {"file": sentences(120)})
    objects = table[(table["relation"] == "obj") & (table["direction"] == "dependent_to_head")]
    assert objects["verdict"].tolist() == [verdict] * 2
    assert (objects[["layer", "head", "accuracy"]] == [0, FINDER, 100]).all(axis=None)
    assert (objects["above_low"] > 0).all()
    if used:
        # Of four particles one cannot be told from the others, without the verb.
        assert (objects["rise_low"] > 1).all()
    else:
        np.testing.assert_allclose(objects[["rise", "above_arcs", "above_heads"]], 0, atol=1e-6)
    # In a decoder, subjects do not see their verbs, and verbs not their objects.
    assert set(zip(table["relation"], table["direction"], strict=True)) >= {("nsubj", "head_to_dependent")}
    assert not ((table["relation"] == "nsubj") & (table["direction"] == "dependent_to_head")).any()
