"""What the five functions refuse, by the name of the argument, before anything is computed."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import headtypes
from headtypes import ablated, detect_heads, head_types, read_heads, show
from headtypes.attention.operations import Reading
from headtypes.core.errors import InputError
from tests.support.models import state, tiny_bert, tiny_language_model
from tests.support.planted import typed

TEXTS = ["the cat sat by the river", "a dog ran"]
MODEL, TOKENIZER = tiny_bert()
FEATURES = read_heads(MODEL, TOKENIZER, TEXTS)
READ = {
    "read_heads": lambda model, tokenizer, **how: read_heads(model, tokenizer, TEXTS, **how),
    "detect_heads": lambda model, tokenizer, length=4, **how: detect_heads(model, tokenizer, length=length, **how),
    "show": lambda model, tokenizer, **how: show(model, tokenizer, TEXTS[0], **how),
}


@pytest.mark.parametrize(
    ("function", "given", "said"),
    [
        ("read_heads", {"max_length": 0}, "max_length should be greater than 0; found 0"),
        ("read_heads", {"max_length": 65}, "max_length is 65, but the model takes 64 tokens at most"),
        ("read_heads", {"norms": "no"}, "norms should be a valid boolean; found 'no'"),
        ("read_heads", {"kind": "sentence pair"}, "kind should be 'question_answering', 'sentence_pair'"),
        ("detect_heads", {"length": 0}, "length should be greater than or equal to 4; found 0"),
        ("detect_heads", {"length": 2}, "length should be greater than or equal to 4; found 2"),
        ("detect_heads", {"least": np.nan}, "least should be less than or equal to 1; found nan"),
        ("show", {"partition": typed([["a", "b"]])}, "The partition is of 1 layers of 2 heads, but the model"),
        ("show", {"partition": "types.csv"}, "partition should be an instance of Partition; found 'types.csv'"),
    ],
)
def test_a_reading_that_cannot_be_is_refused_before_it_begins(function, given, said):
    with pytest.raises(InputError, match=said):
        READ[function](MODEL, TOKENIZER, **given)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"method": "foo"}, "method should be 'kmeans', 'gmm'"),
        *(({"k": k}, f"k should be (greater than 0|a valid integer); found {k}") for k in (0, -1, 2.0, True)),
        ({"seed": -1}, "seed should be greater than or equal to 0; found -1"),
        ({"distance_bins": 5}, "distance_bins should be 1, 2, 4, 8, 16, 32 or 64; found 5"),
        ({"features": replace(FEATURES, distance=FEATURES.distance * np.nan)}, "features are not finite"),
        ({"features": FEATURES.distance}, "features should be an instance of Features; found a ndarray"),
    ],
)
def test_a_division_that_cannot_be_is_refused(given, said):
    with pytest.raises(InputError, match=said):
        head_types(**{"features": FEATURES} | given)


@pytest.mark.parametrize(
    ("operations", "more", "said"),
    [
        (None, {}, "operations should be a valid dictionary; found None"),
        (["1-1"], {}, "operations should be a valid dictionary; found a list"),
        ({"1-1": None}, {}, r"operations\.1-1 should be a valid string or callable; found None"),
        ({"dense": "zero"}, {}, "operations: dense is no head, and types need `partition`"),
        ({}, {"reading": Reading(special_tokens="cut off")}, r"reading\.special_tokens should be 'neither'"),
    ],
)
def test_an_ablation_that_cannot_be_is_refused(operations, more, said):
    with pytest.raises(InputError, match=said), ablated(MODEL, operations, **more):
        pass


@pytest.mark.parametrize("function", READ)
def test_what_is_no_model_and_no_tokenizer_is_refused_with_what_to_give(function):
    inside = SimpleNamespace(model=MODEL, tokenizer=TOKENIZER)
    for model, tokenizer, said in (
        (torch.nn.DataParallel(MODEL), TOKENIZER, r"model .* is a DataParallel; give its `\.module`"),
        (inside, TOKENIZER, r"model should be a PreTrainedModel, .*; give its `\.model`"),
        (MODEL, inside, r"tokenizer .*; give its `\.tokenizer`"),
        (MODEL, TOKENIZER.backend_tokenizer, "tokenizer .* is a Tokenizer; load it by"),
    ):
        MODEL.eval()
        with pytest.raises(InputError, match=said):
            READ[function](model, tokenizer)


def ablate(model, tokenizer) -> None:
    with ablated(model, {"1-1": "zero"}):
        model(**tokenizer(TEXTS[0], return_tensors="pt"))


@pytest.mark.parametrize("call", [*READ.values(), ablate], ids=[*READ, "ablated"])
def test_a_model_of_which_a_part_trains_or_is_compiled_is_refused(call):
    model, tokenizer = tiny_bert()
    model.bert.encoder.train()
    with pytest.raises(InputError, match=r"bert.encoder is in training mode, .* call model\.eval\(\) first"):
        call(model, tokenizer)
    model.eval().bert.encoder.layer[0].compile()
    with pytest.raises(InputError, match=r"The model, or a part of it, was compiled"):
        call(model, tokenizer)


@pytest.mark.parametrize("function", READ)
def test_heads_are_not_read_in_the_precision_of_autocast(function):
    with torch.autocast("cpu", torch.bfloat16), pytest.raises(InputError, match=r"torch\.autocast computes in another"):
        READ[function](MODEL, TOKENIZER)


def test_several_threads_read_the_heads_of_one_model():
    model, tokenizer = tiny_language_model("llama")
    before, alone = state(model), read_heads(model, tokenizer, TEXTS)
    with ThreadPoolExecutor(4) as threads:
        for found in threads.map(lambda _: read_heads(model, tokenizer, TEXTS), range(12)):
            np.testing.assert_array_equal(found.distance, alone.distance)
    assert state(model) == before


def test_what_the_package_gives_is_listed():
    assert set(headtypes.__all__) < set(dir(headtypes))
