"""What is handed to functions of Python by mistake is refused with a sentence that says what to hand over."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from headtypes.api.ablation import ablated
from headtypes.api.detecting import detect_heads
from headtypes.api.reading import head_types, read_heads
from headtypes.api.showing import show
from headtypes.core.errors import InputError
from tests.support.models import tiny_bert, tiny_language_model
from tests.support.tiny import bert_tokenizer

TEXT = "The old cat sat by the river."


@pytest.fixture(scope="module")
def bert():
    return tiny_bert()


READERS = {
    "read_heads": lambda model, tokenizer: read_heads(model, tokenizer, [TEXT]),
    "show": lambda model, tokenizer: show(model, tokenizer, TEXT),
    "detect_heads": lambda model, tokenizer: detect_heads(model, tokenizer, sequences=2, length=4),
}


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_a_model_with_a_prefix_is_refused_where_the_bare_one_would_be_read(read, monkeypatch):
    model, tokenizer = tiny_language_model("llama")
    prefix = SimpleNamespace(is_prompt_learning=True, peft_type=SimpleNamespace(value="PREFIX_TUNING"))
    monkeypatch.setattr(model, "active_peft_config", prefix, raising=False)
    with pytest.raises(InputError, match=r"prefix or prompt of peft \(PREFIX_TUNING\)"):
        read(model, tokenizer)


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_what_is_no_model_or_tokenizer_is_refused(bert, read):
    model, tokenizer = bert
    larger = bert_tokenizer([f"word{number}" for number in range(500)])
    for wrong, why in (
        ((model, "bert-base-uncased"), "The tokenizer is a str; give a fast one"),
        (("bert-base-uncased", tokenizer), "The model is a str; give one that from_pretrained"),
        ((torch.nn.DataParallel(model), tokenizer), "in a DataParallel, .*; give model.module"),
        ((torch.compile(model), tokenizer), "was compiled by torch.compile; give the model as it was"),
        ((model, larger), "it is that of another model"),
    ):
        with pytest.raises(InputError, match=why):
            read(*wrong)


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda model, tokenizer: read_heads(model, tokenizer, [TEXT, " "]), r"Text 1 \(from 0\) is empty"),
        (lambda model, tokenizer: detect_heads(model, tokenizer, sequences=0), "sequences: .*greater than or equal"),
        (lambda model, tokenizer: read_heads(model, tokenizer, [TEXT], max_length=1000), "takes 64 tokens at most"),
        (lambda model, tokenizer: head_types(read_heads(model, tokenizer, [TEXT]), k=0), "k: .*greater than or equal"),
        (lambda model, tokenizer: ablated(model, {(0, 0): "zero"}).__enter__(), "operations: .*valid string"),
    ],
)
def test_an_argument_that_cannot_be_is_named(bert, call, why):
    with pytest.raises(InputError, match=why):
        call(*bert)


@pytest.mark.parametrize("wrong", [lambda ids, mask: np.zeros(3, int), lambda ids, mask: np.zeros(tuple(ids.shape))])
def test_sentences_of_a_wrong_shape_or_kind_are_refused(bert, wrong):
    model, tokenizer = bert
    with (
        pytest.raises(InputError, match="has to return the sentence of each token, whole numbers"),
        ablated(model, {"1-1": "drop_intra"}, sentences=wrong),
    ):
        model(**tokenizer(TEXT, return_tensors="pt"))


def test_leaving_waits_for_the_calls_of_other_threads(bert):
    """Else such a call would end as that of the plain model, without a word."""
    model, tokenizer = bert
    inputs, outputs = tokenizer(TEXT, return_tensors="pt"), {}
    within, goes_on = threading.Event(), threading.Event()

    def slowly(attention, rows):
        within.set()
        goes_on.wait(0.5)
        return attention * 0

    def call():
        with torch.inference_mode():
            outputs["thread"] = model(**inputs)[0]

    with torch.inference_mode(), ablated(model, {f"{layer}-1": lambda a, rows: a * 0 for layer in (1, 2)}):
        expected = model(**inputs)[0]
    with ablated(model, {"1-1": slowly, "2-1": slowly}):
        thread = threading.Thread(target=call)
        thread.start()
        within.wait()
    goes_on.set()
    thread.join()
    torch.testing.assert_close(outputs["thread"], expected)


def test_a_call_that_fails_does_not_keep_the_block_from_being_left(bert):
    model, tokenizer = bert
    with pytest.raises(ZeroDivisionError), torch.inference_mode(), ablated(model, {"1-1": lambda a, rows: 1 / 0}):
        model(**tokenizer(TEXT, return_tensors="pt"))
