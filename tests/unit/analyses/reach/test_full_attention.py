"""Which key-value heads look far back: as defined on whole attention, and as DuoAttention and kvpress read it."""

import json

import numpy as np
import pytest

from headtypes.analyses.reach.full_attention import RULE, full_attention_heads, write_full_attention
from headtypes.analyses.reach.measure import measure_reach
from headtypes.analyses.reach.results import Reach, read_reach, write_reach
from headtypes.core.errors import InputError
from headtypes.data.records import Sample
from tests.support.models import plain_attentions, tiny_bert, tiny_language_model
from tests.support.records import recorded

TEXTS = [
    "the cat sat by the river and it was old",
    "a dog ran",
    "it saw the young dog under the old house by the river",
]
SAMPLES = [Sample(str(number), text, None) for number, text in enumerate(TEXTS)]
SETTINGS = {"task": "t", "kind": "text", "precision": "float32", "batch_tokens": 512}


def defined(attention: np.ndarray, sink: int, recent: int) -> np.ndarray:
    """The mean over queries that have a token beyond of the attention to such tokens, pair by pair [layer, head]."""
    rows = []
    for query in range(attention.shape[-1]):
        beyond = [key for key in range(sink, query + 1) if query - key >= recent]
        if beyond:
            rows.append(attention[:, :, query, beyond].sum(-1))
    return np.mean(rows, axis=0)


@pytest.mark.parametrize("name", ["llama", "gpt2", "mistral"])
@pytest.mark.parametrize(("sink", "recent"), [(1, 4), (0, 1), (2, 3)])
def test_the_share_beyond_is_that_of_whole_attention(name, sink, recent, tmp_path):
    model, tokenizer = tiny_language_model(name)
    record = recorded(model, tokenizer, tmp_path)
    reach = measure_reach(SAMPLES, record, sink_size=sink, recent_size=recent, **SETTINGS)
    texts = [tokenizer(text)["input_ids"] for text in TEXTS]
    long = [ids for ids in texts if len(ids) > sink + recent]
    assert len(reach.share) == len(long)
    assert len(long) < len(texts) or recent < 4
    for share, ids in zip(reach.share, long, strict=True):
        np.testing.assert_allclose(share, defined(plain_attentions(model, ids, None), sink, recent), atol=1e-5)
    assert (reach.kv_heads, reach.sink_size, reach.recent_size) == (4 if name == "gpt2" else 2, sink, recent)


def test_encoders_and_texts_that_are_too_short_are_refused(tmp_path):
    encoder = recorded(*tiny_bert(), tmp_path / "encoder")
    with pytest.raises(InputError, match=r"its tokens look ahead.* leave the model out of export.full_attention"):
        measure_reach(SAMPLES, encoder, sink_size=1, recent_size=2, **SETTINGS)
    decoder = recorded(*tiny_language_model("llama"), tmp_path / "decoder")
    with pytest.raises(InputError, match=r"no sample has more than 4 \+ 64 tokens.* lower export.recent_size"):
        measure_reach(SAMPLES, decoder, sink_size=4, recent_size=64, **SETTINGS)


def planted(samples: int = 40) -> Reach:
    """Two layers of three key-value heads for six heads of queries; of each pair, the second looks farther."""
    mean = np.array([[0.1, 0.9, 0.1, 0.2, 0.3, 0.5], [0.0, 0.1, 0.7, 0.75, 0.2, 0.497]])
    noise = np.random.default_rng(0).uniform(-0.02, 0.02, (samples, 2, 6))
    return Reach(np.clip(mean + noise, 0, 1).astype(np.float32), 3, 4, 64)


def test_a_key_value_head_has_the_score_of_the_head_that_looks_farthest():
    heads = full_attention_heads(planted(), seed=1)
    assert heads[["layer", "kv_head"]].to_numpy().tolist() == [list(each) for each in np.ndindex(2, 3)]
    assert heads["heads"].tolist() == ["1-1 1-2", "1-3 1-4", "1-5 1-6", "2-1 2-2", "2-3 2-4", "2-5 2-6"]
    np.testing.assert_allclose(heads["score"], [0.9, 0.2, 0.5, 0.1, 0.75, 0.497], atol=0.01)
    assert ((heads["low"] < heads["score"]) & (heads["score"] < heads["high"])).all()
    assert heads["full"].tolist() == [True, False, True, False, True, False]
    # Two scores are nearly the same, one on either side of the middle.
    assert (heads.loc[[0, 1, 3, 4], "keeps_side"] == 100).all()
    assert (heads.loc[[2, 5], "keeps_side"] < 100).all()
    alone = full_attention_heads(planted(samples=1), seed=1)
    assert alone[["low", "high", "keeps_side"]].isna().all(axis=None)


def test_the_files_are_as_duo_attention_and_kvpress_read_them(tmp_path):
    reach = planted()
    heads = full_attention_heads(reach, seed=1)
    pattern, config, table = (tmp_path / name for name in ("full_attention_heads.tsv", "config.json", "heads.csv"))
    write_full_attention(pattern, config, table, heads, {"sink_size": 4, "recent_size": 64, "rule": RULE})
    # Both programs do just this.
    scores = np.clip(np.loadtxt(pattern, dtype=float, delimiter="\t"), 0, 1)
    read = json.loads(config.read_text())
    assert scores.shape == (2, 3)
    np.testing.assert_allclose(scores.reshape(-1), heads["score"], atol=1e-9)
    assert (read["sink_size"], read["recent_size"]) == (4, 64)
    # kvpress: the lowest scores become streaming heads; DuoAttention: those from the middle on stay full.
    streaming = np.argsort(scores, axis=None)[: round(scores.size * 0.5)]
    assert sorted(streaming) == np.flatnonzero(~heads["full"]).tolist()
    assert (scores >= np.quantile(scores, 0.5)).reshape(-1).tolist() == heads["full"].tolist()


def test_reach_comes_back_from_its_file_and_damage_is_named(tmp_path):
    reach = planted()
    write_reach(tmp_path / "reach.h5", reach, {"rule": "r"})
    read = read_reach(tmp_path / "reach.h5")
    np.testing.assert_array_equal(read.share, reach.share)
    assert (read.kv_heads, read.sink_size, read.recent_size) == (3, 4, 64)
    (tmp_path / "reach.h5").write_bytes(b"no")
    with pytest.raises(InputError, match=r"reach.h5 is damaged or holds no reach of heads"):
        read_reach(tmp_path / "reach.h5")
