"""Heads of a loaded model, read and typed as the workflow does."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from transformers import AutoConfig, AutoModelForCausalLM

from headtypes.analyses.distances.measure import extract_features
from headtypes.analyses.distances.results import read_features, read_head_features
from headtypes.analyses.types.clustering import cluster_heads, partition_of
from headtypes.api.ablation import ablated
from headtypes.api.detecting import detect_heads
from headtypes.api.reading import head_types, read_heads
from headtypes.api.showing import show
from headtypes.attention.one_pass import ModelOnTask
from headtypes.core.errors import InputError
from headtypes.core.hdf5_files import write_arrays
from tests.support.models import QUESTIONS, tiny_bert, tiny_encoder, tiny_family, tiny_language_model
from tests.support.reading import measured
from tests.support.records import SAMPLES, recorded
from tests.support.tiny import bert_tokenizer


def test_features_and_types_are_those_of_the_workflow(tmp_path):
    model, tokenizer = tiny_bert(layers=4)
    record = recorded(model, tokenizer, tmp_path / "model")
    how = {"batch_tokens": 90}
    run = ModelOnTask(record, task="t", precision="float32", max_seq_length=30, **how)
    expected = measured(extract_features, run, SAMPLES, kind="question_answering")
    assert expected.truncated.any()
    found = read_heads(model, tokenizer, QUESTIONS, max_length=30, kind="question_answering", **how)
    # Two passes of one model may differ in the last bits; what is made of one set of features does not.
    np.testing.assert_allclose(found.distance, expected.distance, atol=1e-6)
    for name in ("length", "truncated"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    write_arrays(tmp_path / "features.h5", found, {})
    features, shape = read_head_features(tmp_path / "features.h5", 8)
    clustering = cluster_heads(features, method="kmeans", k=3, scale=True, restarts=4, seed=5)
    types = head_types(found, k=3, distance_bins=8, scale=True, restarts=4, seed=5)
    pd.testing.assert_frame_equal(types.table, partition_of(clustering, features, shape).table)
    assert head_types(read_features(tmp_path / "features.h5"), k=3).shape == (4, 5)


def test_the_model_is_as_before_and_texts_are_cut_to_what_it_takes():
    model, tokenizer = tiny_language_model("llama")
    features = read_heads(model, tokenizer, ["the cat sat", "a dog ran by the river " * 20])
    assert model.config._attn_implementation == "sdpa"
    assert features.length[1] == model.config.max_position_embeddings == 64
    assert features.truncated.tolist() == [False, True]
    np.testing.assert_allclose(features.distance.sum(-1), 1, atol=1e-5)


def test_the_first_token_takes_the_place_of_cls_where_there_is_none():
    model, tokenizer = tiny_language_model("gpt2")
    features = read_heads(model, tokenizer, ["the cat sat by the river", "a dog ran"])
    np.testing.assert_array_less(0, features.first.sum(-1))
    groups = {
        first_token: head_types(features, k=2, first_token=first_token).table["special"]
        for first_token in (True, False)
    }
    # There is neither a comma nor a period.
    assert (groups[False] == 0).all()
    np.testing.assert_allclose(groups[True], features.first.sum(-1).mean(0).ravel(), atol=1e-6)
    assert read_heads(*tiny_language_model("llama"), ["the cat sat"]).first is None


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ("the cat sat", "a list of at least one"),
        (["the cat sat", ("a dog ran", "the cat sat")], "two sorts in two calls"),
        ({"text": ["the cat sat"]}, "a list of at least one"),
        (pd.DataFrame({"the cat": ["a dog"]}), "a list of at least one, such as a column; found a DataFrame"),
        ({"the cat sat", "a dog ran"}, "a list of at least one, such as a column; found a set"),
        ((text for text in ["the cat sat"]), "a list of at least one, such as a column; found a generator"),
        (["the \ud83d cat"], r"Text 0 \(from 0\) has half a character"),
        ([("the", "cat", "sat")], r"neither a text nor two of them, but \('the', 'cat', 'sat'\)"),
    ],
)
def test_texts_that_cannot_be_read_as_they_are_given_are_refused(texts, said):
    with pytest.raises(InputError, match=said):
        read_heads(*tiny_bert(layers=1), texts)


@pytest.mark.parametrize("read", [read_heads, show], ids=["read_heads", "show"])
def test_a_model_that_would_be_read_wrongly_is_refused(read, monkeypatch):
    model, tokenizer = tiny_language_model("llama")
    texts = "the cat sat" if read is show else ["the cat sat"]
    with pytest.raises(InputError, match="it is that of another model"):
        read(model, bert_tokenizer([f"word{number}" for number in range(500)]), texts)
    prefix = SimpleNamespace(is_prompt_learning=True, peft_type=SimpleNamespace(value="PREFIX_TUNING"))
    monkeypatch.setattr(model, "active_peft_config", prefix, raising=False)
    with pytest.raises(InputError, match=r"prefix or prompt of peft \(PREFIX_TUNING\)"):
        read(model, tokenizer, texts)


def test_the_longest_text_is_what_the_workflow_takes_for_longest(tmp_path):
    """Some families number positions after the padding token's id."""
    model, tokenizer = tiny_family("roberta")
    tokenizer.model_max_length = 10**30
    features = read_heads(model, tokenizer, ["the cat sat by the river " * 40])
    assert features.length.tolist() == [recorded(model, tokenizer, tmp_path / "model").max_length]


def test_of_an_encoder_with_a_decoder_the_encoder_is_read():
    model, tokenizer = tiny_encoder("t5")
    whole, encoder = (read_heads(each, tokenizer, ["the cat sat", "it ran"]) for each in (model, model.get_encoder()))
    np.testing.assert_allclose(whole.distance, encoder.distance, atol=1e-6)
    assert whole.distance.shape[1:3] == (2, 4)


def test_a_model_without_attention_is_refused():
    _, tokenizer = tiny_language_model("gpt2")
    sizes = {"vocab_size": len(tokenizer), "hidden_size": 8, "num_hidden_layers": 2, "state_size": 4}
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model("mamba", **sizes)).eval()
    for read in (lambda: read_heads(model, tokenizer, ["the cat"]), ablated(model, {"1-1": "zero"}).__enter__):
        with pytest.raises(InputError, match=r"a mamba model has no attention heads; name a Transformer\."):
            read()


def test_no_logits_are_computed_where_attention_alone_is_read():
    model, tokenizer = tiny_language_model("llama")
    model.get_output_embeddings().register_forward_hook(lambda *called: pytest.fail("the head has run"))
    read_heads(model, tokenizer, ["the cat sat"])
    detect_heads(model, tokenizer, sequences=2, length=4)
