"""Heads of a loaded model are read, typed, tested and shown as the workflow does; `import headtypes` has these."""

import json
import re
import subprocess
import sys
from io import BytesIO
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from transformers import AutoConfig, AutoModelForCausalLM

import headtypes
from headtypes.analyses.detectors.measure import detector_table, measure_detectors
from headtypes.analyses.distances.features import read_features, read_head_features
from headtypes.analyses.distances.measure import extract_features
from headtypes.analyses.types.clustering import cluster_heads, partition_of
from headtypes.api.ablation import ablated
from headtypes.api.reading import detect_heads, head_types, read_heads, show
from headtypes.attention.one_pass import ModelOnTask
from headtypes.core.errors import InputError
from headtypes.core.hdf5_files import write_arrays
from headtypes.data.encoding import encode_samples
from headtypes.data.tasks import Sample
from headtypes.pages.atlas.live import Live
from headtypes.pages.atlas.page import page_of
from tests.support.atlases import attention_in, unpacked
from tests.support.browser import browser, opened
from tests.support.drawing import check_lettering, texts
from tests.support.models import QUESTIONS, plain_attentions, tiny_bert, tiny_encoder, tiny_family, tiny_language_model
from tests.support.places import SCRIPTS
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


@pytest.mark.parametrize("name", ["bert", "llama"])
def test_the_table_is_that_of_the_workflow(name, tmp_path):
    model, tokenizer = tiny_bert() if name == "bert" else tiny_language_model(name)
    before = model.config._attn_implementation
    found = detect_heads(model, tokenizer, sequences=6, length=8, least=0.05, seed=3)
    assert model.config._attn_implementation == before
    record = recorded(model, tokenizer, tmp_path)
    scores = measure_detectors(record, sequences=6, length=8, seed=3, precision="float32", batch_tokens=4096)
    pd.testing.assert_frame_equal(found, detector_table(scores, least=0.05), atol=1e-6)


TEXTS = ("The old cat sat by the river.", "A dog was under the house.")


@pytest.mark.parametrize("second", [None, TEXTS[1]])
def test_the_map_is_the_models_attention_with_its_tokens(second):
    model, tokenizer = tiny_bert()
    found = headtypes.attention_map(model, tokenizer, TEXTS[0], second, layer=2, head=3)
    encoded = encode_samples([Sample("", TEXTS[0], second)], tokenizer, "sentence_pair", 64)
    expected = plain_attentions(model, encoded.input_ids[0], encoded.token_types[0])[2, 3]
    np.testing.assert_allclose(found.attention, expected, atol=1e-6)
    assert found.tokens[0] == "[CLS]"
    assert len(found.tokens) == len(expected)
    check_lettering(found.figure())
    assert {"head 3-4", "[SEP]"} <= set(texts(found.figure()))
    # Dark where the head looks: the picture is that of the array.
    assert Image.open(BytesIO(found._repr_png_())).size[0] > 200
    np.testing.assert_array_equal(found.figure().axes[0].images[0].get_array(), found.attention)


def test_of_a_decoder_it_looks_back_alone():
    model, tokenizer = tiny_language_model("gpt2")
    found = headtypes.attention_map(model, tokenizer, "the cat sat by the river", layer=0, head=1)
    np.testing.assert_array_equal(np.triu(found.attention, 1), 0)
    np.testing.assert_allclose(found.attention.sum(axis=1), 1, atol=1e-5)


DATA = re.compile(r'<script type="[a-z/]+" id="[^"]*">(.*?)</script>')


def parts_of(html: str) -> tuple[str, dict, list[str]]:
    """A page without its data, its data, and what of these is packed."""
    data, *packed = DATA.findall(html)
    return DATA.sub("", html), json.loads(data), packed


def test_the_page_is_that_of_the_command(tmp_path):
    model, tokenizer = tiny_bert()
    page = headtypes.show(model, tokenizer, *TEXTS)
    record = recorded(model, tokenizer, tmp_path)
    data = Live(record, {}, precision="float32", distance_bins=16).read(*TEXTS, [])
    del data["answers"]
    written = page_of(data, {"model": "BertForQuestionAnswering", "text": [*TEXTS]})
    pages = (html.replace("BertForQuestionAnswering", record.name) for html in (page.html, written))
    without_data, known, packed = zip(*map(parts_of, pages), strict=True)
    # The two passes may differ in the last bits, and so each number in the last digit that a page keeps of it: the
    # fourth of a feature, a 255th of the largest of its row in a map, a 65535th of a length.
    np.testing.assert_allclose(*(each["features"].pop("values") for each in known), rtol=2e-3)
    length = len(known[0]["samples"][0]["tokens"])
    maps, lengths = zip(*packed, strict=True)
    np.testing.assert_allclose(*(attention_in(each, 3, 5, length) for each in maps), atol=1 / 255)
    np.testing.assert_allclose(*(np.frombuffer(unpacked(each), "<u2").astype(int) for each in lengths), atol=1)
    assert known[0] == known[1]
    assert without_data[0] == without_data[1]


def test_a_notebook_shows_the_heads_by_type(tmp_path):
    model, tokenizer = tiny_bert()
    types = headtypes.head_types(headtypes.read_heads(model, tokenizer, TEXTS[:1]), k=2)
    page = headtypes.show(model, tokenizer, TEXTS[0], partition=types)
    cell = tmp_path / "cell.html"
    cell.write_text(f"<!doctype html>{page._repr_html_()}", encoding="utf-8")
    page.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page.html
    with browser() as chromium, opened(chromium, cell, 1000) as notebook:
        shown = notebook.frame_locator("iframe")
        shown.get_by_text("15 heads").wait_for()
        count = len(types.heads_of("type-1"))
        assert shown.get_by_text(f"type-1 {count}", exact=False).count()


def test_the_package_loads_nothing_until_it_is_asked_and_no_snakemake_then():
    code = """
import sys
sys.modules["snakemake"] = None
import headtypes
assert "torch" not in sys.modules
headtypes.ablated
assert "torch" in sys.modules
print([name for name in sys.modules if name.startswith("headtypes.planning")])
"""
    run = subprocess.run([sys.executable, "-c", code], cwd=SCRIPTS, capture_output=True, text=True, check=True)
    # Then what is called, and nothing that plans or needs Snakemake.
    assert run.stdout == "[]\n"
    assert {name for name in headtypes.__all__ if callable(getattr(headtypes, name))} == set(headtypes.__all__)
    assert set(headtypes.__all__) < set(dir(headtypes))
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        headtypes.__getattr__("nothing")
